// Finds unused words of the dictionaries by reading the source of the pages.
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import * as de from '../../src/web/shared/strings/de.ts'
import * as en from '../../src/web/shared/strings/en.ts'

const WEB = join(import.meta.dir, '../../src/web')

/** The hooks that return a part of the dictionary. */
const ROOTS: Readonly<Record<string, string>> = {
  'useCommon()': 'common',
  'useDashboardWords()': 'dashboard',
  'useTillWords()': 'till',
  'useSandboxWords()': 'sandbox',
  'useDemoWords()': 'demo',
  'useHostedWords()': 'hosted',
  'useLostWords()': 'lost',
}

test('every word of the dictionary is used by a page', async () => {
  const used: string[][] = []
  for (const file of new Bun.Glob('**/*.{ts,tsx}').scanSync(WEB))
    if (!file.includes('strings/')) used.push(...pathsIn(await Bun.file(join(WEB, file)).text()))
  const words = Object.values(ROOTS).flatMap(root => leaves((en as Record<string, unknown>)[root], [root]))
  expect(words.length).toBeGreaterThan(900)
  expect(words.filter(word => !used.some(path => leadsTo(path, word))).map(word => word.join('.'))).toEqual([])
})

test('every sentence of the dictionary is in both languages', () => {
  const german = new Map(leaves(de, []).map(path => [path.join('.'), valueAt(de, path)]))
  const english = leaves(en, []).map(path => [path.join('.'), valueAt(en, path)] as const)
  // Reasons of the service are English sentences already: German has more words.
  expect(english.filter(([path]) => !german.has(path))).toEqual([])
  const untranslated = english.filter(
    ([path, text]) => typeof text === 'string' && / \w+ /.test(text) && german.get(path) === text,
  )
  expect(untranslated).toEqual([])
})

const valueAt = (words: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>((part, name) => (part as Record<string, unknown>)[name], words)

const leaves = (value: unknown, path: string[]): string[][] =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.entries(value).flatMap(([name, inner]) => leaves(inner, [...path, name]))
    : [path]

/** `*` is a name known only at run time. A part that is passed on counts as used whole. */
const leadsTo = (path: readonly string[], word: readonly string[]): boolean =>
  path.every((name, i) => i >= word.length || name === '*' || name === word[i])

const STEPS = String.raw`((?:\??\.\w+|\[[^\]]+\])*)`

/** All paths in the dictionary that a file uses, through its local names for parts of it. */
function pathsIn(text: string): string[][] {
  const paths: string[][] = []
  const parts: [name: string, path: string[]][] = []
  for (const [call, root] of Object.entries(ROOTS)) {
    const hook = call.replace('()', String.raw`\(\)`)
    for (const [, name, steps] of text.matchAll(new RegExp(`const (\\w+) = ${hook}${STEPS}`, 'g')))
      parts.push([name!, [root, ...stepsOf(steps!)]])
    for (const [, names, steps] of text.matchAll(new RegExp(`const \\{ ([^}]+) \\} = ${hook}${STEPS}`, 'g')))
      for (const name of names!.split(', ')) parts.push([name, [root, ...stepsOf(steps!), name]])
    for (const [, steps] of text.matchAll(new RegExp(`(?<!const [^=]+ = )${hook}${STEPS}`, 'g')))
      paths.push([root, ...stepsOf(steps!)])
    for (const [, name] of text.matchAll(new RegExp(`(\\w+): ${call.slice(3, -2)}\\b`, 'g'))) parts.push([name!, [root]])
  }
  for (const [name, path] of parts) {
    const uses = [...text.matchAll(new RegExp(`(?<![.\\w])${name}${STEPS}(?!\\w)`, 'g'))].map(([, steps]) => stepsOf(steps!))
    // The first is the declaration.
    const isWord = uses.length > 1 && typeof partAt(path) !== 'object'
    for (const steps of uses) if (steps.length > 0 || isWord) paths.push([...path, ...steps])
  }
  return paths.filter(path => path.length > 1)
}

const stepsOf = (steps: string): string[] =>
  [...steps.replaceAll(/\[[^\]]+\]/g, '.*').matchAll(/\.(\w+|\*)/g)].map(([, name]) => name!)

const partAt = (path: readonly string[]): unknown =>
  path.reduce<unknown>((part, name) => (part as Record<string, unknown> | undefined)?.[name], en)
