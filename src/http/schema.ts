import { FormatRegistry, Kind, type TSchema, type TString, Type, TypeRegistry } from '@sinclair/typebox'
import { REFUSED } from '../base/plain-text.ts'
import { isUtcInstant } from '../base/time.ts'
import type { ERRORS } from './errors.ts'

FormatRegistry.Set('date-time', isUtcInstant)
FormatRegistry.Set('date', value => isUtcInstant(`${value}T00:00:00Z`))
FormatRegistry.Set('uri', isUri)

/** RFC 3986: other characters, such as spaces and line breaks, must be escaped. */
const URI = /^[a-z][a-z0-9+.-]*:(?:[\w.~:/?[\]@!$&'()*+,;=-]|%[0-9a-f]{2})+(?:#(?:[\w.~:/?@!$&'()*+,;=-]|%[0-9a-f]{2})*)?$/i
const WEB = /^https?:/i

function isUri(value: string): boolean {
  return URI.test(value) && URL.canParse(value) && (!WEB.test(value) || /^[a-z]+:\/\/[^/?#]/i.test(value))
}

/** White_Space and Default_Ignorable_Code_Point. */
const UNSEEN =
  '\\u0020\\u00a0\\u00ad\\u034f\\u115f\\u1160\\u1680\\u17b4\\u17b5\\u180b-\\u180f\\u2000-\\u200f\\u202f\\u205f-\\u206f\\u3000\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff0-\\ufff8' +
  // Literal characters: regular expressions differ in how they escape these.
  '\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}'
const PLAIN = `^[^${REFUSED}]*$`
/** A text with a visible character, in syntax that all regular expressions share. */
export const VISIBLE = `^[^${REFUSED}]*[^${REFUSED}${UNSEEN}][^${REFUSED}]*$`
const COMPILED = new Map([PLAIN, VISIBLE].map(pattern => [pattern, new RegExp(pattern, 'u')]))

type Bounds = { minLength?: number; maxLength?: number; pattern?: string }

// JSON Schema counts code points, TypeBox counts UTF-16 units: an emoji must count once.
TypeRegistry.Set<Bounds>('Text', ({ minLength = 0, maxLength = Number.POSITIVE_INFINITY, pattern }, value) => {
  if (typeof value !== 'string' || value.length < minLength || value.length > maxLength * 2) return false
  if (pattern !== undefined && !COMPILED.get(pattern)!.test(value)) return false
  if (value.length <= maxLength && value.length >= minLength * 2) return true
  const length = [...value].length
  return length >= minLength && length <= maxLength
})

/** Limits are in code points. */
export const Text = (bounds: Bounds & { description?: string; examples?: string[]; documented?: object } = {}): TString =>
  Type.Unsafe<string>({ [Kind]: 'Text', type: 'string', ...bounds }) as unknown as TString

/** One line of text for people: it must not break lists or reverse the text around it. */
export const PlainText = (bounds: Parameters<typeof Text>[0]): TString => Text({ ...bounds, pattern: PLAIN })

/** The same, for a text that must not look empty. */
export const VisibleText = (bounds: Parameters<typeof Text>[0]): TString => Text({ ...bounds, pattern: VISIBLE })

type Range = { minimum: number; maximum: number }

TypeRegistry.Set<Range>('QueryInteger', ({ minimum, maximum }, value) => {
  const number = typeof value === 'string' && /^(0|[1-9]\d{0,8})$/.test(value) ? Number(value) : value
  return typeof number === 'number' && number >= minimum && number <= maximum
})

/** A whole number in a query string, in plain decimal digits: 1e2, 0x10, 05 and an empty value are refused. */
export const QueryInteger = (options: Range & { default: number; description: string }) =>
  Type.Transform(Type.Unsafe<number>({ [Kind]: 'QueryInteger', type: 'integer', ...options }))
    .Decode(Number)
    .Encode(value => value)

export const Timestamp = Type.String({
  format: 'date-time',
  description: 'UTC, ending in Z',
  examples: ['2026-01-31T09:30:00.000Z'],
})
export const Day = Type.String({ format: 'date', examples: ['2026-01-31'] })

const ErrorEnvelope = Type.Object(
  {
    error: Type.Object(
      {
        code: Type.String({ description: 'Stable.' }),
        message: Type.String({ description: 'For people; may change between versions.' }),
      },
      { additionalProperties: false },
    ),
  },
  { additionalProperties: false, $id: 'Error' },
)

type ErrorStatus = (typeof ERRORS)[keyof typeof ERRORS][0]

/** Error responses of a route, by status. */
export const errorResponses = <Status extends ErrorStatus>(...statuses: Status[]): Record<Status, typeof ErrorEnvelope> =>
  Object.fromEntries(statuses.map(status => [status, ErrorEnvelope])) as Record<Status, typeof ErrorEnvelope>

/** A sentence for people: the place, then the rule. */
export function describeProblem({ path, message, schema }: { path: string; message: string; schema: TSchema }): string {
  const place = path === '' ? 'body' : path.split('/').slice(1).map(nameOf).join('.')
  return `${place}: ${ruleOf(schema) ?? sentence(message)}`
}

/** A member may have an empty name, as in the query "?=". */
const nameOf = (part: string) => part.replaceAll('~1', '/').replaceAll('~0', '~').slice(0, 64) || '""'

const sentence = (message: string) =>
  message === 'Expected required property' ? 'is missing' : `${message.charAt(0).toLowerCase()}${message.slice(1)}`

function ruleOf(schema: TSchema): string | undefined {
  switch (schema[Kind]) {
    case 'Text':
      return `expected a string of ${range(schema.minLength, schema.maxLength)} characters${shapeOf(schema.pattern)}`
    case 'QueryInteger':
      return `expected a whole number from ${schema.minimum} to ${schema.maximum}`
    case 'Union':
      return isChoice(schema) ? `expected one of ${namesOf(schema)}` : undefined
  }
  switch (schema.format) {
    case 'date-time':
      return 'expected a UTC time like 2026-01-31T09:30:00.000Z'
    case 'uri':
      return `expected an absolute URI like https://shop.example/done${upTo(schema.maxLength)}, anything but ASCII letters, digits and punctuation escaped`
  }
  return undefined
}

function shapeOf(pattern: string | undefined): string {
  if (pattern === undefined) return ''
  const plain = ' on one line, without control characters, invisible ones or changes of direction'
  return pattern === VISIBLE ? `${plain}, with something to be seen` : plain
}

type Choice = TSchema & { anyOf: { const: string }[] }

const isChoice = (schema: TSchema): schema is Choice => schema.anyOf.every((each: TSchema) => typeof each.const === 'string')

/** A person reads no longer list. */
const NAMES_MAX = 24

function namesOf({ anyOf }: Choice): string {
  const names = anyOf.slice(0, NAMES_MAX).map(each => each.const)
  return anyOf.length > NAMES_MAX ? `${anyOf.length} names, such as ${names.slice(0, 3).join(', ')}` : names.join(', ')
}

const upTo = (maximum: number | undefined) => (maximum === undefined ? '' : ` of at most ${maximum} characters`)

const range = (minimum: number | undefined, maximum: number | undefined) =>
  maximum === undefined ? `at least ${minimum ?? 0}` : `${minimum ?? 0} to ${maximum}`
