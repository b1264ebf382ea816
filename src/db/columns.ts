// The column kit: schema.ts speaks only these words, so that its tables can be drizzle's own for each engine.
import { blob, sqliteTable, integer as wholeNumber, text as words } from 'drizzle-orm/sqlite-core'

export { foreignKey, index, primaryKey, uniqueIndex } from 'drizzle-orm/sqlite-core'

export const table = sqliteTable

export const text = (name: string) => words(name)

/** A text that is one of a few. */
export const oneOf = <const Words extends [string, ...string[]]>(name: string, ...allowed: Words) =>
  words(name, { enum: allowed })

export const json = <Value>(name: string) => words(name, { mode: 'json' }).$type<Value>()

export const integer = (name: string) => wholeNumber(name)

/** Milliseconds since 1970, UTC. */
export const time = (name: string) => wholeNumber(name)

export const bytes = (name: string) => blob(name, { mode: 'buffer' })

/** A primary key that the database counts up. */
export const counter = (name: string) => wholeNumber(name).primaryKey({ autoIncrement: true })
