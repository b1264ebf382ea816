// TypeBox schemas as the plain JSON Schema of OpenAPI 3.1.
import { PatternStringExact, type TSchema } from '@sinclair/typebox'

export type JsonSchema = Record<string, unknown>
export type Schemas = Record<string, JsonSchema>

/** For routes and messages of refusals. */
const OUR_NOTES = new Set(['mediaType', 'reason', 'isOfList'])

/** Schemas with an `$id` are added to `schemas`, the components, and referenced. */
export function toJsonSchema({ $id, documented, ...schema }: TSchema, schemas: Schemas): JsonSchema {
  // Object.entries skips symbols, under which TypeBox keeps its own notes.
  const keywords = Object.entries(schema)
    .filter(([keyword]) => !OUR_NOTES.has(keyword))
    .map(([keyword, value]) => [keyword, convertKeyword(keyword, value, schemas)])
  // `documented` has rules that a verb checks with its own message, and defaults that must not be filled in by validation.
  const plain = { ...simplify(Object.fromEntries(keywords)), ...documented }
  if ($id === undefined) return plain
  if (schemas[$id] && !Bun.deepEquals(schemas[$id], plain)) throw new Error(`two schemas are called ${$id}`)
  schemas[$id] = plain
  return { $ref: `#/components/schemas/${$id}` }
}

function convertKeyword(keyword: string, value: unknown, schemas: Schemas): unknown {
  switch (keyword) {
    case 'properties':
    case 'patternProperties':
      return Object.fromEntries(
        Object.entries(value as Record<string, TSchema>).map(([name, each]) => [name, toJsonSchema(each, schemas)]),
      )
    case 'anyOf':
    case 'allOf':
      return (value as TSchema[]).map(each => toJsonSchema(each, schemas))
    case 'items':
    case 'propertyNames':
    case 'contentSchema':
      return toJsonSchema(value as TSchema, schemas)
    default:
      return value
  }
}

/** TypeBox writes unions of words and open objects at length; generators know these shorter forms. */
function simplify({ anyOf, patternProperties, ...rest }: JsonSchema): JsonSchema {
  if (Array.isArray(anyOf) && anyOf.every(each => typeof each.const === 'string')) {
    return { type: 'string', enum: anyOf.map(each => each.const), ...rest }
  }
  const anyKey = (patternProperties as Schemas | undefined)?.[PatternStringExact]
  if (anyKey) return { ...rest, additionalProperties: anyKey }
  return { ...rest, ...(anyOf !== undefined && { anyOf }), ...(patternProperties !== undefined && { patternProperties }) }
}
