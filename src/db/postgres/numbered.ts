// Bun.SQL once returned the rows of one query to another (oven-sh/bun#33627). Each statement that returns rows carries a number,
// which comes back with each of them: rows of another statement are an error, and show nobody the claims of somebody else.
import { Lru } from '../../base/lru.ts'

export class ForeignRow extends Error {
  override name = 'ForeignRow'
  constructor() {
    super('the database returned a row that was not asked for')
  }
}

/** The last column of each row. */
export const NUMBER = 'of_statement'
/** Beyond it, PostgreSQL's integer ends. */
const NUMBER_MAX = 2 ** 31 - 1
const TEXTS_MAX = 2000

const STATEMENT = /^\s*(?:select|with|insert|update|delete)\b/i
const TOKEN = /'(?:[^']|'')*'|"[^"]*"|[();]|\b(?:select|insert|update|delete|returning|from|where|union)\b/gi

const texts = new Lru<{ text: string | undefined }>({ countMax: TEXTS_MAX })
let last = 0

/** Another one for each statement of this process, on whichever connection. */
export function nextNumber(): number {
  last = last === NUMBER_MAX ? 1 : last + 1
  return last
}

/** The text with its number as last parameter and last column; undefined for a statement that returns no rows, and for several. */
export function numbered(text: string, params: number): string | undefined {
  const known = texts.get(text)
  if (known) return known.text
  const end = STATEMENT.test(text) ? endOfColumns(text) : undefined
  const made = end === undefined ? undefined : `${text.slice(0, end)}, $${params + 1}::int4 AS ${NUMBER} ${text.slice(end)}`
  texts.set(text, { text: made })
  return made
}

function endOfColumns(text: string): number | undefined {
  let depth = 0
  let verb: string | undefined
  let end: number | undefined
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    const word = token.toLowerCase()
    if (word === '(') depth++
    else if (word === ')') depth--
    else if (depth > 0 || /^["']/.test(word)) continue
    else if (word === ';' || word === 'union') return undefined
    else if (word === 'returning') return text.length
    else if (/^(?:select|insert|update|delete)$/.test(word)) verb ??= word
    else if (verb === 'select') end ??= index
  }
  return verb === 'select' ? (end ?? text.length) : undefined
}
