// Copies of the database: one complete file without a log, for its owner only.
import { Database } from 'bun:sqlite'
import { closeSync, openSync, readSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { eq } from 'drizzle-orm'
import type { Random } from '../../base/ids.ts'
import { databaseFile, sizeOf } from '../database-file.ts'
import type { Db } from '../engine.ts'
import { damaged } from '../file-refusal.ts'
import { makeBackupsFolder, publish } from '../files.ts'
import { holdPart } from '../part-file.ts'
import { installation } from '../schema/installation.ts'
import { countApplied, MIGRATIONS } from './migrate.ts'
import { openReader } from './storage.ts'

export const APPLICATION_ID = 0x56494449 // "VIDI" in the file's header

/**
 * Copies the source as of one moment while others write. Erased rows are not in the copy: free pages are left out. Nor are
 * portraits: they wait for minutes, and a copy is kept for weeks.
 */
export function writeSnapshot(source: string, part: string, takenAt: number): void {
  rmSync(part, { force: true })
  // Created first, for its mode; SQLite accepts an empty file as new.
  closeSync(openSync(part, 'wx', 0o600))
  const reader = openReader(source)
  try {
    // The copy inherits this: otherwise rows that moved during the copy would remain on their old
    // pages and survive their erasure.
    reader.run('PRAGMA secure_delete = ON')
    reader.query('VACUUM INTO ?').run(part)
  } finally {
    reader.close()
  }
  stamp(part, takenAt)
}

/** The time is in the file: the file's own timestamps change when it is copied. */
function stamp(part: string, takenAt: number): void {
  const sqlite = new Database(part)
  try {
    // A partial copy is discarded, so nothing here must survive a kill.
    sqlite.run('PRAGMA journal_mode = MEMORY')
    sqlite.run('PRAGMA secure_delete = ON')
    sqlite.run('DELETE FROM portraits')
    sqlite
      .query("INSERT OR REPLACE INTO installation (name, value) VALUES ('snapshot_taken_at', ?)")
      .run(Buffer.from(String(takenAt)))
  } finally {
    sqlite.close()
  }
}

/** The start of the copy; undefined for a database that is not a copy. */
export function takenAtOf(reader: Database): number | undefined {
  const row = reader.query<{ value: Uint8Array }, []>("SELECT value FROM installation WHERE name = 'snapshot_taken_at'").get()
  return row ? Number(Buffer.from(row.value).toString()) : undefined
}

/** A restored copy is a database of its own. */
export async function forgetSnapshotTime(tx: Db): Promise<void> {
  await tx.delete(installation).where(eq(installation.name, 'snapshot_taken_at'))
}

/** The way back from a migration: the earlier program opens this file. */
export function snapshotBefore(dir: string, applied: number, { takenAt, random }: { takenAt: number; random: Random }): void {
  const target = join(makeBackupsFolder(dir), `before-${MIGRATIONS[applied]![0]}.db`)
  const { part, release } = holdPart(target, random)
  try {
    writeSnapshot(databaseFile(dir), part, takenAt)
    if (!isSound(part)) throw damaged(databaseFile(dir))
    // Another process may have migrated first, and keeps its own copy.
    if (withReader(part, countApplied) === applied) publish(part, target)
  } finally {
    rmSync(part, { force: true })
    release()
  }
}

/** Reads every page, every index and every reference. */
export function isSound(file: string): boolean {
  if (!isOurs(file)) return false
  try {
    return withReader(file, reader => isWhole(reader, file))
  } catch (error) {
    if (/^SQLITE_/.test(String((error as { code?: unknown }).code))) return false
    throw error
  }
}

function isWhole(reader: Database, file: string): boolean {
  if (isCutOff(reader, file)) return false
  const [first] = reader.query<{ integrity_check: string }, []>('PRAGMA integrity_check(1)').all()
  return first?.integrity_check === 'ok' && reader.query('PRAGMA foreign_key_check').get() === null
}

export function withReader<T>(file: string, read: (reader: Database) => T): T {
  const reader = openReader(file)
  try {
    return read(reader)
  } finally {
    reader.close()
  }
}

export function isOurs(file: string): boolean {
  if (sizeOf(file) === 0) return false
  const header = Buffer.alloc(72)
  const handle = openSync(file, 'r')
  readSync(handle, header, 0, header.length, 0)
  closeSync(handle)
  return header.toString('latin1', 0, 16) === 'SQLite format 3\0' && header.readUInt32BE(68) === APPLICATION_ID
}

/** SQLite reads the missing end of the last page as zeros. With a log, an interrupted checkpoint is repeated. */
export function isCutOff(reader: Database, file: string): boolean {
  const { page_size } = reader.query<{ page_size: number }, []>('PRAGMA page_size').get()!
  return sizeOf(file) % page_size !== 0 && sizeOf(`${file}-wal`) === 0
}
