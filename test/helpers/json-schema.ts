// JSON Schema 2020-12, as far as our OpenAPI document uses it. Written against the standard and not with TypeBox, so that it can
// find the document wrong; a keyword it does not know is a failure, so that nothing is waved through.

export type JsonSchema = { [keyword: string]: unknown }

const ANNOTATIONS = ['description', 'examples', 'default', 'contentMediaType']

/** Problems of a value; empty when it fits. `$ref` points into `root`. */
export function problemsOf(root: object, schema: JsonSchema | boolean, value: unknown, at = '$'): string[] {
  if (typeof schema === 'boolean') return schema ? [] : [`${at}: not expected`]
  return Object.entries(schema).flatMap(([keyword, rule]) => {
    if (ANNOTATIONS.includes(keyword)) return []
    const check = KEYWORDS[keyword]
    if (!check) throw new Error(`${at}: this validator does not know ${keyword}`)
    const found = check(rule as never, value, (sub, member, name) => problemsOf(root, sub, member, `${at}.${name}`), root, schema)
    return typeof found === 'boolean' ? (found ? [] : [`${at}: ${keyword} ${JSON.stringify(rule)}`]) : found
  })
}

type Descend = (schema: JsonSchema | boolean, value: unknown, name: string) => string[]
type Check = (rule: never, value: unknown, descend: Descend, root: object, schema: JsonSchema) => boolean | string[]
type Members = Record<string, JsonSchema>

const KEYWORDS: Record<string, Check> = {
  $ref: (rule: string, value, descend, root) => descend(resolve(root, rule), value, `(${rule.split('/').at(-1)})`),
  type: (rule: string | string[], value) =>
    [rule].flat().some(type => (type === 'integer' ? Number.isInteger(value) : typeOf(value) === type)),
  const: (rule, value) => Bun.deepEquals(rule, value),
  enum: (rule: unknown[], value) => rule.some(each => Bun.deepEquals(each, value)),
  anyOf: (rule: JsonSchema[], value, descend) => rule.some(each => descend(each, value, 'anyOf').length === 0),
  oneOf: (rule: JsonSchema[], value, descend) => rule.filter(each => descend(each, value, 'oneOf').length === 0).length === 1,
  allOf: (rule: JsonSchema[], value, descend) => rule.flatMap(each => descend(each, value, 'allOf')),
  contentSchema: (rule: JsonSchema, value, descend) =>
    typeof value === 'string' ? descend(rule, JSON.parse(value), '(JSON)') : [],
  dependentSchemas: (rule: Members, value, descend) =>
    Object.entries(rule).flatMap(([name, each]) =>
      isObject(value) && Object.hasOwn(value, name) ? descend(each, value, name) : [],
    ),
  required: (rule: string[], value) => !isObject(value) || rule.every(name => Object.hasOwn(value, name)),
  properties: (rule: Members, value, descend) =>
    entriesOf(value).flatMap(([name, member]) => (Object.hasOwn(rule, name) ? descend(rule[name] ?? {}, member, name) : [])),
  additionalProperties: (rule: JsonSchema | boolean, value, descend, _root, { properties = {} }) =>
    entriesOf(value).flatMap(([name, member]) => (Object.hasOwn(properties as Members, name) ? [] : descend(rule, member, name))),
  propertyNames: (rule: JsonSchema, value, descend) => entriesOf(value).flatMap(([name]) => descend(rule, name, name)),
  maxProperties: (rule: number, value) => entriesOf(value).length <= rule,
  minProperties: (rule: number, value) => !isObject(value) || entriesOf(value).length >= rule,
  items: (rule: JsonSchema, value, descend, _root, { prefixItems = [] }) =>
    Array.isArray(value)
      ? value.flatMap((each, i) => (i < (prefixItems as JsonSchema[]).length ? [] : descend(rule, each, String(i))))
      : [],
  prefixItems: (rule: JsonSchema[], value, descend) =>
    Array.isArray(value) ? rule.flatMap((each, i) => (i < value.length ? descend(each, value[i], String(i)) : [])) : [],
  minItems: (rule: number, value) => !Array.isArray(value) || value.length >= rule,
  maxItems: (rule: number, value) => !Array.isArray(value) || value.length <= rule,
  uniqueItems: (rule: boolean, value) =>
    !rule || !Array.isArray(value) || new Set(value.map(each => JSON.stringify(each))).size === value.length,
  minLength: (rule: number, value) => typeof value !== 'string' || [...value].length >= rule,
  maxLength: (rule: number, value) => typeof value !== 'string' || [...value].length <= rule,
  pattern: (rule: string, value) => typeof value !== 'string' || new RegExp(rule, 'u').test(value),
  minimum: (rule: number, value) => typeof value !== 'number' || value >= rule,
  exclusiveMinimum: (rule: number, value) => typeof value !== 'number' || value > rule,
  maximum: (rule: number, value) => typeof value !== 'number' || value <= rule,
  format: (rule: string, value) => typeof value !== 'string' || (FORMATS[rule]?.test(value) ?? false),
}

/** Times are UTC and end in Z (interface part 2). */
const FORMATS: Record<string, RegExp> = {
  'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/,
  date: /^\d{4}-\d\d-\d\d$/,
  uuid: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
  uri: /^[a-z][a-z0-9+.-]*:\S+$/i,
}

function resolve(root: object, reference: string): JsonSchema {
  const found = reference
    .replace(/^#\//, '')
    .split('/')
    .reduce<unknown>((place, name) => (place as Members | undefined)?.[name], root)
  if (!isObject(found)) throw new Error(`${reference} points nowhere`)
  return found
}

const typeOf = (value: unknown): string => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value)

const isObject = (value: unknown): value is JsonSchema => typeOf(value) === 'object'

const entriesOf = (value: unknown): [string, unknown][] => (isObject(value) ? Object.entries(value) : [])

/** The same for the body of an answer, by its type: JSON, a stream of events (each of which the schema describes), or text. */
export function bodyProblems(root: object, schema: JsonSchema, type: string, text: string): string[] {
  if (type === 'application/json') return problemsOf(root, schema, JSON.parse(text))
  if (type === 'text/event-stream') return eventsOf(text).flatMap(event => problemsOf(root, schema, event))
  return problemsOf(root, schema, text)
}

/** Blocks without data, such as comments and `retry`, are no events (WHATWG HTML § 9.2.6). */
const eventsOf = (text: string): object[] =>
  text
    .split('\n\n')
    .map(block => Object.fromEntries([...block.matchAll(/^(\w+): (.*)$/gm)].map(([, name, value]) => [name, value])))
    .filter(fields => 'data' in fields)
