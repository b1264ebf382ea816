// Rows of a table as they are stored, on either engine: read in the order of the primary key, some hundred at a time.
import type { Database } from 'bun:sqlite'
import type { Session } from '../postgres/session.ts'

export type Value = string | number | Uint8Array | null
export type Row = Record<string, Value>

export type Table = {
  name: string
  columns: string[]
  /** Columns of the primary key, in its order. */
  key: string[]
}

/** `after` is the key of the last row of the batch before. */
export type ReadRows = (table: Table, after: Value[] | undefined, count: number) => Promise<Row[]>

/** Tables of the file without those of SQLite and of the migrations, each after the ones that it refers to. */
export function tablesOf(file: Database): Table[] {
  const names = file
    .query<{ name: string }, []>("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name")
    .all()
    .flatMap(({ name }) => (name === 'schema_migrations' ? [] : [name]))
  const ordered: string[] = []
  const place = (name: string) => {
    if (ordered.includes(name)) return
    for (const { table } of file.query<{ table: string }, []>(`PRAGMA foreign_key_list(${quoted(name)})`).all()) place(table)
    ordered.push(name)
  }
  for (const name of names) place(name)
  return ordered.map(name => tableOf(file, name))
}

function tableOf(file: Database, name: string): Table {
  const columns = file.query<{ name: string; pk: number }, []>(`PRAGMA table_info(${quoted(name)})`).all()
  const key = columns.filter(({ pk }) => pk > 0).sort((a, b) => a.pk - b.pk)
  return { name, columns: columns.map(column => column.name).sort(), key: key.map(column => column.name) }
}

export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`
export const listed = (names: string[]): string => names.map(quoted).join(', ')

export const readFile =
  (file: Database): ReadRows =>
  async ({ name, columns, key }, after, count) => {
    const where = after ? `WHERE (${listed(key)}) > (${key.map(() => '?').join(', ')})` : ''
    const text = `SELECT ${listed(columns)} FROM ${quoted(name)} ${where} ORDER BY ${listed(key)} LIMIT ${count}`
    return file.query<Row, Value[]>(text).all(...(after ?? []))
  }

export const readServer =
  (session: Session): ReadRows =>
  async ({ name, columns, key }, after, count) => {
    const where = after ? `WHERE (${listed(key)}) > (${key.map((_, i) => `$${i + 1}`).join(', ')})` : ''
    const text = `SELECT ${listed(columns)} FROM ${quoted(name)} ${where} ORDER BY ${listed(key)} LIMIT ${count}`
    return await session.rows<Row>(text, after ?? [])
  }

export const keyOf = ({ key }: Table, row: Row): Value[] => key.map(name => row[name]!)

/** A key as text, for whoever goes on after it. */
export const writeKey = (key: Value[]): string =>
  JSON.stringify(key.map(value => (value instanceof Uint8Array ? { bytes: Buffer.from(value).toString('base64') } : value)))

export const readKey = (text: string): Value[] =>
  (JSON.parse(text) as (Exclude<Value, Uint8Array> | { bytes: string })[]).map(value =>
    typeof value === 'object' && value ? Buffer.from(value.bytes, 'base64') : value,
  )

/** Equal for equal rows, whichever engine holds them. */
export async function digestOf(table: Table, read: ReadRows, count: number): Promise<{ rows: number; digest: string }> {
  const hash = new Bun.CryptoHasher('sha256')
  let rows = 0
  for (let after: Value[] | undefined; ; ) {
    const batch = await read(table, after, count)
    for (const row of batch) for (const name of table.columns) feed(hash, row[name]!)
    rows += batch.length
    if (batch.length < count) return { rows, digest: hash.digest('hex') }
    after = keyOf(table, batch.at(-1)!)
  }
}

function feed(hash: Bun.CryptoHasher, value: Value): void {
  if (value === null) hash.update('n;')
  else if (typeof value === 'number') hash.update(`i${value};`)
  else if (typeof value === 'string') hash.update(`s${Buffer.byteLength(value)}:${value};`)
  else hash.update(`b${value.byteLength}:`).update(value)
}
