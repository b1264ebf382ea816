// The column kit: schema/ speaks only these words, so that its tables are drizzle's own for each engine. Times are integer
// milliseconds (UTC). `sealed` columns can be read only with the master key (base/seal.ts); a row's `salt` is deleted with it.
// Every row of a tenant names its tenant, and references carry it along, so that none can cross tenants.
import * as pg from 'drizzle-orm/pg-core'
import * as sqlite from 'drizzle-orm/sqlite-core'
import { isPostgres } from './dialect.ts'

const sqliteKit = {
  table: sqlite.sqliteTable,
  text: (name: string) => sqlite.text(name),
  /** A text that is one of a few. */
  oneOf: <const Words extends [string, ...string[]]>(name: string, ...allowed: Words) => sqlite.text(name, { enum: allowed }),
  json: <Value>(name: string) => sqlite.text(name, { mode: 'json' }).$type<Value>(),
  integer: (name: string) => sqlite.integer(name),
  /** Milliseconds since 1970, UTC. */
  time: (name: string) => sqlite.integer(name),
  bytes: (name: string) => sqlite.blob(name, { mode: 'buffer' }),
  /** A primary key that the database counts up. */
  counter: (name: string) => sqlite.integer(name).primaryKey({ autoIncrement: true }),
  foreignKey: sqlite.foreignKey,
  index: sqlite.index,
  primaryKey: sqlite.primaryKey,
  uniqueIndex: sqlite.uniqueIndex,
}

/** Ordered by bytes, as SQLite orders it, whatever the locale of the database. */
const words = pg.customType<{ data: string }>({ dataType: () => 'text COLLATE "C"' })
const jsonWords = pg.customType<{ data: unknown; driverData: string }>({
  dataType: () => 'text COLLATE "C"',
  toDriver: value => JSON.stringify(value),
  fromDriver: value => JSON.parse(value),
})
const byteArray = pg.customType<{ data: Buffer }>({ dataType: () => 'bytea' })
const int8 = (name: string) => pg.bigint(name, { mode: 'number' })

const postgresKit = {
  table: pg.pgTable,
  text: (name: string) => words(name),
  oneOf: (name: string) => words(name),
  json: (name: string) => jsonWords(name),
  integer: int8,
  time: int8,
  bytes: (name: string) => byteArray(name),
  counter: (name: string) => int8(name).primaryKey().generatedByDefaultAsIdentity(),
  foreignKey: pg.foreignKey,
  index: pg.index,
  primaryKey: pg.primaryKey,
  uniqueIndex: pg.uniqueIndex,
}

// The one cast: stores are written for SQLite's types, and PostgreSQL's tables have the same columns and builders.
const kit = isPostgres ? (postgresKit as unknown as typeof sqliteKit) : sqliteKit

export const { table, text, oneOf, json, integer, time, bytes, counter, foreignKey, index, primaryKey, uniqueIndex } = kit

export const environment = () => oneOf('environment', 'test', 'live').notNull()
