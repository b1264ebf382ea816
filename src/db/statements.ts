import type { Database } from 'bun:sqlite'
import {
  type Column,
  getTableColumns,
  inArray,
  Param,
  Placeholder,
  type SQL,
  type SQLWrapper,
  sql,
  type Table,
} from 'drizzle-orm'
import { isPostgres } from './dialect.ts'
import type { Db } from './engine.ts'
import type { Runner } from './postgres/pool.ts'

type Query = { toSQL(): { sql: string; params: unknown[] } }
type Value = string | number | Buffer | Uint8Array | null
type Values = Readonly<Record<string, unknown>>

/** Rows at once on SQLite, a promise of them on PostgreSQL: callers always await. */
export type Rows<Row> = Row[] | Promise<Row[]>

/** The place of a value in a `hot` statement, usually named after its column. */
export const column = <Name extends string>(name: Name) => sql.placeholder(name)

/**
 * A statement of the hot path: written with drizzle's builder, run without its mapping, which costs as much as
 * the query. Values are passed by the names of their placeholders; rows have the names of their columns.
 */
export function hot<Row = never>(build: (db: Db) => Query): (db: Db, values: Values) => Rows<Row> {
  return isPostgres ? hotOnPostgres(build) : hotOnSqlite(build)
}

/** The text is made once, and prepared for each connection. */
function hotOnSqlite<Row>(build: (db: Db) => Query): (db: Db, values: Values) => Row[] {
  let known: { sql: string; params: unknown[]; names: (string | undefined)[] } | undefined
  const statementOn = prepared(db => {
    if (!known) {
      const { sql, params } = withConstants(build(db).toSQL())
      known = { sql, params, names: params.map(placeholderName) }
    }
    const statement = (db as unknown as { $client: Database }).$client.prepare<Row, Value[]>(known.sql)
    return { statement, names: known.names, params: known.params as Value[] }
  })
  return (db, values) => {
    const { statement, names, params } = statementOn(db)
    const bound: Value[] = []
    for (let i = 0; i < names.length; i++) bound.push(names[i] === undefined ? params[i]! : (values[names[i]!] as Value))
    return statement.all(...bound)
  }
}

/** A statement that returns nothing is not awaited inside a transaction. */
function hotOnPostgres<Row>(build: (db: Db) => Query): (db: Db, values: Values) => Rows<Row> {
  let known: { sql: string; params: unknown[]; names: (string | undefined)[]; isSilent: boolean } | undefined
  return (db, values) => {
    if (!known) {
      const { sql, params } = build(db).toSQL()
      known = { sql, params, names: params.map(placeholderName), isSilent: !/^select|\breturning\b/i.test(sql) }
    }
    const { sql, params, names, isSilent } = known
    const bound: unknown[] = []
    for (let i = 0; i < names.length; i++) bound.push(names[i] === undefined ? params[i] : (values[names[i]!] ?? null))
    const runner = (db as unknown as { $client: Runner }).$client
    if (!isSilent || !runner.send) return runner.rows<Row>(sql, bound)
    runner.send(sql, bound)
    return []
  }
}

type Selected<Kind extends Table> = { [Name in keyof Kind['$inferSelect']]: SQL.Aliased }

/**
 * The whole row of a table for `hot`: `columns` to select, and `read`, which makes the row that drizzle would give. A prefix
 * keeps the columns of two tables apart.
 */
export const wholeRow = <Kind extends Table>(table: Kind, prefix = '') => rowWithout<Kind, never>(table, [], prefix)

/** The same without some columns. */
export function rowWithout<Kind extends Table, Left extends string>(table: Kind, left: readonly Left[], prefix = '') {
  const columns = Object.entries(getTableColumns(table)).filter(([name]) => !left.includes(name as Left))
  const names = columns.map(([name]) => name)
  const given = names.map(name => `${prefix}${name}`)
  const isBytes = columns.map(([, column]) => ['blob', 'bytea'].includes(column.getSQLType()))
  return {
    columns: Object.fromEntries(columns.map(([, column], i) => [given[i], sql`${column}`.as(given[i]!)])) as unknown as Omit<
      Selected<Kind>,
      Left
    >,
    read(selected: Values): Omit<Kind['$inferSelect'], Left> {
      const row: Record<string, unknown> = {}
      for (let i = 0; i < names.length; i++) {
        const value = selected[given[i]!]
        row[names[i]!] = isBytes[i] && value !== null ? asBuffer(value as Uint8Array) : value
      }
      return row as Omit<Kind['$inferSelect'], Left>
    },
  }
}

const asBuffer = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/** SQLite prepares a statement anew whenever its LIMIT is bound, so numbers that never change stand in the text. */
function withConstants({ sql, params }: { sql: string; params: unknown[] }): { sql: string; params: unknown[] } {
  const [first = '', ...rest] = sql.split('?')
  const isConstant = (i: number) => typeof params[i] === 'number'
  return {
    sql: rest.reduce((text, part, i) => `${text}${isConstant(i) ? params[i] : '?'}${part}`, first),
    params: params.filter((_, i) => !isConstant(i)),
  }
}

function placeholderName(param: unknown): string | undefined {
  const inner = param instanceof Param ? param.value : param
  return inner instanceof Placeholder ? inner.name : undefined
}

/**
 * Keeps one prepared statement per connection: drizzle's builder costs several times the query itself. No `.limit(1)` on what is
 * unique: a bound LIMIT costs more than the look-up.
 */
export function prepared<Statement>(build: (db: Db) => Statement): (db: Db) => Statement {
  const statements = new WeakMap<Db, Statement>()
  return db => {
    const known = statements.get(db)
    if (known) return known
    const made = build(db)
    statements.set(db, made)
    return made
  }
}

/** Whether a column of bytes has these in it. */
export const holdsBytes = (column: Column, bytes: Buffer): SQL =>
  isPostgres ? sql`position(${bytes} IN ${column}) > 0` : sql`instr(${column}, ${bytes}) > 0`

type Lock = 'update' | 'no key update' | 'update skip locked'

/**
 * `column = ANY (ARRAY(select))` for a select that skips locked rows. PostgreSQL may run the select
 * of an IN once for each row, past its limit, because it skips the rows that it has locked itself.
 * The select of an array runs once.
 */
export function isAmongFree(column: Column, select: SQLWrapper): SQL {
  return isPostgres ? sql`${column} = ANY(ARRAY${locked(select, 'update skip locked')})` : inArray(column, select)
}

/**
 * Names the lock that a read before a write takes on its rows until the commit. SQLite has one writer, which
 * holds every lock; PostgreSQL appends `FOR …`.
 */
export function locked<Select>(select: Select, lock: Lock): Select {
  if (!isPostgres) return select
  const builder = select as { for(strength: string, options?: { skipLocked?: true }): Select }
  return lock === 'update skip locked' ? builder.for('update', { skipLocked: true }) : builder.for(lock)
}
