// Strict JSON for untrusted text. JSON.parse keeps the last of two equal names, so two readers may
// see different objects; it has no depth limit; it accepts U+0000, which databases refuse or cut
// at, and lone surrogates, which have no UTF-8 form. All of these are refused here. `__proto__`
// stays an own property like any other.

type JsonLimits = {
  /** Objects and arrays open at once. */
  depthMax: number
  /** Values in all; needed where the length of the text sets no limit. */
  valuesMax?: number
  /** Names and values that this text and later ones may still have, together. */
  budget?: { left: number }
  /** Numbers beyond 2^53, which JSON.parse rounds, become a LargeNumber. */
  keepsLargeNumbers?: boolean
}

/** Not a text, so that it cannot stand where JSON has to have one. */
export class LargeNumber {
  readonly #text: string
  constructor(text: string) {
    this.#text = text
  }

  /** As it was written. */
  toString(): string {
    return this.#text
  }

  /** Rounded; Infinity beyond 1.8e308. */
  valueOf(): number {
    return Number(this.#text)
  }
}

export class DoubledName extends SyntaxError {
  override name = 'DoubledName'
}

/** Throws a SyntaxError that names the fault and quotes nothing of the text. */
export function parseJson(text: string, limits: JsonLimits): unknown {
  if (!text.isWellFormed()) throw new SyntaxError(HALF_CHARACTER)
  const names = countNames(text, limits)
  const value = parse(text, limits.keepsLargeNumbers && PERHAPS_LARGE.test(text) ? keepLargeNumber : undefined)
  if (text.includes('\\') && ESCAPED_SUSPECT.test(text)) refuseBadCharacters(value)
  // A doubled name makes fewer members than names.
  if (names !== countMembers(value)) throw new DoubledName('a name twice in one object')
  return value
}

/** Only an escape can produce U+0000 or a lone surrogate in well-formed text. */
const ESCAPED_SUSPECT = /\\u(?:0000|d[89a-f])/i
const HALF_CHARACTER = 'half of a surrogate pair; send complete characters'

/** JSON.parse has checked the grammar, so every colon outside strings follows a name. */
function countNames(text: string, { depthMax, valuesMax = Number.POSITIVE_INFINITY, budget }: JsonLimits): number {
  const hasEscapes = text.includes('\\')
  let names = 0
  let depth = 0
  // One of `[`, `{` and `,` precedes each value but the first.
  let values = 1
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = text.indexOf('"', at + 1)
        while (hasEscapes && at > 0 && isEscaped(text, at)) at = text.indexOf('"', at + 1)
        if (at < 0) throw new SyntaxError(NOT_JSON)
        break
      case COLON:
        names++
        break
      case COMMA:
        values++
        break
      case BRACE_OPEN:
      case BRACKET_OPEN:
        values++
        if (++depth > depthMax) throw new SyntaxError(`nested deeper than ${depthMax} levels`)
        break
      case BRACE_CLOSE:
      case BRACKET_CLOSE:
        depth--
    }
  }
  if (values > valuesMax) throw new SyntaxError(`more than ${valuesMax} values`)
  if (budget) {
    budget.left -= names + values
    if (budget.left < 0) throw new SyntaxError('more names and values than are allowed')
  }
  return names
}

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const BRACKET_OPEN = 0x5b
const BACKSLASH = 0x5c
const BRACKET_CLOSE = 0x5d
const BRACE_OPEN = 0x7b
const BRACE_CLOSE = 0x7d

function isEscaped(text: string, quote: number): boolean {
  let backslashes = 0
  while (text.charCodeAt(quote - 1 - backslashes) === BACKSLASH) backslashes++
  return backslashes % 2 === 1
}

const NOT_JSON = 'not valid JSON'

type Reviver = (name: string, value: unknown, context: { source?: string }) => unknown

function parse(text: string, reviver?: Reviver): unknown {
  try {
    return JSON.parse(text, reviver as Parameters<typeof JSON.parse>[1])
  } catch {
    // The message of JSON.parse quotes the text.
    throw new SyntaxError(NOT_JSON)
  }
}

/** 2^53 needs 16 digits or an exponent. Inside an object or a list: a digest in base64url often looks like a number with one. */
const PERHAPS_LARGE = /[:,[]\s*-?(?:[\d.]{16}|[\d.]+[eE]\+?\d)/

const keepLargeNumber: Reviver = (_name, value, { source }) =>
  typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER ? new LargeNumber(source!) : value

function countMembers(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const isArray = Array.isArray(value)
  const inside: unknown[] = isArray ? value : Object.values(value)
  let members = isArray ? 0 : inside.length
  for (const each of inside) if (typeof each === 'object') members += countMembers(each)
  return members
}

function refuseBadCharacters(value: unknown): void {
  if (typeof value === 'string') {
    if (value.includes('\0')) throw new SyntaxError('the character U+0000; leave it out')
    if (!value.isWellFormed()) throw new SyntaxError(HALF_CHARACTER)
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, member] of Object.entries(value)) {
      refuseBadCharacters(name)
      refuseBadCharacters(member)
    }
  }
}

/** The name for the message about a DoubledName, found in a second reading. Never log it. */
export function findDoubledName(text: string): string | undefined {
  const open: Set<string>[] = []
  for (const [token, string, colon] of text.matchAll(/[{}]|("(?:[^"\\]+|\\.)*")\s*(:)?/g)) {
    if (token === '{') open.push(new Set())
    else if (token === '}') open.pop()
    else if (colon) {
      const name: string = JSON.parse(string!)
      if (open.at(-1)?.has(name)) return name
      open.at(-1)?.add(name)
    }
  }
  return undefined
}
