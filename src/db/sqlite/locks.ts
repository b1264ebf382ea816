// Who has the data directory: commands beside each other and beside one server, or one alone that replaces what is in it. Locks of SQLite on an
// empty file: the system releases them when the process dies, however it dies.
import { Database } from 'bun:sqlite'
import { chmodSync, closeSync, openSync, realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { giveToOwner } from '../files.ts'
import { StartRefusal } from '../refusal.ts'
import { networkFileSystemOf } from './network-files.ts'
import { unusable } from './refusal.ts'
import { BUSY_TIMEOUT_MS } from './storage.ts'

export type Hold = 'command' | 'server' | 'upgrade' | 'alone'

/** Gives what releases it. */
export function holdDirectory(dir: string, how: Hold): () => void {
  let lock: Database | undefined
  try {
    refuseNetwork(dir)
    const file = join(dir, 'server.lock')
    makeForOwner(file)
    lock = new Database(file)
    STEPS[how](lock, dir)
  } catch (error) {
    lock?.close()
    if (error instanceof StartRefusal) throw error
    throw unusable(dir, (error as { code?: string }).code ?? 'unknown', error)
  }
  const held = lock
  return () => held.close()
}

/** Asked by trying to be it, for a moment: a server that starts at that very moment is refused. */
export function isServerRunning(dir: string): boolean {
  try {
    holdDirectory(dir, 'server')()
    return false
  } catch (error) {
    if (error instanceof StartRefusal && error.reason === 'directory_in_use') return true
    throw error
  }
}

/** Never opened here when it is there: closing it again would release what this process holds of it (fcntl(2), "Advisory record locking"). */
function makeForOwner(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600))
    giveToOwner(file)
  } catch (error) {
    if ((error as { code?: string }).code !== 'EEXIST') throw error
    if (statSync(file).mode & 0o077) chmodSync(file, 0o600)
  }
}

function refuseNetwork(dir: string): void {
  const kind = networkFileSystemOf(realpathSync(dir))
  if (kind) {
    const remedy = 'choose one on a disk of this machine with VIDIMUS_DATA_DIR'
    throw new StartRefusal(
      'network_file_system',
      `${dir} is on a network file system (${kind}), which damages databases; ${remedy}`,
    )
  }
}

const STEPS: Record<Hold, (lock: Database, dir: string) => void> = {
  command(lock, dir) {
    take(lock, BUSY_TIMEOUT_MS, ['BEGIN', 'SELECT 1 FROM sqlite_schema'], `${dir} is being restored; try again when that is done`)
  },
  server(lock, dir) {
    take(lock, 0, ['BEGIN IMMEDIATE'], `another server uses ${dir}; stop it, or give this one its own VIDIMUS_DATA_DIR`)
  },
  upgrade(lock, dir) {
    take(lock, 0, ['BEGIN IMMEDIATE'], `a server uses ${dir}; stop it, and run this again`)
  },
  alone(lock, dir) {
    take(lock, 0, ['BEGIN IMMEDIATE'], `a server uses ${dir}; stop it, and run this again`)
    // Commands are short; between the two a server may come, and is then in the way.
    lock.run('ROLLBACK')
    take(lock, BUSY_TIMEOUT_MS, ['BEGIN EXCLUSIVE'], `another process uses ${dir}; wait until it is done, and run this again`)
  },
}

function take(lock: Database, patienceMs: number, statements: string[], refusal: string): void {
  try {
    lock.run(`PRAGMA busy_timeout = ${patienceMs}`)
    lock.run('PRAGMA journal_mode = MEMORY')
    for (const statement of statements) lock.query(statement).all()
  } catch (error) {
    if ((error as { code?: string }).code !== 'SQLITE_BUSY') throw error
    throw new StartRefusal('directory_in_use', refusal, error)
  }
}
