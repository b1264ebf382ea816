import { closeSync, existsSync, fsyncSync, lchownSync, mkdirSync, openSync, renameSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'

export const databaseFile = (dir: string): string => join(dir, 'vidimus.db')

export const keyFileOf = (dir: string): string => join(dir, 'master.key')

export const backupsFolder = (dir: string): string => join(dir, 'backups')

export function makeBackupsFolder(dir: string): string {
  const folder = backupsFolder(dir)
  if (mkdirSync(folder, { recursive: true, mode: 0o700 })) giveToOwner(folder)
  return folder
}

export const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0

/** An instant as it stands in the name of a file: 20260304T120000Z. */
export const stampOf = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19).replace(/[-:]/g, '')}Z`

/**
 * What root makes for a service of another user is that user's: it gets the owner of the file it replaces, or of the directory it is in. Links
 * are not followed, since that user may put them there. A file system that knows no owners needs none.
 */
export function giveToOwner(path: string, replaced = ''): void {
  if (process.getuid?.() !== 0) return
  try {
    const { uid, gid } = statSync(existsSync(replaced) ? replaced : dirname(path))
    lchownSync(path, uid, gid)
  } catch {
    // Whoever cannot use it is told which file it is (db/refusal.ts).
  }
}

/** Gives a finished file its name, so that after a power cut there is either the whole file or none. */
export function publish(part: string, target: string): void {
  syncFile(part)
  renameSync(part, target)
  syncDirectory(dirname(target))
}

export function syncFile(file: string): void {
  const handle = openSync(file, 'r+')
  fsyncSync(handle)
  closeSync(handle)
}

/** The names in a directory are durable only then. Windows has no such call, and needs none. */
export function syncDirectory(dir: string): void {
  if (process.platform === 'win32') return
  const handle = openSync(dir, 'r')
  fsyncSync(handle)
  closeSync(handle)
}
