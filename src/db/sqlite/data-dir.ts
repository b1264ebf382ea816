// Opens the data directory, or refuses it. A refusal changes no byte and says in one line what to do.

import { Database } from 'bun:sqlite'
import { accessSync, chmodSync, closeSync, constants, existsSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Random } from '../../base/ids.ts'
import { createSealer, type Sealer } from '../../base/seal.ts'
import { databaseFile, sizeOf } from '../database-file.ts'
import { damaged, refusalFrom, refuseReadOnly } from '../file-refusal.ts'
import { giveToOwner } from '../files.ts'
import { OlderDatabase, StartRefusal } from '../refusal.ts'
import { createKey, findWrapper, loadMasterKey, type MasterKey, makeDirectory } from '../root-key.ts'
import { ensureRootKey, findRootKey, refuseMoved } from './installation.ts'
import { holdDirectory } from './locks.ts'
import { lostDatabase } from './lost-database.ts'
import { countApplied, MIGRATIONS, migrate } from './migrate.ts'
import { finishReplacing, isReplacing } from './replace.ts'
import { APPLICATION_ID, isCutOff, isOurs, snapshotBefore } from './snapshot.ts'
import { BUSY_TIMEOUT_MS, openReader, openWriter } from './storage.ts'

const SQLITE_MINIMUM = [3, 51, 3] // earlier ones can corrupt a WAL database when a reset races a checkpoint
const CHECK_AT_START_MAX_BYTES = 256 * 1024 * 1024
const CLOCK_BEHIND_MAX_MS = 24 * 3_600_000

export type DataDir = {
  writer: Database
  reader: Database
  sealer: Sealer
  unlock: () => void
  isNew: boolean
  /** The latest time known to have been shown here, if the clock is behind it by no more than a start allows. */
  shownAt: number
  /** Migrations applied to an older database just now. */
  upgraded: string[]
}

/** Only a server and an upgrade migrate an older database. */
export type Role = 'server' | 'command' | 'upgrade'
type Options = { dir: string; masterKey: MasterKey; now: number; random: Random; role: Role }

export function openDataDir({ dir, masterKey, now, random, role }: Options): DataDir {
  refuseOldSqlite()
  const file = databaseFile(dir)
  makeDirectory(dir)
  refuseReadOnly(dir)
  const unlock = enter(dir, role)
  let writer: Database | undefined
  try {
    const isNew = isAbsent(file)
    if (isNew) {
      refuseLost(dir, file)
      refuseMissing(masterKey)
      createDatabase(file, masterKey.file, random)
    }
    const { wrapper, applied, shownAt } = inspect(file, reader => lookInto(reader, { dir, masterKey, file, now, random, role }))
    // SQLite opens a file that may only be read, and fails at the first write.
    accessSync(file, constants.W_OK)
    const isOlder = applied > 0 && applied < MIGRATIONS.length
    if (isOlder && role === 'command') throw new OlderDatabase()
    const upgraded = isOlder ? upgrade({ dir, applied, now, random }) : []
    writer = openWriter(file)
    migrate(writer, now)
    const sealer = createSealer(ensureRootKey(writer, wrapper, random), random)
    return { writer, reader: openReader(file), sealer, unlock, isNew, shownAt, upgraded }
  } catch (error) {
    writer?.close()
    unlock()
    throw refusalFrom(error, dir, file)
  }
}

/** A restore that was killed at its very end is finished first. */
export function enter(dir: string, role: Role): () => void {
  const unlock = holdDirectory(dir, role)
  if (!isReplacing(dir)) return unlock
  unlock()
  const release = holdDirectory(dir, 'alone')
  try {
    finishReplacing(dir)
  } finally {
    release()
  }
  return enter(dir, role)
}

type Upgrade = Pick<Options, 'dir' | 'now' | 'random'> & { applied: number }

function upgrade({ dir, applied, now, random }: Upgrade): string[] {
  snapshotBefore(dir, applied, { takenAt: now, random })
  const writer = openWriter(databaseFile(dir))
  try {
    return migrate(writer, now)
  } finally {
    writer.close()
  }
}

function lookInto(reader: Database, { masterKey, file, now, random, role }: Options & { file: string }) {
  refuseDamaged(reader, file, role)
  const applied = isEmpty(reader) ? 0 : countApplied(reader)
  const wrapped = applied === 0 ? undefined : findRootKey(reader)
  const wrapper = wrapped ? findWrapper(masterKey, wrapped, random) : createSealer(loadMasterKey(masterKey), random)
  if (applied > 0) {
    refuseMoved(reader)
    if (!wrapped && hasSealed(reader)) throw damaged(file)
    refuseClockFarBehind(reader, now)
  }
  return { wrapper, applied, shownAt: applied > 0 ? lastShown(reader, now) : now }
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

/** An empty file with a log is not new: it has lost its content, and opening it would discard the log too. */
const isAbsent = (file: string): boolean => sizeOf(file) === 0 && sizeOf(`${file}-wal`) === 0

/** Checked again: a server that starts right now creates its database before its first backup. */
function refuseLost(dir: string, file: string): void {
  const lost = lostDatabase(dir)
  if (lost && isAbsent(file)) throw lost
}

/** A key that the operator names is never made here. */
function refuseMissing({ file, isGiven }: MasterKey): void {
  if (isGiven && !existsSync(file))
    throw new StartRefusal('key_missing', `${file} is missing; make it: (umask 077; head -c 32 /dev/urandom > ${file})`)
}

/**
 * First start: master key, then database, both under the lock of the still empty file, because a
 * command and the server may start at once. After a kill in between the file is still empty, and
 * the next start begins again.
 */
function createDatabase(file: string, keyFile: string, random: Random): void {
  closeSync(openSync(file, 'a', 0o600))
  chmodSync(file, 0o600)
  giveToOwner(file)
  const sqlite = new Database(file)
  try {
    sqlite.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`)
    sqlite.run('BEGIN EXCLUSIVE')
    if (!existsSync(keyFile)) createKey(keyFile, random, dirname(file))
    sqlite.run(`PRAGMA application_id = ${APPLICATION_ID}`)
    sqlite.run('COMMIT')
  } finally {
    sqlite.close()
  }
}

/** Read-only: a refused database must stay as it is, including its log. */
export function inspect<T>(file: string, look: (reader: Database) => T): T {
  if (!isOurs(file)) throw damaged(file)
  rollBack(file)
  const reader = openReader(file)
  try {
    return look(reader)
  } catch (error) {
    // A table or column is missing.
    throw (error as { code?: unknown }).code === 'SQLITE_ERROR' ? damaged(file, error) : error
  } finally {
    reader.close()
  }
}

/** A kill amid the switch to the log, or amid a restore, leaves a journal, which only a connection that may write can roll back. */
function rollBack(file: string): void {
  if (sizeOf(`${file}-journal`) === 0) return
  const sqlite = new Database(file, { readwrite: true })
  try {
    sqlite.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`)
    sqlite.query('SELECT 1 FROM sqlite_schema').get()
  } finally {
    sqlite.close()
  }
}

/** Large files are not checked at every start: that reads every page. */
function refuseDamaged(reader: Database, file: string, role: Role): void {
  if (role === 'command') return
  if (isCutOff(reader, file)) throw damaged(file)
  if (sizeOf(file) > CHECK_AT_START_MAX_BYTES) return
  const [first] = reader.query<{ quick_check: string }, []>('PRAGMA quick_check(1)').all()
  if (first?.quick_check !== 'ok') throw damaged(file)
}

/** A first start that was killed early leaves this. */
const isEmpty = (reader: Database): boolean => reader.query('SELECT 1 FROM sqlite_schema').get() === null

/** Sealed rows prove that there was a root key; a new one could not open them. */
const hasSealed = (reader: Database): boolean =>
  reader.query('SELECT 1 FROM audit_records UNION ALL SELECT 1 FROM signing_keys LIMIT 1').get() !== null

/** A clock set back would revive expired keys and spent quota. The audit chain is the reference. */
function refuseClockFarBehind(reader: Database, now: number): void {
  const last = lastRecordedAt(reader)
  if (last - now > CLOCK_BEHIND_MAX_MS) {
    throw new StartRefusal(
      'clock_behind',
      `the clock says ${new Date(now).toISOString()}, but the last record is later; set the clock right`,
    )
  }
}

const lastRecordedAt = (reader: Database): number =>
  reader.query<{ at: number }, []>('SELECT at FROM audit_records ORDER BY seq DESC LIMIT 1').get()?.at ?? 0

/** A heartbeat further ahead comes from a clock that was wrong for a while; nothing was recorded then, so it is ignored. */
function lastShown(reader: Database, now: number): number {
  const beat = reader.query<{ value: Uint8Array }, []>("SELECT value FROM installation WHERE name = 'heartbeat'").get()
  const beatAt = Number(beat ? Buffer.from(beat.value).toString() : 0)
  return Math.max(lastRecordedAt(reader), beatAt - now > CLOCK_BEHIND_MAX_MS ? 0 : beatAt)
}
