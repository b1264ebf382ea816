// Copies a database file into an empty PostgreSQL database, compares both, and only then says on both sides that it was
// moved. Each statement of 500 rows is committed together with its place in move_progress, so a killed move goes on where
// it was. While move_progress is there, nothing serves the new database.
import type { Database } from 'bun:sqlite'
import { hasSchema, isBeingMoved, migrate } from '../postgres/migrate.ts'
import type { Session } from '../postgres/session.ts'
import { StartRefusal } from '../refusal.ts'
import {
  digestOf,
  keyOf,
  listed,
  quoted,
  type ReadRows,
  type Row,
  readFile,
  readKey,
  readServer,
  type Table,
  tablesOf,
  type Value,
  writeKey,
} from './rows.ts'

const ROWS_PER_STATEMENT = 500

/** `fingerprint`: hash of the file. A file that changed since a move began is copied anew. */
export type Source = { file: Database; fingerprint: string }

export type Moved = { tables: { name: string; rows: number; digest: string }[] }

/** File and database differ after the copy. The message says where. */
export class Differs extends Error {
  override name = 'Differs'
}

/** Called after each statement of a copy, and once for each table that was compared. */
export type OnProgress = (table: string, rows: number, act: 'copied' | 'compared') => void

/** Throws for a database that has another installation. `finished`: the move is complete, but not yet noted in the file. */
export async function inspectTarget(session: Session, { fingerprint }: Source): Promise<'empty' | 'begun' | 'finished'> {
  if (!(await hasSchema(session))) return 'empty'
  if (await isBeingMoved(session)) return 'begun'
  const [found] = await session.rows<{ value: Uint8Array }>("SELECT value FROM installation WHERE name = 'moved_to'")
  if (found && Buffer.from(found.value).toString() === fingerprint) return 'finished'
  const [row] = await session.rows('SELECT 1 FROM installation UNION ALL SELECT 1 FROM tenants LIMIT 1')
  if (!row) return 'empty'
  throw new StartRefusal('database_moved', 'the database of --to has an installation already; name an empty database')
}

/** A dry run makes no table that could fail. */
export async function refuseWithoutRights(session: Session): Promise<void> {
  const [found] = await session.rows<{ can: boolean | null }>("SELECT has_schema_privilege(current_schema(), 'CREATE') AS can")
  if (found?.can) return
  throw new StartRefusal(
    'rights_missing',
    'the user of --to may not make tables; set VIDIMUS_DATABASE_OWNER_URL to the same database with a user that may',
  )
}

export async function moveRows(session: Session, source: Source, now: number, onProgress: OnProgress): Promise<Moved> {
  await migrate(session, { now, mayMigrate: true })
  await begin(session, source.fingerprint)
  const tables = tablesOf(source.file)
  await refuseUnlike(session, tables)
  const hasLinks = await exists(session, 'audit_links')
  for (const table of tables) await copy(session, { table, read: readFile(source.file), hasLinks, onProgress })
  await raiseCounters(session, hasLinks)
  return { tables: await compare(session, source, tables, onProgress) }
}

/** Discards a move of another file, or of this file before it changed. */
async function begin(session: Session, fingerprint: string): Promise<void> {
  await inTransaction(session, async () => {
    await session.rows(
      'CREATE TABLE IF NOT EXISTS move_progress (table_name text PRIMARY KEY, last_key text NOT NULL, copied bigint NOT NULL)',
    )
    const [found] = await session.rows<{ last_key: string }>("SELECT last_key FROM move_progress WHERE table_name = ''")
    if (found?.last_key === fingerprint) return
    const filled = await session.rows<{ name: string }>("SELECT table_name AS name FROM move_progress WHERE table_name <> ''")
    for (const { name } of filled) await empty(session, name)
    await session.rows('DELETE FROM move_progress')
    await session.rows("INSERT INTO move_progress VALUES ('', $1, 0)", [fingerprint])
  })
}

async function empty(session: Session, name: string): Promise<void> {
  const isChain = name === 'audit_records' && (await exists(session, 'audit_links'))
  await session.rows(`TRUNCATE ${isChain ? 'audit_links, audit_entries' : quoted(name)} CASCADE`)
}

/** Both schemas are of one release: a column that only one has is a mistake of that release. */
async function refuseUnlike(session: Session, tables: Table[]): Promise<void> {
  for (const { name, columns } of tables) {
    const found = await session.rows<{ name: string }>(
      'SELECT attname::text AS name FROM pg_attribute WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped',
      [name],
    )
    const there = new Set(found.map(each => each.name))
    const missing = columns.filter(column => !there.has(column))
    if (missing.length > 0) throw new Differs(`the new database has no ${missing.map(column => `${name}.${column}`).join(', ')}`)
  }
}

type Copying = { table: Table; read: ReadRows; hasLinks: boolean; onProgress: OnProgress }

async function copy(session: Session, { table, read, hasLinks, onProgress }: Copying): Promise<void> {
  const [kept] = await session.rows<{ last_key: string; copied: number }>(
    'SELECT last_key, copied FROM move_progress WHERE table_name = $1',
    [table.name],
  )
  let after = kept && readKey(kept.last_key)
  let copied = kept?.copied ?? 0
  for (;;) {
    const batch = (await read(table, after, ROWS_PER_STATEMENT)) as Row[]
    if (batch.length === 0) return
    const last = keyOf(table, batch.at(-1)!)
    after = last
    copied += batch.length
    await inTransaction(session, async () => {
      if (table.name === 'audit_records' && hasLinks) await insertRecords(session, table, batch)
      else await insert(session, table.name, table.columns, batch)
      await session.rows(
        `INSERT INTO move_progress VALUES ($1, $2, $3)
         ON CONFLICT (table_name) DO UPDATE SET last_key = excluded.last_key, copied = excluded.copied`,
        [table.name, writeKey(last), copied],
      )
    })
    onProgress(table.name, copied, 'copied')
  }
}

async function insert(session: Session, name: string, columns: string[], rows: Row[]): Promise<void> {
  let count = 0
  const places = rows.map(() => `(${columns.map(() => `$${++count}`).join(', ')})`).join(', ')
  const values = rows.flatMap(row => columns.map(column => storable(row[column] ?? null)))
  await session.rows(`INSERT INTO ${quoted(name)} (${listed(columns)}) VALUES ${places}`, values)
}

const storable = (value: Value): unknown => (value instanceof Uint8Array ? Buffer.from(value) : value)

const LINK = ['seq', 'previous', 'hash']

/** A record of the file is an entry and its link; both have the number that it had there. */
async function insertRecords(session: Session, { columns }: Table, records: Row[]): Promise<void> {
  const entries = records.map(record => ({ ...record, id: record.seq! }))
  await insert(session, 'audit_entries', ['id', ...columns.filter(name => !LINK.includes(name))], entries)
  const links = records.map(record => ({ ...record, entry_id: record.seq! }))
  await insert(session, 'audit_links', ['entry_id', ...LINK], links)
}

/** The next number of every counter is above all that were copied. */
async function raiseCounters(session: Session, hasLinks: boolean): Promise<void> {
  const counters = await session.rows<{ name: string; column: string; sequence: string }>(
    `SELECT table_name::text AS name, column_name::text AS column,
       pg_get_serial_sequence(quote_ident(table_name), column_name) AS sequence
     FROM information_schema.columns WHERE table_schema = current_schema() AND is_identity = 'YES'`,
  )
  for (const { name, column, sequence } of counters)
    await session.rows(
      `SELECT setval($1::regclass, (SELECT coalesce(max(${quoted(column)}), 0) + 1 FROM ${quoted(name)}), false)`,
      [sequence],
    )
  if (!hasLinks) return
  await session.rows(
    `SELECT setval('audit_entry_blocks', (SELECT (coalesce(max(id), 0) / 1000 + 1) * 1000 + 1 FROM audit_entries), false)`,
  )
  await session.rows('UPDATE audit_low SET low = pg_snapshot_xmin(pg_current_snapshot())')
}

async function compare(session: Session, { file }: Source, tables: Table[], onProgress: OnProgress): Promise<Moved['tables']> {
  const dangling = file.query('PRAGMA foreign_key_check').get()
  if (dangling) throw new Differs('a row of the file refers to one that is not there')
  const compared: Moved['tables'] = []
  for (const table of tables) {
    const here = await digestOf(table, readFile(file), ROWS_PER_STATEMENT)
    const there = await digestOf(table, readServer(session), ROWS_PER_STATEMENT)
    if (here.rows !== there.rows || here.digest !== there.digest)
      throw new Differs(`${table.name} differs: ${here.rows} rows in the file, ${there.rows} in the new database`)
    onProgress(table.name, here.rows, 'compared')
    compared.push({ name: table.name, ...here })
  }
  return compared
}

/** The new database serves from here on. */
export const finishMove = (session: Session, fingerprint: string): Promise<void> =>
  inTransaction(session, async () => {
    await session.rows("INSERT INTO installation (name, value) VALUES ('moved_to', $1)", [Buffer.from(fingerprint)])
    await session.rows('DROP TABLE move_progress')
  })

async function exists(session: Session, name: string): Promise<boolean> {
  const [found] = await session.rows<{ name: string | null }>('SELECT to_regclass($1)::text AS name', [name])
  return found?.name !== null
}

async function inTransaction(session: Session, work: () => Promise<void>): Promise<void> {
  await session.rows('BEGIN')
  try {
    await work()
    await session.rows('COMMIT')
  } catch (error) {
    await session.rows('ROLLBACK').catch(() => session.drop())
    throw error
  }
}
