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
      if (word.length < TYPO_CHARS_MIN || all.some(text => text.includes(word))) return word
      known ??= [...new Set(all.join(' ').match(/[\p{L}\p{N}]{4,}/gu))]
      return nearest(word, known) ?? word
    })
    .join(' ')
}

const wordsOf = (typed: string): string[] => typed.toLowerCase().split(/\s+/).filter(Boolean)

/** Sections that have every word, best first: a word in a heading counts most, then one in the title. */
export function find(sections: readonly Section[], typed: string): Section[] {
  const words = wordsOf(typed)
  if (words.length === 0) return []
  return sections
    .map(section => ({ section, score: scoreOf(section, words) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, HITS_MAX)
    .map(({ section }) => section)
}

function scoreOf({ title, heading, text }: Section, words: string[]): number {
  const places = [heading, title, text].map(place => place.toLowerCase())
  const scores = words.map(word => [8, 4, 1].reduce((sum, weight, i) => sum + (places[i]?.includes(word) ? weight : 0), 0))
  if (scores.some(score => score === 0)) return 0
  const isWhole = places[0] === words.join(' ') || (heading === '' && places[1] === words.join(' '))
  return scores.reduce((sum, score) => sum + score, isWhole ? 20 : 0)
}
