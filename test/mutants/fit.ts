// Finds the place of a mutant by its room, its declaration and a pattern, so that moving a file inside a room or reformatting
// a line does not make the mutant stale.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Glob } from 'bun'
import type { Mutant } from './list.ts'

export type Place = { file: string; start: number; end: number }

/** Every place in the mutant's room that it fits. Exactly one is right. */
export function findPlaces(root: string, { room, within, from }: Mutant): Place[] {
  const wanted = patternOf(from)
  const places = new Map<string, Place>()
  for (const file of filesOf(root, room)) {
    const text = readFileSync(join(root, file), 'utf8')
    for (const [start, end] of within.endsWith('.ts') ? wholeFile(file, within, text) : declarationsOf(text, within)) {
      for (const match of text.slice(start, end).matchAll(wanted)) {
        const at = start + match.index
        places.set(`${file} ${at}`, { file, start: at, end: at + match[0].length })
      }
    }
  }
  return [...places.values()]
}

/** The whole text of the mutant's file with the slip in it. */
export function applyTo(root: string, mutant: Mutant): { file: string; text: string } {
  const places = findPlaces(root, mutant)
  const [place] = places
  if (!place || places.length > 1) throw new Error(describeMisfit(root, mutant, places))
  const text = readFileSync(join(root, place.file), 'utf8')
  return { file: place.file, text: text.slice(0, place.start) + mutant.to + text.slice(place.end) }
}

/** Says what does not fit, and in which other room the mutant would. */
export function describeMisfit(root: string, mutant: Mutant, places: Place[]): string {
  const said = `"${mutant.name}" fits ${places.length} places of "${mutant.within}" in src/${mutant.room}`
  if (places.length > 0) return `${said}: ${places.map(({ file }) => file).join(', ')}`
  const elsewhere = findPlaces(root, { ...mutant, room: '**' }).map(({ file }) => file)
  return elsewhere.length > 0 ? `${said}; it fits ${elsewhere.join(', ')}: move it to that room's list` : said
}

function filesOf(root: string, room: string): string[] {
  const under = room === 'root' ? '*' : room === '**' ? '**/*' : `${room}/**/*`
  return [...new Glob(`src/${under}.{ts,tsx}`).scanSync({ cwd: root })].sort()
}

function wholeFile(file: string, within: string, text: string): [number, number][] {
  return file.endsWith(`/${within}`) ? [[0, text.length]] : []
}

/** Start and end of the declarations, methods and properties with this name. The formatter's indentation says where one ends. */
function declarationsOf(text: string, name: string): [number, number][] {
  const declares = `(?:(?:export |default |async |declare )*(?:function\\*?|const|let|class|type) ${name}\\b|(?:async )?${name}[(:<])`
  return [...text.matchAll(new RegExp(`^([ \\t]*)${declares}`, 'gm'))].map(({ index, 1: indent = '' }) => {
    const next = new RegExp(`\\n[ ]{0,${indent.length}}[^\\s)}\\]]`, 'g')
    next.lastIndex = index + 1
    return [index, next.exec(text)?.index ?? text.length]
  })
}

/** The text with any white space between its words, and with or without a comma before a closing bracket. */
function patternOf(from: string | RegExp): RegExp {
  if (typeof from !== 'string') return new RegExp(from.source, 'g')
  const words = from.replace(/,(?=\s*[)\]}])/g, '').match(/\w+|[^\w\s]/g) ?? []
  const parts = words.map((word, at) => {
    const gap = at === 0 ? '' : /^\w/.test(word) && /^\w/.test(words[at - 1] ?? '') ? '\\s+' : '\\s*'
    return `${gap}${at > 0 && /[)\]}]/.test(word) ? '(?:,\\s*)?' : ''}${RegExp.escape(word)}`
  })
  return new RegExp(parts.join(''), 'g')
}
