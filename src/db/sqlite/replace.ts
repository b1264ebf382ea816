// Replaces the database. Once the new file is complete it gets a name that says so, and from then
// on every process that opens the directory finishes the rest: a kill at any point leaves the old
// database or the new one. The caller must hold the directory alone.
import { existsSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { databaseFile, sizeOf, stampOf } from '../database-file.ts'
import { giveToOwner, makeBackupsFolder, publish, syncDirectory } from '../files.ts'

/** The new database while it is prepared. */
export const preparedFile = (dir: string): string => `${databaseFile(dir)}.restoring`

const wholeFile = (dir: string): string => `${databaseFile(dir)}.restored`

export const isReplacing = (dir: string): boolean => existsSync(wholeFile(dir))

/** The new database may not have its name yet after a kill. */
export const hasDatabase = (dir: string): boolean => sizeOf(databaseFile(dir)) > 0 || isReplacing(dir)

export function discardPrepared(dir: string): void {
  for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(`${preparedFile(dir)}${suffix}`, { force: true })
}

/** Returns the name of the replaced database, which is kept with its log. */
export function replaceDatabase(dir: string): string | undefined {
  if (sizeOf(`${preparedFile(dir)}-wal`) > 0) throw new Error('the log of the new database is not empty')
  giveToOwner(preparedFile(dir), databaseFile(dir))
  publish(preparedFile(dir), wholeFile(dir))
  return finishReplacing(dir)
}

export function finishReplacing(dir: string): string | undefined {
  if (!isReplacing(dir)) return undefined
  const file = databaseFile(dir)
  const aside = freeName(makeBackupsFolder(dir), statSync(wholeFile(dir)).mtimeMs)
  for (const suffix of ['-wal', '']) {
    if (sizeOf(`${file}${suffix}`) > 0) renameSync(`${file}${suffix}`, `${aside}${suffix}`)
  }
  for (const suffix of ['-wal', '-shm']) rmSync(`${file}${suffix}`, { force: true })
  syncDirectory(makeBackupsFolder(dir))
  renameSync(wholeFile(dir), file)
  syncDirectory(dir)
  return existsSync(aside) ? aside : undefined
}

/**
 * A name that is not taken: the later of two restores within a second must not replace what the first put aside. It is the same
 * at every attempt until the database has it: database and log must stay together.
 */
function freeName(folder: string, at: number): string {
  const name = join(folder, `replaced-${stampOf(at)}.db`)
  return existsSync(name) ? freeName(folder, at + 1000) : name
}
