// JSON from strangers. JSON.parse keeps the last of two equal keys, so two readers may see two different objects under one signature;
// it nests without a limit and lets through halves of surrogate pairs that no UTF-8 file can hold. All three are refused here.
// `__proto__` stays what it is in JSON: an own property like any other.

export type JsonLimits = {
  /** How many objects and arrays may be open at once. */
  depthMax: number
  /** How many values there may be in all, where that is not bounded by what the text may have in characters. */
  valuesMax?: number
}

/** The value, or a SyntaxError that names the fault and nothing of the text. */
export function parseStrictJson(text: string, limits: JsonLimits): unknown {
  const value = parsePlainJson(text, limits)
  if (value !== undefined) return value
  assertStrictJson(text, limits)
  return parse(text)
}

/**
 * The value of a text that is as it should be, for a fraction of the cost; undefined when it takes a closer look to tell. Without escapes
 * there is one colon outside the strings for each name, so no name came twice when the value has as many members: none is collected.
 */
export function parsePlainJson(text: string, limits: JsonLimits): unknown {
  if (text.includes('\\') || !text.isWellFormed()) return undefined
  const names = countNames(text, limits)
  if (names === undefined) return undefined
  try {
    const value: unknown = JSON.parse(text)
    const members = typeof value === 'object' && value !== null ? countMembers(value) : 0
    return members === names ? value : undefined
  } catch {
    return undefined
  }
}

/** Undefined when it is too deeply nested, there are too many values, or a string has no end. */
function countNames(text: string, { depthMax, valuesMax = Number.POSITIVE_INFINITY }: JsonLimits): number | undefined {
  let names = 0
  let depth = 0
  // Before each value but the first there is one of `[`, `{` and `,`.
  let values = 1
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = text.indexOf('"', at + 1)
        if (at < 0) return undefined
        break
      case COLON:
        names++
        break
      case COMMA:
        if (++values > valuesMax) return undefined
        break
      case BRACE_OPEN:
      case BRACKET_OPEN:
        if (++depth > depthMax || ++values > valuesMax) return undefined
        break
      case BRACE_CLOSE:
      case BRACKET_CLOSE:
        depth--
    }
  }
  return names
}

function countMembers(value: object): number {
  const isArray = Array.isArray(value)
  const inside: unknown[] = isArray ? value : Object.values(value)
  let members = isArray ? 0 : inside.length
  for (const each of inside) if (typeof each === 'object' && each !== null) members += countMembers(each)
  return members
}

/** For a text that someone else parses. It does not judge the grammar: JSON.parse, which must follow, does. */
export function assertStrictJson(text: string, { depthMax, valuesMax = Number.POSITIVE_INFINITY }: JsonLimits): void {
  if (!text.isWellFormed()) throw new SyntaxError('half of a surrogate pair')
  // Nearly no text has any, and then a string that is no name needs no second look.
  const hasEscapes = text.includes('\\')
  // One entry per open container: the names so far of an object, null for an array.
  const open: (Set<string> | null)[] = []
  // After `{` and `,`. In an array nobody collects the names.
  let isNameNext = false
  let values = 1
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE: {
        const end = endOfString(text, at)
        const names = isNameNext ? open.at(-1) : null
        if (names || hasEscapes) {
          const string = unescaped(text.slice(at + 1, end))
          if (names?.has(string)) throw new SyntaxError('a name twice in one object')
          names?.add(string)
        }
        isNameNext = false
        at = end
        break
      }
      case BRACE_OPEN:
      case BRACKET_OPEN:
        open.push(text.charCodeAt(at) === BRACE_OPEN ? new Set() : null)
        isNameNext = true
        if (open.length > depthMax) throw new SyntaxError('too deeply nested')
        if (++values > valuesMax) throw new SyntaxError('too many values')
        break
      case BRACE_CLOSE:
      case BRACKET_CLOSE:
        open.pop()
        isNameNext = false
        break
      case COMMA:
        isNameNext = true
        if (++values > valuesMax) throw new SyntaxError('too many values')
    }
  }
}

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const BRACKET_OPEN = 0x5b
const BACKSLASH = 0x5c
const BRACKET_CLOSE = 0x5d
const BRACE_OPEN = 0x7b
const BRACE_CLOSE = 0x7d

/** Where the closing quote is. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1)
  while (end > 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1)
  if (end < 0) throw new SyntaxError('a string without an end')
  return end
}

function isEscaped(text: string, quote: number): boolean {
  let backslashes = 0
  while (text.charCodeAt(quote - 1 - backslashes) === BACKSLASH) backslashes++
  return backslashes % 2 === 1
}

/** Because "a" and "\u0061" are the same name. */
function unescaped(raw: string): string {
  if (!raw.includes('\\')) return raw
  const string = parse(`"${raw}"`)
  if (typeof string !== 'string' || !string.isWellFormed()) throw new SyntaxError('half of a surrogate pair')
  return string
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Its own message quotes the text.
    throw new SyntaxError('not JSON')
  }
}
