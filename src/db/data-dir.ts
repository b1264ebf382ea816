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
  statSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import type { Random } from '../ids.ts'
import { createSealer, type Place, type Sealer } from '../seal.ts'
import { MigrationError, migrate, refuseNewer } from './migrate.ts'
import { openReader, openWriter } from './sqlite.ts'

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
  makeDirectory(dir)
  const unlock = role === 'server' ? lockForServer(dir) : () => {}
  let writer: Database | undefined
  try {
    const isNew = !existsSync(file) || statSync(file).size === 0
    if (!isNew) inspect(file, role)
    const masterKey = loadMasterKey(join(dir, 'master.key'), isNew, random)
    if (isNew) createDatabase(file)
    writer = openWriter(file)
    migrate(writer, now)
    const sealer = unwrapRootKey(writer, masterKey, random)
    refuseClockFarBehind(writer, now)
    return { writer, reader: openReader(file), sealer, unlock, isNew }
  } catch (error) {
    writer?.close()
    unlock()
    throw error
  }
}

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
    throw new StartRefusal(
      'directory_unusable',
      `cannot make ${dir}; choose another with VIDIMUS_DATA_DIR or mend its permissions`,
      error,
    )
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
    if ((error as { code?: string }).code !== 'SQLITE_BUSY') {
      throw new StartRefusal(
        'directory_unusable',
        `cannot write in ${dir}; choose another with VIDIMUS_DATA_DIR or mend its permissions`,
        error,
      )
    }
    throw new StartRefusal('directory_in_use', `another server uses ${dir}; stop it, or give this one its own VIDIMUS_DATA_DIR`)
  }
  const held = lock
  return () => held.close()
}

/** Through a read-only connection: what is refused must stay as it is, its log included. */
function inspect(file: string, role: Options['role']): void {
  if (!isOurs(file)) throw damaged(file)
  let reader: Database | undefined
  try {
    reader = openReader(file)
    // Large files are not read through at every start: that costs a pass over every page.
    if (role === 'server' && statSync(file).size <= CHECK_AT_START_MAX_BYTES) {
      const [first] = reader.query<{ quick_check: string }, []>('PRAGMA quick_check(1)').all()
      if (first?.quick_check !== 'ok') throw damaged(file)
    }
    refuseNewer(reader)
  } catch (error) {
    if (error instanceof StartRefusal) throw error
    if (error instanceof MigrationError) {
      throw new StartRefusal('schema_newer', `${error.message}; start that version, or restore a backup made by this one`)
    }
    throw damaged(file, error)
  } finally {
    reader?.close()
  }
}

function isOurs(file: string): boolean {
  const header = Buffer.alloc(72)
  const handle = openSync(file, 'r')
  readSync(handle, header, 0, header.length, 0)
  closeSync(handle)
  return header.toString('latin1', 0, 16) === 'SQLite format 3\0' && header.readUInt32BE(68) === APPLICATION_ID
}

const damaged = (file: string, cause?: unknown) =>
  new StartRefusal('database_damaged', `${file} is damaged or not ours; it was left as it is: put a backup in its place`, cause)

function createDatabase(file: string): void {
  const sqlite = new Database(file, { create: true })
  // Before the log exists, so that the mark is in the file itself.
  sqlite.run(`PRAGMA application_id = ${APPLICATION_ID}`)
  sqlite.close()
  chmodSync(file, 0o600)
}

function loadMasterKey(file: string, mayCreate: boolean, random: Random): Buffer {
  if (!existsSync(file)) {
    if (!mayCreate) {
      throw new StartRefusal(
        'key_missing',
        `${file} is missing, and without it the database cannot be read; put the key back from your safe copy`,
      )
    }
    return writeMasterKey(file, random)
  }
  if (process.platform !== 'win32' && statSync(file).mode & 0o077) {
    throw new StartRefusal('key_readable_by_others', `${file} can be read by others; run: chmod 600 ${file}`)
  }
  const key = readFileSync(file)
  if (key.length !== KEY_BYTES)
    throw new StartRefusal('key_wrong', `${file} is not a ${KEY_BYTES} byte key; put the right one back`)
  return key
}

function writeMasterKey(file: string, random: Random): Buffer {
  const key = Buffer.from(random(KEY_BYTES))
  const handle = openSync(`${file}.new`, 'wx', 0o600)
  writeSync(handle, key)
  fsyncSync(handle)
  closeSync(handle)
  renameSync(`${file}.new`, file)
  return key
}

/**
 * Rows are sealed under a root key that is kept here wrapped by the master key: a wrong master key shows at once, and a new one needs only
 * this value wrapped again.
 */
function unwrapRootKey(writer: Database, masterKey: Buffer, random: Random): Sealer {
  const wrapper = createSealer(masterKey, random)
  const place: Place = { tenant: '', table: 'installation', column: 'value', row: 'root_key', salt: Buffer.from('root_key') }
  const stored = () => writer.query<{ value: Uint8Array }, []>("SELECT value FROM installation WHERE name = 'root_key'").get()
  if (!stored()) {
    const wrapped = wrapper.seal(place, Buffer.from(random(KEY_BYTES)).toString('base64'))
    writer.query("INSERT INTO installation (name, value) VALUES ('root_key', ?) ON CONFLICT (name) DO NOTHING").run(wrapped)
  }
  try {
    return createSealer(Buffer.from(wrapper.open(place, stored()!.value), 'base64'), random)
  } catch (error) {
    throw new StartRefusal('key_wrong', 'master.key does not belong to this database; put the right one back', error)
  }
}

/** A clock set back would revive expired keys and spent quota. What the audit chain has seen is the measure. */
function refuseClockFarBehind(writer: Database, now: number): void {
  const last = writer.query<{ at: number }, []>('SELECT at FROM audit_records ORDER BY seq DESC LIMIT 1').get()
  if (last && last.at - now > CLOCK_BEHIND_MAX_MS) {
    throw new StartRefusal(
      'clock_behind',
      `the clock says ${new Date(now).toISOString()}, but the last record is later; set the clock right`,
    )
  }
}
