import { nearest } from '../../base/nearest.ts'
import type { Section } from '../../handbook/search.ts'

export type { Section }

const HITS_MAX = 12

/** Shorter words are near to too many others. */
const TYPO_CHARS_MIN = 4

/** The words with each that no section has replaced by the nearest one that some section has. */
export function withoutTypos(sections: readonly Section[], typed: string): string {
  const all = sections.map(({ title, heading, text }) => `${heading} ${title} ${text}`.toLowerCase())
  let known: string[] | undefined
  return wordsOf(typed)
    .map(word => {
      if (word.length < TYPO_CHARS_MIN || Object.hasOwn(SYNONYMS, word) || all.some(text => text.includes(word))) return word
      known ??= [...new Set(all.join(' ').match(/[\p{L}\p{N}]{4,}/gu))]
      return nearest(word, known) ?? word
    })
    .join(' ')
}

/** Words of readers for words of the pages. */
const SYNONYMS: Readonly<Record<string, readonly string[]>> = {
  gdpr: ['privacy', 'erasure'],
  dsgvo: ['privacy', 'erasure'],
  logo: ['look'],
  look: ['logo', 'colour'],
  colour: ['look', 'logo'],
  color: ['colour', 'look', 'logo'],
  cors: ['origin'],
  delete: ['erase'],
  password: ['log in'],
  qr: ['code'],
}

const wordsOf = (typed: string): string[] => typed.toLowerCase().split(/\s+/).filter(Boolean)

/**
 * Sections that have every word, best first: a word in a heading counts most, then one in the title, and a whole
 * word twice as much as a part of one. With `isForgiving` those
 * with most of the words, at least half of them.
 */
export function find(sections: readonly Section[], typed: string, isForgiving = false): Section[] {
  const words = wordsOf(typed)
  if (words.length === 0) return []
  const least = isForgiving ? Math.ceil(words.length / 2) : words.length
  return sections
    .map(section => ({ section, ...scoreOf(section, words) }))
    .filter(({ count }) => count >= least)
    .sort((a, b) => b.count - a.count || b.score - a.score)
    .slice(0, HITS_MAX)
    .map(({ section }) => section)
}

function scoreOf({ title, heading, text }: Section, words: string[]): { count: number; score: number } {
  const places = [heading, title, text].map(place => place.toLowerCase())
  const weigh = (word: string) => [8, 4, 1].reduce((sum, weight, i) => sum + weight * matchIn(places[i]!, word), 0)
  const scores = words.map(word => Math.max(weigh(word), ...(Object.hasOwn(SYNONYMS, word) ? SYNONYMS[word]! : []).map(weigh)))
  const isWhole = places[0] === words.join(' ') || (heading === '' && places[1] === words.join(' '))
  const score = scores.reduce((sum, each) => sum + each, isWhole ? 40 : 0)
  return { count: scores.filter(each => each > 0).length, score }
}

const LETTER = /[\p{L}\p{N}]/u

/** 2 for a whole word, 1 for a part of one. */
function matchIn(place: string, word: string): number {
  const isLetter = (at: number) => LETTER.test(place[at] ?? '')
  let at = place.indexOf(word)
  if (at < 0) return 0
  for (; at >= 0; at = place.indexOf(word, at + 1)) if (!isLetter(at - 1) && !isLetter(at + word.length)) return 2
  return 1
}
