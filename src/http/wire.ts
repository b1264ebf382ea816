// TypeBox helpers that the schemas of people/ and dashboard/ share.
import { type TProperties, type TSchema, Type } from '@sinclair/typebox'
import { QueryInteger } from './schema.ts'

export const Exactly = <Members extends TProperties>(members: Members) => Type.Object(members, { additionalProperties: false })

export const Nullable = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()])

export const OneOf = <const Words extends readonly string[]>(...words: Words) =>
  Type.Unsafe<Words[number]>(Type.Union(words.map(word => Type.Literal(word))))

export const ListOf = <Schema extends TSchema>(schema: Schema) => Exactly({ data: Type.Array(schema) })

/** The body of a request or response that says nothing. */
export const Nothing = Exactly({})

export const ItemPath = Type.Object({ id: Type.String({ minLength: 1, maxLength: 64 }) })

export const Environment = OneOf('test', 'live')

/** Requests name the environment, so that a test result is never taken for a live one. */
export const Environmental = Exactly({ environment: Environment })

export const Limit = Type.Optional(
  QueryInteger({ minimum: 1, maximum: 100, default: 20, description: 'Maximum number of entries.' }),
)
