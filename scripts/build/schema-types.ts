// TypeBox constants as TypeScript that needs no TypeBox: what a reader of the published declarations sees.
import { Kind, OptionalKind, type TSchema } from '@sinclair/typebox'

/** One exported type for each name. A schema that is part of another is referred to by its name. */
export function typesOf(schemas: Record<string, TSchema>): string {
  const names = new Map(Object.entries(schemas).map(([name, schema]) => [identityOf(schema), name]))
  return Object.entries(schemas)
    .map(([name, schema]) => `${comment(schema, '')}export type ${name} = ${shape(schema, names, '')}\n`)
    .join('\n')
}

/** TypeBox copies what it puts into another schema, so by `$id` where there is one. */
const identityOf = (schema: TSchema): unknown => schema.$id ?? schema

const written = (schema: TSchema, names: Map<unknown, string>, indent: string): string =>
  names.get(identityOf(schema)) ?? shape(schema, names, indent)

function shape(schema: TSchema, names: Map<unknown, string>, indent: string): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const).replaceAll('"', "'")
  if (schema.anyOf) return schema.anyOf.map((each: TSchema) => written(each, names, indent)).join(' | ')
  if (schema.patternProperties) {
    const [values] = Object.values<TSchema>(schema.patternProperties)
    return `Record<string, ${values ? written(values, names, indent) : 'unknown'}>`
  }
  if (typeof schema.additionalProperties === 'object')
    return `Record<string, ${written(schema.additionalProperties, names, indent)}>`
  switch (schema.type) {
    case 'object':
      return objectShape(schema, names, indent)
    case 'array': {
      const items = written(schema.items, names, indent)
      return items.includes(' | ') ? `(${items})[]` : `${items}[]`
    }
    case 'integer':
    case 'number':
      return 'number'
    case 'string':
    case 'boolean':
      return schema.type
  }
  if (schema[Kind] === 'Unknown') return 'unknown'
  throw new Error(`no type for a schema of the kind ${schema[Kind]}`)
}

function objectShape({ properties }: TSchema, names: Map<unknown, string>, indent: string): string {
  const deeper = `${indent}  `
  const fields = Object.entries<TSchema>(properties).map(([name, schema]) => {
    const mark = schema[OptionalKind] === 'Optional' ? '?' : ''
    return `${comment(schema, deeper)}${deeper}${name}${mark}: ${written(schema, names, deeper)}\n`
  })
  return `{\n${fields.join('')}${indent}}`
}

function comment({ description, minimum, maximum, minLength, maxLength, minItems, maxItems }: TSchema, indent: string): string {
  const limits = [
    range(minimum, maximum, ''),
    range(minLength, maxLength, ' characters'),
    range(minItems, maxItems, ' entries'),
  ].filter(text => text !== '')
  const text = [description, ...limits.map(limit => `${limit}.`)].filter(Boolean).join(' ')
  return text ? `${indent}/** ${text} */\n` : ''
}

function range(least: number | undefined, most: number | undefined, unit: string): string {
  if (most !== undefined) return least ? `${least} to ${most}${unit}` : `At most ${most}${unit}`
  return least ? `${least} or more${unit}` : ''
}
