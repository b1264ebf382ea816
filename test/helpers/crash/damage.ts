// Data directories that a service must refuse to start on, and what a refusal must look like: one line, its own exit code, and not one byte changed.
import { Database } from 'bun:sqlite'
import { chmodSync, existsSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { REFUSALS } from '../../../src/db/refusal.ts'
import { temporaryDir } from '../app.ts'
import { contentOf, copyOf } from '../directories.ts'
import { PROGRAM } from '../program.ts'
import type { Seeded } from '../seeded.ts'

export type Reason = keyof typeof REFUSALS

/** Gives a copy of a good directory, damaged. */
type Damage = { reason: Reason; remedy: string; make: (dir: string, random: Seeded) => string }

/** The first byte of a tree's page. The rest of a long row has no form to check: the sealed issuer of the sandbox fails when it is read. */
const TREE_PAGES = [2, 5, 10, 13]
const HEADER_BYTES = 100

const DAMAGED = { reason: 'database_damaged', remedy: 'put a backup in its place' } as const

export const DAMAGES: Record<string, Damage> = {
  'garbage where the header was': {
    ...DAMAGED,
    make: (dir, { bytes }) => inCopy(dir, copy => writeAt(fileOf(copy), 0, bytes(100))),
  },
  'a zeroed page': {
    ...DAMAGED,
    make: (dir, { below }) =>
      inCopy(dir, copy => {
        const size = pageSizeOf(copy)
        const pages = statSync(fileOf(copy)).size / size
        const inLog = pagesInLog(copy)
        const content = readFileSync(fileOf(copy))
        const isTree = (page: number) => TREE_PAGES.includes(content[page === 1 ? HEADER_BYTES : (page - 1) * size]!)
        let page = 1 + below(pages)
        while (inLog.has(page) || !isTree(page)) page = 1 + (page % pages)
        writeAt(fileOf(copy), (page - 1) * size, new Uint8Array(size))
      }),
  },
  'a truncated file': {
    ...DAMAGED,
    make: (dir, { below }) => inCopy(dir, copy => truncateSync(fileOf(copy), 1 + below(Math.floor(sizeOf(fileOf(copy)) / 2)))),
  },
  'the database of another program': { reason: 'database_damaged', remedy: 'not ours', make: () => foreignDatabases()[0] },
  'the database of another program, with its log': {
    reason: 'database_damaged',
    remedy: 'not ours',
    make: () => foreignDatabases()[1],
  },
  'one that a newer version has migrated': {
    reason: 'schema_newer',
    remedy: 'start that version, or restore a backup',
    make: dir => copyWith(dir, sqlite => sqlite.run("INSERT INTO schema_migrations VALUES ('9999_future', 'x', 1)")),
  },
  'the key of another installation': {
    reason: 'key_wrong',
    remedy: 'put the right one back',
    make: (dir, { bytes }) => inCopy(dir, copy => writeFileSync(keyOf(copy), bytes(32))),
  },
  'a key that others can read': {
    reason: 'key_readable_by_others',
    remedy: 'chmod 600',
    make: dir => inCopy(dir, copy => chmodSync(keyOf(copy), 0o644)),
  },
}

function inCopy(dir: string, damage: (copy: string) => void): string {
  const copy = copyOf(dir)
  damage(copy)
  return copy
}

/** A directory that was closed, and a copy from before that, with rows in its log only. */
function foreignDatabases(): [closed: string, open: string] {
  const dir = temporaryDir()
  const foreign = new Database(fileOf(dir))
  foreign.run('PRAGMA journal_mode = WAL')
  foreign.run('CREATE TABLE bookmarks (url TEXT)')
  foreign.run('PRAGMA wal_checkpoint(TRUNCATE)')
  foreign.run("INSERT INTO bookmarks VALUES ('https://example.org')")
  const copy = copyOf(dir)
  foreign.close()
  if (sizeOf(logOf(copy)) === 0) throw new Error('nothing is left in the log')
  return [dir, copy]
}

/** Problems of a refusal; empty when the start is refused as it should be. */
export async function problemsOfRefusal(dir: string, reason: Reason, remedy: string): Promise<string[]> {
  const before = contentOf(dir)
  const { exitCode, stdout, stderr } = await startOn(dir)
  return [
    ...(exitCode === REFUSALS[reason] ? [] : [`it ended with ${exitCode}, not ${REFUSALS[reason]}: ${stderr}`]),
    ...(stdout === '' ? [] : [`it wrote to standard output: ${stdout}`]),
    ...(/^vidimus: [^\n]+\n$/.test(stderr) && stderr.includes(remedy) ? [] : [`it does not say what to do: ${stderr}`]),
    ...(/\bat .*:\d+|Error:|SQLiteError/.test(stderr) ? [`it shows its insides: ${stderr}`] : []),
    ...(Bun.deepEquals(contentOf(dir), before) ? [] : ['a file was changed']),
  ]
}

export type Ended = { exitCode: number | 'it started'; stdout: string; stderr: string }

/** The end of a start that is to be refused or, after so long, killed. One that goes well is killed, too. */
export async function startOn(dir: string, killAfterMs?: number, under: string[] = []): Promise<Ended> {
  const child = Bun.spawn([...under, PROGRAM, 'serve', '--json'], {
    env: { PATH: process.env.PATH ?? '', PORT: '0', VIDIMUS_DATA_DIR: dir },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const timer = killAfterMs === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), killAfterMs)
  let stdout = ''
  let isRunning = false
  for await (const chunk of child.stdout) {
    stdout += new TextDecoder().decode(chunk)
    isRunning = true
    child.kill('SIGKILL')
  }
  const exitCode = await child.exited
  clearTimeout(timer)
  return { exitCode: isRunning ? 'it started' : exitCode, stdout, stderr: await new Response(child.stderr).text() }
}

/** Changes rows of a copy, and leaves them in its log: closing the connection would move them into the file. */
export function copyWith(dir: string, change: (sqlite: Database) => void): string {
  const source = copyOf(dir)
  const sqlite = new Database(fileOf(source))
  sqlite.run('PRAGMA wal_autocheckpoint = 0')
  change(sqlite)
  const copy = copyOf(source)
  sqlite.close()
  if (sizeOf(logOf(copy)) === 0) throw new Error('nothing is left in the log')
  return copy
}

export function writeAt(file: string, offset: number, bytes: Uint8Array): void {
  const content = readFileSync(file)
  content.set(bytes, offset)
  writeFileSync(file, content)
}

/** A page in the log hides the file's own page. */
function pagesInLog(dir: string): Set<number> {
  const log = sizeOf(logOf(dir)) > 0 ? readFileSync(logOf(dir)) : Buffer.alloc(0)
  const frame = 24 + pageSizeOf(dir)
  const pages = new Set<number>()
  for (let offset = 32; offset + frame <= log.length; offset += frame) pages.add(log.readUInt32BE(offset))
  return pages
}

export const pageSizeOf = (dir: string): number => readFileSync(fileOf(dir)).readUInt16BE(16)

export const fileOf = (dir: string) => join(dir, 'vidimus.db')
export const logOf = (dir: string) => join(dir, 'vidimus.db-wal')
export const keyOf = (dir: string) => join(dir, 'master.key')
export const sizeOf = (path: string) => (existsSync(path) ? statSync(path).size : 0)
