import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isOnPostgres, rowsOf } from './database.ts'

/**
 * The names of a directory's files that hold these bytes: database, log, shared memory, whatever is there. On PostgreSQL also
 * the names of the tables: its own files keep deleted rows for a while, and the service does not promise otherwise.
 */
export function filesContaining(dir: string, needle: string | Uint8Array): string[] {
  const files = onlyFilesContaining(dir, needle)
  return isOnPostgres ? [...files, ...tablesContaining(dir, Buffer.from(needle as Uint8Array))] : files
}

/** For a directory that is no data directory. */
export function onlyFilesContaining(dir: string, needle: string | Uint8Array): string[] {
  if (needle.length < 4) throw new Error('too short to mean anything')
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && readFileSync(join(entry.parentPath, entry.name)).includes(needle))
    .map(({ name }) => name)
}

function tablesContaining(dir: string, needle: Buffer): string[] {
  const names = rowsOf<{ name: string }>(dir, "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'")
  const text = needle.toString('utf8')
  const isText = !text.includes('\0') && Buffer.from(text).equals(needle)
  const found = names.map(
    ({ name }) => `SELECT '${name}' AS name FROM "${name}" AS t WHERE strpos(t::text, $1) > 0 OR strpos(t::text, $2) > 0`,
  )
  const hex = needle.toString('hex')
  return [...new Set(rowsOf<{ name: string }>(dir, found.join(' UNION ALL '), isText ? text : hex, hex).map(({ name }) => name))]
}
