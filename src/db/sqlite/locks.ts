// Locks on the data directory: commands run beside each other and beside one server; a restore runs alone. They are SQLite locks
// on an empty file, which the system releases when the process ends, however it ends.
import { Database } from 'bun:sqlite'
import { chmodSync, closeSync, existsSync, openSync, realpathSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { unusable } from '../file-refusal.ts'
import { giveToOwner } from '../files.ts'
import { StartRefusal } from '../refusal.ts'
import { networkFileSystemOf } from './network-files.ts'
import { BUSY_TIMEOUT_MS } from './storage.ts'

type Hold = 'command' | 'server' | 'upgrade' | 'alone'

/** Returns the function that releases the lock. */
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

/** Takes the lock for a moment: a server that starts right then is refused. */
export function isServerRunning(dir: string): boolean {
  try {
    holdDirectory(dir, 'server')()
    return false
  } catch (error) {
    if (error instanceof StartRefusal && error.reason === 'directory_in_use') return true
    throw error
  }
}

/** Makes a file and holds it while this process lives. Returns the function that removes it; undefined when it cannot be held. */
export function holdFile(file: string): (() => void) | undefined {
  closeSync(openSync(file, 'wx', 0o600))
  const release = takeFile(file)
  // Another process may have removed the file as left over before it was locked.
  if (release && existsSync(file)) return release
  release?.()
  rmSync(file, { force: true })
  return undefined
}

/** True for a file that no process holds, which is then removed, and for one that does not exist. */
export function removeUnheld(file: string): boolean {
  if (!existsSync(file)) return true
  const release = takeFile(file)
  release?.()
  return release !== undefined
}

/** Undefined also for a file of another user, and where the file system has no locks. */
function takeFile(file: string): (() => void) | undefined {
  let lock: Database | undefined
  try {
    lock = new Database(file, { readwrite: true, create: false })
    take(lock, 0, ['BEGIN EXCLUSIVE'], `${file} is held`)
  } catch {
    lock?.close()
    return undefined
  }
  const held = lock
  return () => {
    rmSync(file, { force: true })
    held.close()
  }
}

/**
 * An existing file is never opened here: closing it would release the locks of this process
 * (fcntl(2), "Advisory record locking").
 */
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
    // Commands are short. A server may start between the two locks, and is then refused below.
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
