import type { JsonSchema } from '../helpers/json-schema.ts'

export type Place = { path: (string | number)[]; value: unknown; schema: JsonSchema }

export const REMOVED = Symbol('removed')

/** JSON that JSON.stringify cannot write: 1e309, -0, NaN. */
const raw = (text: string): string => `@raw<${text}>`

/** Strings that no client means to send. */
export const ODD_TEXTS = [
  '',
  ' ',
  '\u0000',
  'a\u0000b',
  '\ud800',
  'x\udc00',
  '\u202eabc\u202c',
  '\ufeff',
  '\uffff',
  'I\u0307ﬀ',
  '👨‍👩‍👧‍👦'.repeat(40),
  'x'.repeat(3000),
  '__proto__',
  'constructor',
  'toString',
  '../../etc/passwd',
  '%00%2f',
  'a\r\nset-cookie: b=c',
  "' OR 1=1 --",
  'NaN',
  'null',
  '-0',
  '1e309',
  '2026-02-30T00:00:00Z',
  '+275760-09-13T00:00:00.001Z',
  '2026-03-04T12:00:00+00:00',
  'https://user:password@shop.example/',
  'http://127.0.0.1/',
  'http://[::ffff:a9fe:a9fe]/',
  'javascript:alert(1)',
  'https://shop.example:99999/',
  'https://',
  'ftp://shop.example/',
  `https://shop.example/${'x'.repeat(2048)}`,
]

const ODD_NUMBERS = [
  '1e309',
  '-1e309',
  '-0',
  '9007199254740993',
  '1e-400',
  '60.5',
  '1.0',
  '1e2',
  'NaN',
  'Infinity',
  '01',
  '0x10',
  '-',
]

const OTHERS: unknown[] = [null, true, false, 0, 7, 'text', [], {}, [null], { a: 1 }, [[]], [{}]]

const nested = (depth: number): unknown => {
  let value: unknown = 1
  for (let i = 0; i < depth; i++) value = i % 2 ? [value] : { a: value }
  return value
}

/** The longest text that is made up. */
export const LONG_TEXT = 100_000

/** Ways to spoil one place of a value; each gives what may stand there instead. */
export const FAULTS: ((place: Place, variant: number) => unknown[])[] = [
  ({ path }) => (path.length > 0 ? [REMOVED] : []),
  (_, variant) => [OTHERS[variant % OTHERS.length]],
  (_, variant) => [ODD_TEXTS[variant % ODD_TEXTS.length]],
  (_, variant) => [raw(ODD_NUMBERS[variant % ODD_NUMBERS.length]!)],
  (_, variant) => [nested([2, 20, 29, 33, 200][variant % 5]!)],
  ({ schema: { minimum, maximum } }) => [
    ...(typeof minimum === 'number' ? [minimum - 1] : []),
    ...(typeof maximum === 'number' ? [maximum + 1] : []),
  ],
  // Where a text may have megabytes, the limit of the body stands before its own.
  ({ schema: { minLength, maxLength } }) => [
    ...(typeof minLength === 'number' && minLength > 0 ? ['x'.repeat(minLength - 1)] : []),
    ...(typeof maxLength === 'number' && maxLength <= LONG_TEXT ? ['x'.repeat(maxLength + 1), '😀'.repeat(maxLength + 1)] : []),
  ],
  ({ value, schema: { minItems, maxItems } }) => [
    ...(Array.isArray(value) && typeof minItems === 'number' ? [value.slice(0, minItems - 1)] : []),
    ...(Array.isArray(value) ? [Array.from({ length: ((maxItems as number) ?? 200) + 1 }, () => value[0] ?? 'x')] : []),
  ],
  ({ value }, variant) => (isObject(value) ? [withMember(value, ODD_TEXTS[variant % ODD_TEXTS.length]!)] : []),
  ({ value }) => (isObject(value) ? [withMember(value, 'unexpected'), manyMembers(value)] : []),
]

const isObject = (value: unknown): value is object => value !== null && typeof value === 'object' && !Array.isArray(value)

/** Through fromEntries, because an assignment to __proto__ would be no member. */
const withMember = (value: object, name: string): object => Object.fromEntries([...Object.entries(value), [name, 'x']])

const manyMembers = (value: object): object =>
  Object.fromEntries([...Object.entries(value), ...Array.from({ length: 51 }, (_, i) => [`k${i}`, 'x'] as const)])
