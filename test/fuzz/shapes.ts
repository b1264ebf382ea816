// Requests as they are drawn: what is not known before they are sent (an id, a code, a token) is named and filled in then.
import fc from 'fast-check'
import { hostileParts, oddParams, oddQuery } from './hostile.ts'
import type { Operation, Surface } from './operations.ts'
import { spoiltText, valuesOf } from './values.ts'

type Mode = 'valid' | 'near' | 'hostile'

/** Owner of the thing that a path names; `text` is used unchanged. */
export type Param = { of: 'own' | 'foreign' | 'gone' | 'nobody' } | { text: string }

export type Shape = {
  mode: Mode
  method: string
  who: string
  params: Param[]
  query: string
  headers: [string, string][]
  body: string | Uint8Array | undefined
  /** The router may take it for another route, or for none. */
  isAstray: boolean
  /** Not HTTP: the runtime answers it, or hangs up. */
  isWild: boolean
}

/** Stand in a body for what only the scene knows: the secret it prepares, the tenant, a certificate. */
export const SECRET = 'secret-of-the-scene'
export const TENANT = 'tenant-of-the-scene'
export const PEM = 'certificate-of-the-scene'

export type Meaning = {
  /** Allowed callers. */
  who: string
  /** Everybody who may come, welcome or not. */
  others: readonly string[]
  /** Bodies that mean something; those of the schema alone when there are none. */
  body?: fc.Arbitrary<unknown>
  query?: fc.Arbitrary<Record<string, unknown>>
}

export type Parts = Omit<Shape, 'mode'>

export function shapesOf(surface: Surface, operation: Operation, meaning: Meaning): fc.Arbitrary<Shape> {
  const good = goodParts(surface, operation, meaning)
  return fc.oneof(
    { weight: 8, arbitrary: good.map(parts => ({ mode: 'valid' as const, ...parts })) },
    { weight: 7, arbitrary: nearParts(surface, operation, meaning, good).map(parts => ({ mode: 'near' as const, ...parts })) },
    { weight: 5, arbitrary: hostileParts(operation, good).map(parts => ({ mode: 'hostile' as const, ...parts })) },
  )
}

function goodParts({ document }: Surface, operation: Operation, meaning: Meaning): fc.Arbitrary<Parts> {
  return fc.record({
    method: fc.constant(operation.method),
    who: fc.oneof(
      { weight: 5, arbitrary: fc.constant(meaning.who) },
      { weight: 2, arbitrary: fc.constantFrom(...meaning.others) },
    ),
    params: fc.tuple(...operation.params.map(() => param)),
    query: operation.query ? (meaning.query ?? valuesOf(document, operation.query)).map(queryText) : fc.constant(''),
    headers: operation.takesKey ? idempotency : fc.constant<[string, string][]>([]),
    body: operation.body
      ? goodBody(document, operation, meaning).map(value => bodyText(operation, value))
      : fc.constant(undefined),
    isAstray: fc.constant(false),
    isWild: fc.constant(false),
  })
}

const goodBody = (document: object, operation: Operation, { body }: Meaning): fc.Arbitrary<unknown> => {
  const described = valuesOf(document, operation.body!.schema)
  return body ? fc.oneof({ weight: 5, arbitrary: body }, { weight: 1, arbitrary: described }) : described
}

export const param: fc.Arbitrary<Param> = fc.oneof(
  { weight: 8, arbitrary: fc.constant({ of: 'own' as const }) },
  { weight: 1, arbitrary: fc.constant({ of: 'foreign' as const }) },
  { weight: 1, arbitrary: fc.constant({ of: 'gone' as const }) },
  { weight: 1, arbitrary: fc.constant({ of: 'nobody' as const }) },
)

const key = (value: string): [string, string][] => [['idempotency-key', value]]

const idempotency: fc.Arbitrary<[string, string][]> = fc.oneof(
  { weight: 10, arbitrary: fc.constant<[string, string][]>([]) },
  { weight: 2, arbitrary: fc.uuid().map(key) },
  { weight: 1, arbitrary: fc.constantFrom('again', 'again-2').map(key) },
  { weight: 1, arbitrary: fc.constantFrom('', 'a b', 'x'.repeat(256), '\u00e9', '\t', 'a, b').map(key) },
  { weight: 1, arbitrary: fc.constant<[string, string][]>([...key('one'), ...key('two')]) },
)

const queryText = (value: unknown): string => {
  const text = new URLSearchParams(Object.entries(value as object).map(([name, each]) => [name, String(each)])).toString()
  return text && `?${text}`
}

function bodyText({ body }: Operation, value: unknown): string {
  return body?.type === 'application/x-www-form-urlencoded' ? fieldsOf(value as object) : JSON.stringify(value)
}

/** An object is sent as JSON in its field. */
const fieldsOf = (value: object): string =>
  new URLSearchParams(
    Object.entries(value).map(([name, each]) => [name, typeof each === 'string' ? each : (JSON.stringify(each) ?? '')]),
  ).toString()

function nearParts(
  { document }: Surface,
  operation: Operation,
  meaning: Meaning,
  good: fc.Arbitrary<Parts>,
): fc.Arbitrary<Parts> {
  const body = operation.body && spoiltText(document, operation.body.schema, goodBody(document, operation, meaning))
  const isForm = operation.body?.type === 'application/x-www-form-urlencoded'
  const spoilt: fc.MaybeWeightedArbitrary<Partial<Parts>>[] = [
    { weight: 1, arbitrary: oddParams(operation).map(params => ({ params, isAstray: operation.params.length > 0 })) },
    { weight: 1, arbitrary: fc.constantFrom(...meaning.others).map(who => ({ who })) },
  ]
  if (body) spoilt.push({ weight: 8, arbitrary: body.map(text => ({ body: isForm ? formOf(text) : text })) })
  if (operation.query) spoilt.push({ weight: 4, arbitrary: oddQuery(operation).map(query => ({ query })) })
  return fc.tuple(good, fc.oneof(...spoilt)).map(([parts, change]) => ({ ...parts, ...change }))
}

/** The members of a spoilt object as fields, whatever they are. */
function formOf(text: string): string {
  try {
    return fieldsOf(JSON.parse(text))
  } catch {
    return text
  }
}
