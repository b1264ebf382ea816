// The database of a data directory. With VIDIMUS_DATABASE_URL in the environment of the tests, each directory has one of
// its own on that PostgreSQL server; otherwise it is the file in the directory. Both are copied from one that is migrated once.
import { Database } from 'bun:sqlite'
import { expect } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { deserialize } from 'node:v8'
import { Worker } from 'node:worker_threads'
import { SQL } from 'bun'
import { sha256Hex } from '../../src/base/hash.ts'
import { databaseFile } from '../../src/db/database-file.ts'
import { parseDatabaseUrl } from '../../src/db/database-url.ts'
import type { Db } from '../../src/db/engine.ts'
import { MIGRATIONS, migrate } from '../../src/db/postgres/migrate.ts'
import { createSession } from '../../src/db/postgres/session.ts'
import { migrate as migrateFile } from '../../src/db/sqlite/migrate.ts'
import { APPLICATION_ID } from '../../src/db/sqlite/snapshot.ts'
import { openWriter } from '../../src/db/sqlite/storage.ts'

const SERVER = process.env.VIDIMUS_DATABASE_URL
export const isOnPostgres = SERVER !== undefined && SERVER !== ''

/** The table of all audit entries; on PostgreSQL, audit_records has only those that are linked to the chain. */
export const AUDIT_ENTRIES = isOnPostgres ? 'audit_entries' : 'audit_records'

/** Any number: of several test processes, one makes the template. */
const TEMPLATE_LOCK = 7_634_021_900

const UNANSWERED = -1
const SILENCE_MAX_MS = 20_000
const ANSWER_MAX_BYTES = 32 * 2 ** 20

type Value = string | number | Uint8Array | null
type Place = string | { dir: string }

const OPTIONS = isOnPostgres ? optionsOf(SERVER!) : {}

function optionsOf(url: string): object {
  const { host, port, user, password, socket } = parseDatabaseUrl(url)
  return { adapter: 'postgres', ...(socket ? { path: socket } : { hostname: host, port }), username: user, password }
}

const dirOf = (place: Place): string => resolve(typeof place === 'string' ? place : place.dir)

const nameOf = (dir: string): string =>
  `${basename(dir)
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '_')
    .slice(0, 40)}_${sha256Hex(dir).slice(0, 12)}`

/** The name changes with every migration. */
const TEMPLATE = `vidimus_template_${sha256Hex(MIGRATIONS.map(({ id, sql }) => `${id}\n${sql}`).join('\n')).slice(0, 16)}`

const urlOf = (name: string): string => {
  const url = new URL(SERVER!)
  url.pathname = `/${name}`
  return url.href
}

const made = new Map<string, Promise<unknown>>()
let admin: SQL | undefined
let template: Promise<void> | undefined

/** The environment that leads a service to the database of this directory. */
export async function databaseOf(dir: string): Promise<{ VIDIMUS_DATABASE_URL?: string }> {
  if (!isOnPostgres) return {}
  const name = nameOf(resolve(dir))
  if (!made.has(name)) made.set(name, makeDatabase(name))
  await made.get(name)
  return { VIDIMUS_DATABASE_URL: urlOf(name) }
}

async function makeDatabase(name: string): Promise<void> {
  admin ??= clientOf('postgres')
  template ??= makeTemplate(admin)
  await template
  if (!(await exists(admin, name))) await admin.unsafe(`CREATE DATABASE "${name}" TEMPLATE "${TEMPLATE}"`)
}

async function makeTemplate(sql: SQL): Promise<void> {
  await sql.unsafe(`SELECT pg_advisory_lock(${TEMPLATE_LOCK})`)
  try {
    if (await exists(sql, TEMPLATE)) return
    await sql.unsafe(`DROP DATABASE IF EXISTS "${TEMPLATE}_new" WITH (FORCE)`)
    await sql.unsafe(`CREATE DATABASE "${TEMPLATE}_new" ENCODING 'UTF8' TEMPLATE template0`)
    const session = createSession(() => clientOf(`${TEMPLATE}_new`))
    await migrate(session, { now: 0, mayMigrate: true })
    await session.close()
    await sql.unsafe('SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = $1', [`${TEMPLATE}_new`])
    await sql.unsafe(`ALTER DATABASE "${TEMPLATE}_new" RENAME TO "${TEMPLATE}"`)
  } finally {
    await sql.unsafe(`SELECT pg_advisory_unlock(${TEMPLATE_LOCK})`)
  }
}

const exists = async (sql: SQL, name: string): Promise<boolean> =>
  (await sql.unsafe('SELECT 1 FROM pg_database WHERE datname = $1', [name])).length > 0

let migratedFile: Uint8Array | undefined

/**
 * Saves a start on an empty directory its migrations, about 17 ms of processor time. There are no rows and no root key yet, so
 * two directories have nothing in common but their issuers (shared-issuers.ts).
 */
export function prepareDirectory(dir: string): void {
  if (isOnPostgres) return
  migratedFile ??= makeMigratedFile()
  writeFileSync(join(dir, 'master.key'), randomBytes(32), { mode: 0o600 })
  writeFileSync(databaseFile(dir), migratedFile, { mode: 0o600 })
}

function makeMigratedFile(): Uint8Array {
  const dir = mkdtempSync(join(tmpdir(), 'vidimus-migrated-'))
  const writer = openWriter(databaseFile(dir))
  writer.run(`PRAGMA application_id = ${APPLICATION_ID}`)
  migrateFile(writer, 0)
  writer.close()
  const bytes = readFileSync(databaseFile(dir))
  rmSync(dir, { recursive: true })
  return bytes
}

/** Gives a directory a copy of another one's database, to which nobody may be connected meanwhile. */
export async function copyDatabase(from: string, to: string): Promise<void> {
  if (!isOnPostgres) return
  const [original, copy] = [nameOf(resolve(from)), nameOf(resolve(to))]
  await databaseOf(from)
  await admin!.unsafe('SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = $1', [original])
  await admin!.unsafe(`CREATE DATABASE "${copy}" TEMPLATE "${original}"`)
  made.set(copy, Promise.resolve())
}

export async function dropDatabase(dir: string): Promise<void> {
  const name = nameOf(resolve(dir))
  if (made.delete(name)) await admin!.unsafe(`DROP DATABASE "${name}" WITH (FORCE)`)
}

export async function dropDatabases(): Promise<void> {
  await thread?.worker.terminate()
  thread = undefined
  for (const name of made.keys()) await admin!.unsafe(`DROP DATABASE IF EXISTS "${name}" WITH (FORCE)`)
  made.clear()
  await admin?.close()
  admin = undefined
}

/** Rows of an app or a data directory, read beside the service. Values stand for `?`. */
export function rowsOf<Row = Record<string, unknown>>(place: Place, sql: string, ...values: Value[]): Row[] {
  if (!isOnPostgres) return withFile(dirOf(place), file => file.query<Row, Value[]>(sql).all(...values))
  return beside(dirOf(place), sql, values).rows as Row[]
}

/** Of all audit entries, linked or not, in their order. */
export const actionsIn = (place: Place): string[] =>
  rowsOf<{ action: string }>(place, `SELECT action FROM ${AUDIT_ENTRIES} ORDER BY ${isOnPostgres ? 'id' : 'seq'}`).map(
    ({ action }) => action,
  )

/** Changes the database of an app or a data directory behind the service's back, and returns the number of rows. */
export function editRows(place: Place, sql: string, ...values: Value[]): number {
  if (!isOnPostgres) return withFile(dirOf(place), file => file.query<unknown, Value[]>(sql).run(...values).changes)
  return beside(dirOf(place), sql, values).count
}

/** Like editRows, for keys, tenants, templates and trust: as the transaction of another node leaves them. */
export function editSettings(place: Place, sql: string, ...values: Value[]): number {
  if (isOnPostgres) beside(dirOf(place), 'UPDATE settings_version SET version = version + 1', [])
  return editRows(place, sql, ...values)
}

/** A statement inside a transaction of the service. */
export async function execute(tx: Db, statement: string): Promise<void> {
  if (isOnPostgres) await (tx as unknown as { execute(text: string): Promise<unknown> }).execute(statement)
  else await tx.run(statement)
}

/** SQLite's own checks of its file; PostgreSQL has checksums and enforces its keys by itself. */
export function expectSound(place: Place): void {
  if (isOnPostgres) return
  expect(rowsOf(place, 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }])
  expect(rowsOf(place, 'PRAGMA foreign_key_check')).toEqual([])
}

const kept = new Map<string, Database>()
let keepers = 0

/** Meanwhile connections stay open: a new one reads the whole schema, which takes longer than most questions. */
export async function keepingOpen<Result>(act: () => Promise<Result>): Promise<Result> {
  keepers++
  try {
    return await act()
  } finally {
    keepers--
    if (keepers === 0) for (const place of [...kept.keys()]) closeKept(place)
  }
}

function closeKept(place: string): void {
  kept.get(place)?.close()
  kept.delete(place)
}

function withFile<Result>(dir: string, act: (file: Database) => Result): Result {
  const path = join(dir, 'vidimus.db')
  // A file that took its place is another one.
  const place = `${statSync(path, { throwIfNoEntry: false })?.ino} ${path}`
  let isKept = false
  try {
    const result = act(kept.get(place) ?? openFile(path, place))
    isKept = keepers > 0
    return result
  } finally {
    if (!isKept) closeKept(place)
  }
}

function openFile(path: string, place: string): Database {
  // A copy in WAL mode needs its shared memory, so it is not opened read-only.
  const file = new Database(path, { readwrite: true, strict: true })
  kept.set(place, file)
  file.run('PRAGMA busy_timeout = 5000')
  return file
}

let thread: { worker: Worker; state: Int32Array<SharedArrayBuffer>; content: Uint8Array<SharedArrayBuffer> } | undefined

/** A thread runs the statement and this one waits: as with the file, nothing of the service happens meanwhile. */
function beside(dir: string, sql: string, values: Value[]): { rows: unknown[]; count: number } {
  thread ??= startThread()
  const { worker, state, content } = thread
  Atomics.store(state, 0, UNANSWERED)
  worker.postMessage({ options: OPTIONS, database: nameOf(dir), sql: numbered(sql), values })
  // The bell of the answer before may ring late: only the length says that there is an answer.
  while (Atomics.load(state, 0) === UNANSWERED)
    if (Atomics.wait(state, 0, UNANSWERED, SILENCE_MAX_MS) === 'timed-out') throw new Error(`no answer of PostgreSQL to: ${sql}`)
  const answer = deserialize(content.slice(0, state[0]))
  if (answer.failure) throw new Error(answer.failure)
  return answer
}

function startThread() {
  const state = new Int32Array(new SharedArrayBuffer(4))
  const content = new Uint8Array(new SharedArrayBuffer(ANSWER_MAX_BYTES))
  const worker = new Worker(new URL('./beside-worker.ts', import.meta.url), { workerData: { state, content } })
  worker.unref()
  return { worker, state, content }
}

/** PostgreSQL numbers its parameters. */
function numbered(sql: string): string {
  let count = 0
  return sql.replaceAll('?', () => `$${++count}`)
}

const clientOf = (database: string): SQL => new SQL({ ...OPTIONS, database, max: 1, bigint: true } as SQL.Options)
