// JSON Schema, as our documents use it, turned round: values it describes, and values it describes but for one fault.
import fc from 'fast-check'
import type { JsonSchema } from '../helpers/json-schema.ts'
import { codePoint } from './code-points.ts'
import { FAULTS, LONG_TEXT, type Place, REMOVED } from './faults.ts'

type Members = Record<string, JsonSchema>

const resolveSchema = (root: object, schema: JsonSchema): JsonSchema => {
  if (typeof schema.$ref !== 'string') return schema
  const found = schema.$ref
    .slice(2)
    .split('/')
    .reduce<unknown>((place, name) => (place as Members)[name], root)
  return resolveSchema(root, found as JsonSchema)
}

export function valuesOf(root: object, given: JsonSchema): fc.Arbitrary<unknown> {
  const schema = resolveSchema(root, given)
  if ('const' in schema) return fc.constant(schema.const)
  if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum)
  if (Array.isArray(schema.oneOf)) return fc.oneof(...schema.oneOf.map(each => valuesOf(root, alternative(schema, each))))
  if (Array.isArray(schema.anyOf)) return fc.oneof(...schema.anyOf.map(each => valuesOf(root, each)))
  switch (schema.type) {
    case 'string':
      return textOf(schema)
    case 'integer':
      return fc.integer({ min: (schema.minimum as number) ?? -1000, max: (schema.maximum as number) ?? 1000 })
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    case 'array':
      return listOf(root, schema)
    case 'object':
      return objectOf(root, schema)
    default:
      return fc.jsonValue({ maxDepth: 3 })
  }
}

/** One of several; those that only require a member belong to an object that has it, and not those of the others. */
function alternative({ oneOf, ...schema }: JsonSchema, chosen: JsonSchema): JsonSchema {
  if (schema.type !== 'object') return chosen
  const others = (oneOf as { required: string[] }[]).filter(each => each !== chosen).flatMap(each => each.required)
  const properties = Object.fromEntries(Object.entries(schema.properties as Members).filter(([name]) => !others.includes(name)))
  return { ...schema, properties, required: [...((schema.required as string[]) ?? []), ...(chosen.required as string[])] }
}

function textOf({ pattern, format, minLength = 0, maxLength }: JsonSchema): fc.Arbitrary<string> {
  if (format === 'uri') return fc.constantFrom('https://shop.example/hook?a=1#b', 'http://shop.example:8080', 'app.example:/done')
  if (format === 'date-time') return fc.constantFrom('2026-03-04T12:00:00Z', '2026-03-04T11:59:59.999Z', '1970-01-01T00:00:00.0Z')
  if (typeof pattern === 'string') {
    // A pattern without a maxLength bounds the length itself.
    if (maxLength === undefined) return fc.stringMatching(new RegExp(pattern, 'u'), { size: 'max' })
    return fc
      .stringMatching(new RegExp(pattern, 'u'), { size: 'small' })
      .filter(text => [...text].length <= (maxLength as number))
  }
  // A unit is a code point here, as JSON Schema counts; mostly short, at times as long as may be.
  const range = { minLength: minLength as number, maxLength: (maxLength as number) ?? (minLength as number) + 40 }
  return fc.oneof(
    { weight: 12, arbitrary: fc.string({ unit: 'binary-ascii', ...range, size: 'small' }) },
    { weight: 6, arbitrary: fc.string({ unit: codePoint, ...range, size: 'small' }) },
    { weight: 1, arbitrary: fc.constant('😀'.repeat(Math.min(range.maxLength, LONG_TEXT))) },
  )
}

function listOf(root: object, { items = {}, minItems = 0, maxItems = 5, uniqueItems }: JsonSchema): fc.Arbitrary<unknown[]> {
  const range = { minLength: minItems as number, maxLength: Math.min(maxItems as number, (minItems as number) + 4) }
  const item = valuesOf(root, items as JsonSchema)
  return uniqueItems ? fc.uniqueArray(item, range) : fc.array(item, range)
}

function objectOf(root: object, { properties, required = [], additionalProperties, propertyNames }: JsonSchema) {
  if (properties) {
    const members = Object.entries(properties as Members).map(([name, each]) => [name, valuesOf(root, each)] as const)
    return fc.record(Object.fromEntries(members), { requiredKeys: required as never[] })
  }
  const name = valuesOf(root, { type: 'string', ...((propertyNames as JsonSchema) ?? { maxLength: 20 }) }) as fc.Arbitrary<string>
  return fc.dictionary(name, valuesOf(root, additionalProperties === true ? {} : (additionalProperties as JsonSchema)), {
    maxKeys: 4,
  })
}

/** JSON text of a value with one fault in it, somewhere. */
export function spoiltText(root: object, schema: JsonSchema, value: fc.Arbitrary<unknown>): fc.Arbitrary<string> {
  return fc.tuple(value, fc.nat(), fc.nat(), fc.nat()).map(([good, where, which, variant]) => {
    const places = placesOf(root, schema, good)
    const place = places[where % places.length]!
    const faults = FAULTS.flatMap(fault => fault(place, variant))
    return textWith(good, place.path, faults[which % faults.length])
  })
}

/** Every part of a value, with the schema it has to satisfy. */
function placesOf(root: object, given: JsonSchema, value: unknown, path: (string | number)[] = []): Place[] {
  const schema = resolveSchema(root, given)
  const here = { path, value, schema }
  if (Array.isArray(value)) {
    const items = (schema.items ?? {}) as JsonSchema
    return [here, ...value.slice(0, 20).flatMap((each, i) => placesOf(root, items, each, [...path, i]))]
  }
  if (value === null || typeof value !== 'object') return [here]
  return [
    here,
    ...Object.entries(value).flatMap(([name, member]) =>
      placesOf(root, (schema.properties as Members)?.[name] ?? {}, member, [...path, name]),
    ),
  ]
}

function textWith(value: unknown, path: (string | number)[], replacement: unknown): string {
  return spellRaw(JSON.stringify(replace(value, path, replacement)) ?? '')
}

function replace(value: unknown, [step, ...rest]: (string | number)[], replacement: unknown): unknown {
  if (step === undefined) return replacement === REMOVED ? undefined : replacement
  if (Array.isArray(value)) return value.map((each, i) => (i === step ? (replace(each, rest, replacement) ?? null) : each))
  const members = Object.entries(value as object).map(([name, each]) => [
    name,
    name === step ? replace(each, rest, replacement) : each,
  ])
  return Object.fromEntries(members)
}

const spellRaw = (text: string): string => text.replace(/"@raw<([^"]*)>"/g, (_, inner) => inner)
