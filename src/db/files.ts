// Files of the data directory beside the database, and how they are written durably.
import {
  closeSync,
  existsSync,
  fsyncSync,
  lchownSync,
  linkSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { dirname, join } from 'node:path'

export const backupsFolder = (dir: string): string => join(dir, 'backups')

export function makeBackupsFolder(dir: string): string {
  const folder = backupsFolder(dir)
  if (mkdirSync(folder, { recursive: true, mode: 0o700 })) giveToOwner(folder)
  return folder
}

/**
 * A file that root makes for a service of another user gets the owner of the file it replaces, or of its directory.
 * Links are not followed, because that user may have put them there.
 */
export function giveToOwner(path: string, replaced = ''): void {
  if (process.getuid?.() !== 0) return
  try {
    const { uid, gid } = statSync(existsSync(replaced) ? replaced : dirname(path))
    lchownSync(path, uid, gid)
  } catch {
    // A file system without owners needs none. A service that cannot open the file names it (file-refusal.ts).
  }
}

/** Renames a finished file, so that after a power cut there is either the whole file or none. */
export function publish(part: string, target: string, { mayReplace = true } = {}): void {
  syncFile(part)
  if (mayReplace) renameSync(part, target)
  else renameNew(part, target)
  syncDirectory(dirname(target))
}

/** A target that appeared while the part was written stays: EEXIST. */
function renameNew(part: string, target: string): void {
  try {
    linkSync(part, target)
  } catch (error) {
    if ((error as { code?: string }).code === 'EEXIST') throw error
    renameWithoutLinks(part, target)
  }
  rmSync(part, { force: true })
}

/** For the FAT of a stick, which has no links: an empty file takes the name first. */
function renameWithoutLinks(part: string, target: string): void {
  closeSync(openSync(target, 'wx', 0o600))
  try {
    renameSync(part, target)
  } catch (error) {
    rmSync(target)
    throw error
  }
}

function syncFile(file: string): void {
  const handle = openSync(file, 'r+')
  fsyncSync(handle)
  closeSync(handle)
}

/** File names are durable only after this. Windows has no such call and needs none. */
export function syncDirectory(dir: string): void {
  if (process.platform === 'win32') return
  const handle = openSync(dir, 'r')
  fsyncSync(handle)
  closeSync(handle)
}
