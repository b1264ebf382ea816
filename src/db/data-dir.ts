// The data directory and every reason to refuse it. A refusal changes no byte of what is there, and says in one line what to do.
import { Database } from 'bun:sqlite'
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import type { Random } from '../ids.ts'
import { createSealer, type Place, type Sealer } from '../seal.ts'
import { countApplied, MigrationError, migrate } from './migrate.ts'
import { BUSY_TIMEOUT_MS, openReader, openWriter } from './sqlite.ts'

const KEY_BYTES = 32
const APPLICATION_ID = 0x56494449 // "VIDI" in the file's header
const SQLITE_MINIMUM = [3, 51, 3] // earlier ones can corrupt a WAL database when a reset races a checkpoint
const CHECK_AT_START_MAX_BYTES = 256 * 1024 * 1024
const CLOCK_BEHIND_MAX_MS = 24 * 3_600_000

/** Each refusal has an exit code of its own, for scripts that start the service. */
export const REFUSALS = {
  sqlite_too_old: 10,
  directory_in_use: 11,
  database_damaged: 12,
  key_missing: 13,
  key_readable_by_others: 14,
  key_wrong: 15,
  schema_newer: 16,
  clock_behind: 17,
  directory_unusable: 18,
} as const

export class StartRefusal extends Error {
  readonly exitCode: number
  constructor(
    readonly reason: keyof typeof REFUSALS,
    message: string,
    cause?: unknown,
  ) {
    super(message, { cause })
    this.exitCode = REFUSALS[reason]
  }
}

export type DataDir = { writer: Database; reader: Database; sealer: Sealer; unlock: () => void; isNew: boolean }

type Options = { dir: string; now: number; random: Random; role: 'server' | 'command' }

export function openDataDir({ dir, now, random, role }: Options): DataDir {
  refuseOldSqlite()
  const file = join(dir, 'vidimus.db')
  const keyFile = join(dir, 'master.key')
  makeDirectory(dir)
  const unlock = role === 'server' ? lockForServer(dir) : () => {}
  let writer: Database | undefined
  try {
    // With a log beside it an empty file is no new one: it has lost its content, and opening it would throw the log away too.
    const isNew = sizeOf(file) === 0 && sizeOf(`${file}-wal`) === 0
    if (isNew) createDatabase(file, keyFile, random)
    const wrapper = inspect(file, reader => {
      refuseDamaged(reader, file, role)
      const isBlank = isEmpty(reader) || countApplied(reader) === 0
      const sealer = createSealer(loadMasterKey(keyFile), random)
      if (isBlank) return sealer
      if (!openRootKey(sealer, findRootKey(reader)) && hasSealed(reader)) throw damaged(file)
      refuseClockFarBehind(reader, now)
      return sealer
    })
    writer = openWriter(file)
    migrate(writer, now)
    const sealer = createSealer(ensureRootKey(writer, wrapper, random), random)
    return { writer, reader: openReader(file), sealer, unlock, isNew }
  } catch (error) {
    writer?.close()
    unlock()
    throw refusalFrom(error, dir, file)
  }
}

const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0

/** What the file system and SQLite say, in words that help; everything else is a mistake of ours and stays as it is. */
function refusalFrom(error: unknown, dir: string, file: string): unknown {
  if (error instanceof MigrationError) {
    return new StartRefusal('schema_newer', `${error.message}; start that version, or restore a backup made by this one`, error)
  }
  const { code } = error as { code?: unknown }
  if (error instanceof StartRefusal || typeof code !== 'string') return error
  if (/^SQLITE_(CORRUPT|NOTADB)/.test(code)) return damaged(file, error)
  if (/^SQLITE_BUSY/.test(code)) {
    return new StartRefusal('directory_in_use', `another process holds ${file}; wait until it is done, or stop it`, error)
  }
  if (/^(E[A-Z]+|SQLITE_(FULL|IOERR|READONLY|CANTOPEN|PERM)\w*)$/.test(code)) return unusable(dir, code, error)
  return error
}

const unusable = (dir: string, code: string, cause: unknown) =>
  new StartRefusal(
    'directory_unusable',
    `cannot use ${dir} (${code}); mend its permissions, make room, or choose another with VIDIMUS_DATA_DIR`,
    cause,
  )

function refuseOldSqlite(): void {
  const probe = new Database(':memory:')
  const version = probe.query<{ version: string }, []>('SELECT sqlite_version() AS version').get()?.version ?? '0'
  probe.close()
  const parts = version.split('.').map(Number)
  const older = SQLITE_MINIMUM.findIndex((minimum, i) => (parts[i] ?? 0) !== minimum)
  if (older >= 0 && (parts[older] ?? 0) < SQLITE_MINIMUM[older]!) {
    throw new StartRefusal(
      'sqlite_too_old',
      `SQLite ${version} can damage its log; run this with the Bun version in .bun-version`,
    )
  }
}

function makeDirectory(dir: string): void {
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 })
    // Not ours to tighten when it existed; keys and database inside are 0600 whatever it is.
  } catch (error) {
    throw unusable(dir, (error as { code?: string }).code ?? 'unknown', error)
  }
}

/** An exclusive SQLite transaction on a file of its own: the system releases it when the process dies, however it dies. */
function lockForServer(dir: string): () => void {
  let lock: Database | undefined
  try {
    lock = new Database(join(dir, 'server.lock'), { create: true })
    lock.run('PRAGMA busy_timeout = 0')
    lock.run('PRAGMA journal_mode = MEMORY')
    lock.run('BEGIN EXCLUSIVE')
  } catch (error) {
    lock?.close()
    const { code = 'unknown' } = error as { code?: string }
    if (code !== 'SQLITE_BUSY') throw unusable(dir, code, error)
    throw new StartRefusal('directory_in_use', `another server uses ${dir}; stop it, or give this one its own VIDIMUS_DATA_DIR`)
  }
  const held = lock
  return () => held.close()
}

/**
 * First start: master key, then database, both under the lock of the still empty file, because a command and the server may come at once.
 * Killed anywhere in between, the file is still empty, and the next start begins again.
 */
function createDatabase(file: string, keyFile: string, random: Random): void {
  closeSync(openSync(file, 'a', 0o600))
  chmodSync(file, 0o600)
  const sqlite = new Database(file)
  try {
    sqlite.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`)
    sqlite.run('BEGIN EXCLUSIVE')
    if (!existsSync(keyFile)) writeMasterKey(keyFile, random)
    sqlite.run(`PRAGMA application_id = ${APPLICATION_ID}`)
    sqlite.run('COMMIT')
  } finally {
    sqlite.close()
  }
}

/** Through a read-only connection: what is refused must stay as it is, its log included. */
function inspect<T>(file: string, look: (reader: Database) => T): T {
  if (!isOurs(file)) throw damaged(file)
  const reader = openReader(file)
  try {
    return look(reader)
  } catch (error) {
    // A table or column that should be there is not.
    throw (error as { code?: unknown }).code === 'SQLITE_ERROR' ? damaged(file, error) : error
  } finally {
    reader.close()
  }
}

function isOurs(file: string): boolean {
  if (sizeOf(file) === 0) return false
  const header = Buffer.alloc(72)
  const handle = openSync(file, 'r')
  readSync(handle, header, 0, header.length, 0)
  closeSync(handle)
  return header.toString('latin1', 0, 16) === 'SQLite format 3\0' && header.readUInt32BE(68) === APPLICATION_ID
}

const damaged = (file: string, cause?: unknown) =>
  new StartRefusal('database_damaged', `${file} is damaged or not ours; it was left as it is: put a backup in its place`, cause)

/** Large files are not read through at every start: that costs a pass over every page. */
function refuseDamaged(reader: Database, file: string, role: Options['role']): void {
  if (role !== 'server') return
  // SQLite reads the missing end of the last page as zeros. With a log beside it, a checkpoint may have been cut off and is done again.
  const { page_size } = reader.query<{ page_size: number }, []>('PRAGMA page_size').get()!
  if (sizeOf(file) % page_size !== 0 && sizeOf(`${file}-wal`) === 0) throw damaged(file)
  if (sizeOf(file) > CHECK_AT_START_MAX_BYTES) return
  const [first] = reader.query<{ quick_check: string }, []>('PRAGMA quick_check(1)').all()
  if (first?.quick_check !== 'ok') throw damaged(file)
}

function loadMasterKey(file: string): Buffer {
  if (!existsSync(file)) {
    throw new StartRefusal(
      'key_missing',
      `${file} is missing, and without it the database cannot be read; put the key back from your safe copy`,
    )
  }
  if (process.platform !== 'win32' && statSync(file).mode & 0o077) {
    throw new StartRefusal('key_readable_by_others', `${file} can be read by others; run: chmod 600 ${file}`)
  }
  const key = readFileSync(file)
  if (key.length !== KEY_BYTES)
    throw new StartRefusal('key_wrong', `${file} is not a ${KEY_BYTES} byte key; put the right one back`)
  return key
}

function writeMasterKey(file: string, random: Random): void {
  // Left by a first start that was killed here.
  rmSync(`${file}.new`, { force: true })
  const handle = openSync(`${file}.new`, 'wx', 0o600)
  writeSync(handle, random(KEY_BYTES))
  fsyncSync(handle)
  closeSync(handle)
  renameSync(`${file}.new`, file)
}

/** As a first start leaves it that was killed early. */
const isEmpty = (reader: Database): boolean => reader.query('SELECT 1 FROM sqlite_schema').get() === null

/** Then there was a root key, and a new one would not open what the lost one closed. */
const hasSealed = (reader: Database): boolean =>
  reader.query('SELECT 1 FROM audit_records UNION ALL SELECT 1 FROM signing_keys LIMIT 1').get() !== null

/**
 * Rows are sealed under a root key that is kept here wrapped by the master key: a wrong master key shows at once, and a new one needs only
 * this value wrapped again.
 */
const ROOT_KEY: Place = {
  tenant: '',
  table: 'installation',
  column: 'value',
  row: 'root_key',
  salt: Buffer.from('root_key'),
}

function ensureRootKey(writer: Database, wrapper: Sealer, random: Random): Buffer {
  if (!findRootKey(writer)) {
    const wrapped = wrapper.seal(ROOT_KEY, Buffer.from(random(KEY_BYTES)).toString('base64'))
    writer.query("INSERT INTO installation (name, value) VALUES ('root_key', ?) ON CONFLICT (name) DO NOTHING").run(wrapped)
  }
  return openRootKey(wrapper, findRootKey(writer))!
}

const findRootKey = (sqlite: Database): Uint8Array | undefined =>
  sqlite.query<{ value: Uint8Array }, []>("SELECT value FROM installation WHERE name = 'root_key'").get()?.value

function openRootKey(wrapper: Sealer, wrapped: Uint8Array | undefined): Buffer | undefined {
  try {
    return wrapped && Buffer.from(wrapper.open(ROOT_KEY, wrapped), 'base64')
  } catch (error) {
    throw new StartRefusal('key_wrong', 'master.key does not belong to this database; put the right one back', error)
  }
}

/** A clock set back would revive expired keys and spent quota. What the audit chain has seen is the measure. */
function refuseClockFarBehind(reader: Database, now: number): void {
  const last = reader.query<{ at: number }, []>('SELECT at FROM audit_records ORDER BY seq DESC LIMIT 1').get()
  if (last && last.at - now > CLOCK_BEHIND_MAX_MS) {
    throw new StartRefusal(
      'clock_behind',
      `the clock says ${new Date(now).toISOString()}, but the last record is later; set the clock right`,
    )
  }
}
