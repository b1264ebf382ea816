// Writes to a file that was moved or removed are lost when the service ends: the next start finds another file, or none.
import { statSync } from 'node:fs'
import type { Log } from '../../base/log.ts'
import { Unavailable } from '../../base/unavailable.ts'

/** Throws while the database or its write-ahead log is no longer the file that was opened. Tells the log once. */
export function watchPlace(file: string, log: Log): () => void {
  const inodes = new Map<string, number>()
  let isTold = false
  /** The log file is made by the first write. */
  const isInPlace = (path: string): boolean => {
    const found = statSync(path, { throwIfNoEntry: false })?.ino
    const opened = inodes.get(path) ?? found
    if (opened !== undefined) inodes.set(path, opened)
    return found === opened
  }

  return () => {
    const gone = [file, `${file}-wal`].find(path => !isInPlace(path))
    if (gone === undefined) {
      isTold = false
      return
    }
    if (!isTold) log.error('database.file_gone', { detail: `${gone} was moved, replaced or removed; bring the same file back` })
    isTold = true
    throw new Unavailable('a file of the database is no longer in its place')
  }
}
