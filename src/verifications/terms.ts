// Metadata values, stored as keyed hashes, so that a merchant finds a session by its order number, or by the first letters of a
// name. The database alone reveals neither the values nor which tenants use the same ones.

import { createCipheriv } from 'node:crypto'
import { hmacSha256With } from '../base/hash.ts'
import { layersOf } from '../base/seal.ts'
import type { Unsealing } from '../ground.ts'
import type { CreateVerification } from './schema.ts'
import type { VerificationRow } from './store.ts'
import { TERM_BYTES } from './term-store.ts'

type Place = { tenantId: string; environment: VerificationRow['environment'] }

/** Codes of texts, one after the other. */
export type Terms = {
  wholeOf(place: Place, values: readonly string[]): Buffer
  beginningsOf(place: Place, letters: readonly string[]): Buffer
}

export type SearchTerms = Pick<VerificationRow, 'terms' | 'beginnings'>

/** Whole values and beginnings of one session together. */
const TERMS_MAX = 24
/** Of a value. */
const WORDS_MAX = 3
/** Characters of a beginning. */
const BEGINNING = { min: 3, max: 12 }
/** Short, as they are only ever compared with those of one shop: one in four thousand million is alike by chance. */
const BEGINNING_BYTES = 4
const BLOCK_BYTES = 16

export const createTerms = ({ sealer }: Unsealing): Terms => termsUnder(layersOf(sealer.key('metadata term')).at(-1)!)

/** Of a search: a whole value, or words of which each begins a word of a value. */
export type Sought = {
  /** More than one while terms are written again under the newest key. */
  whole: Buffer[]
  /** Of each word, under the same keys. Empty when all are too short. */
  words: Buffer[][]
}

export function termsToFind({ sealer }: Unsealing, place: Place, text: string): Sought {
  const keys = layersOf(sealer.key('metadata term')).map(termsUnder)
  const words = wordsOf(text).map(word => [...word].slice(0, BEGINNING.max).join(''))
  return {
    whole: keys.map(({ wholeOf }) => wholeOf(place, [text])),
    words: words.map(word => keys.map(({ beginningsOf }) => beginningsOf(place, [word]))),
  }
}

function termsUnder(key: Buffer): Terms {
  const mac = hmacSha256With(key)
  return {
    wholeOf({ tenantId, environment }, values) {
      const cut = Buffer.alloc(values.length * TERM_BYTES)
      for (const [i, value] of values.entries())
        mac(JSON.stringify([tenantId, environment, value])).copy(cut, i * TERM_BYTES, 0, TERM_BYTES)
      return cut
    },
    beginningsOf({ tenantId, environment }, letters) {
      // No text of a whole value begins like this one.
      const own = mac(`${tenantId} ${environment}`)
      const blockOf = (text: string) => (/^[a-z0-9]+$/.test(text) ? text : mac(own, text).toString('latin1', 0, BLOCK_BYTES))
      return codesUnder(own, letters.map(blockOf))
    },
  }
}

/**
 * A block of a cipher is as good a code of a text that fits into one as an HMAC, and twenty of them take the time of one HMAC:
 * with HMACs a creation would be a tenth dearer. A text of bytes.
 */
function codesUnder(key: Buffer, texts: readonly string[]): Buffer {
  const blocks = Buffer.from(texts.map(text => text.padEnd(BLOCK_BYTES, '\0')).join(''), 'latin1')
  const codes = createCipheriv('aes-256-ecb', key, null).setAutoPadding(false).update(blocks)
  const cut = Buffer.alloc(texts.length * BEGINNING_BYTES)
  for (let i = 0; i < texts.length; i++) cut.writeUInt32LE(codes.readUInt32LE(i * BLOCK_BYTES), i * BEGINNING_BYTES)
  return cut
}

/**
 * The terms of a session, one after the other and each once; null when it has none. Values are found whole, as they were given
 * without space around them, and by the first letters of their words.
 */
export function termsOf(terms: Terms, place: Place, metadata: CreateVerification['metadata'] = {}): SearchTerms {
  const values = [...new Set(Object.values(metadata).map(value => value.trim()))].filter(Boolean)
  if (values.length === 0) return { terms: null, beginnings: null }
  const letters = firstLetters(values, TERMS_MAX - values.length)
  return {
    terms: terms.wholeOf(place, values),
    beginnings: letters.length > 0 ? terms.beginningsOf(place, letters) : null,
  }
}

/** Beginnings of the first values' words, each once. */
function firstLetters(values: Iterable<string>, most: number): string[] {
  const found = new Set<string>()
  for (const value of values) {
    for (const word of wordsOf(value)) {
      for (let end = BEGINNING.min; end <= Math.min(word.length, BEGINNING.max); end++) {
        if (found.size >= most) return [...found]
        found.add(typeof word === 'string' ? word.slice(0, end) : word.slice(0, end).join(''))
      }
    }
  }
  return [...found]
}

/** The first words, without those that are too short to be found; a list of characters where one may be two code units. */
function wordsOf(text: string): (string | string[])[] {
  const isPlain = /^[ -~]*$/.test(text)
  const words = (isPlain ? text.toLowerCase().match(/[a-z0-9]+/g) : folded(text).match(/[\p{L}\p{N}]+/gu)) ?? []
  const first = words.slice(0, WORDS_MAX)
  return (isPlain ? first : first.map(word => [...word])).filter(({ length }) => length >= BEGINNING.min)
}

/** Without case and accents. */
const folded = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toUpperCase()
    .toLowerCase()
