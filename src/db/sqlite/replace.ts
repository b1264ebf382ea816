// Another database takes the place of the one that is there. Once the new one is whole it lies beside under a name that says so, and from then on
// everybody who comes finishes what is left to do: a kill at any point leaves the old database, or the new one. Only for whoever holds the directory
// alone.
import { existsSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { giveToOwner, makeBackupsFolder, publish, syncDirectory } from '../files.ts'
import { databaseFile, sizeOf, stampOf } from './files.ts'

/** Where the new one is prepared. */
export const preparedFile = (dir: string): string => `${databaseFile(dir)}.restoring`

const wholeFile = (dir: string): string => `${databaseFile(dir)}.restored`

export const isReplacing = (dir: string): boolean => existsSync(wholeFile(dir))

/** Killed in the middle, the new one has not got its name yet. */
export const hasDatabase = (dir: string): boolean => sizeOf(databaseFile(dir)) > 0 || isReplacing(dir)

export function discardPrepared(dir: string): void {
  for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(`${preparedFile(dir)}${suffix}`, { force: true })
}

/** Gives the name under which the replaced one is kept, with its log. */
export function replaceDatabase(dir: string): string | undefined {
  if (sizeOf(`${preparedFile(dir)}-wal`) > 0) throw new Error('the log of the new database is not empty')
  giveToOwner(preparedFile(dir), databaseFile(dir))
  publish(preparedFile(dir), wholeFile(dir))
  return finishReplacing(dir)
}

export function finishReplacing(dir: string): string | undefined {
  if (!isReplacing(dir)) return undefined
  const file = databaseFile(dir)
  // The same name however often this is begun: database and log must stay together.
  const aside = join(makeBackupsFolder(dir), `replaced-${stampOf(statSync(wholeFile(dir)).mtimeMs)}.db`)
  for (const suffix of ['-wal', '']) {
    if (sizeOf(`${file}${suffix}`) > 0) renameSync(`${file}${suffix}`, `${aside}${suffix}`)
  }
  for (const suffix of ['-wal', '-shm']) rmSync(`${file}${suffix}`, { force: true })
  syncDirectory(makeBackupsFolder(dir))
  renameSync(wholeFile(dir), file)
  syncDirectory(dir)
  return existsSync(aside) ? aside : undefined
}
