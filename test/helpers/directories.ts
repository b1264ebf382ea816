import { Database } from 'bun:sqlite'
import { cpSync, existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryDir } from './app.ts'

export function copyOf(dir: string): string {
  const copy = temporaryDir()
  cpSync(dir, copy, { recursive: true, preserveTimestamps: true })
  return copy
}

/** SHA-256 of every file. Left out are shared memory (an index of the log), lock files (always empty) and an empty log. */
export function contentOf(dir: string): Record<string, string> {
  const content: Record<string, string> = {}
  for (const entry of readdirSync(dir, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (!entry.isFile() || /-shm$|\.lock$/.test(path) || (path.endsWith('-wal') && statSync(path).size === 0)) continue
    content[path.slice(dir.length + 1)] = new Bun.CryptoHasher('sha256').update(readFileSync(path)).digest('hex')
  }
  return content
}

export const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8)

/** The first column of the first row. */
export function one(file: string, sql: string, ...values: (string | number)[]): unknown {
  // A copy in WAL mode needs its shared memory: not read-only.
  const sqlite = new Database(file)
  try {
    sqlite.run('PRAGMA busy_timeout = 5000')
    const row = sqlite.query<Record<string, unknown>, (string | number)[]>(sql).get(...values)
    return row === null ? undefined : Object.values(row)[0]
  } finally {
    sqlite.close()
  }
}

/** Facts about a database at rest; SOUND is what they must be: no damage, no dangling row, usage and audit chain complete. */
export function invariantsOf(file: string): Record<string, unknown> {
  const sessions = Number(one(file, 'SELECT count(*) FROM verification_sessions'))
  const records = (action: string) => Number(one(file, 'SELECT count(*) FROM audit_records WHERE action = ?', action))
  return {
    integrity: one(file, 'PRAGMA integrity_check'),
    dangling: one(file, 'PRAGMA foreign_key_check'),
    missing: records('verification.created') - records('verification.erased') - sessions,
    uncharged:
      Number(one(file, 'SELECT coalesce(sum(verifications_created), 0) FROM usage_days')) - records('verification.created'),
    gaps: Number(one(file, 'SELECT count(*) - coalesce(max(seq), 0) FROM audit_records')),
  }
}

export const SOUND = { integrity: 'ok', dangling: undefined, missing: 0, uncharged: 0, gaps: 0 }

export const namesIn = (folder: string): string[] => (existsSync(folder) ? readdirSync(folder).sort() : [])
