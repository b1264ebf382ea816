import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The names of a directory's files that hold these bytes: database, log, shared memory, whatever is there. */
export function filesContaining(dir: string, needle: string | Uint8Array): string[] {
  if (needle.length < 4) throw new Error('too short to mean anything')
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && readFileSync(join(entry.parentPath, entry.name)).includes(needle))
    .map(({ name }) => name)
}
