// Deleted text is gone from the disk only when the log is copied into the file and emptied.
import type { Database } from 'bun:sqlite'
import { BUSY_TIMEOUT_MS, isFull } from './connections.ts'
import type { GroupCommit } from './group-commit.ts'

/** A reader may hold the log. Short, because the event loop stands still meanwhile. */
const PATIENCE_MS = 100

type LogEmptier = {
  /** Empties the log between two commits; false when a reader prevents it. */
  forgetDeleted(): Promise<boolean>
  /** Called before the writer closes. `forgetDeleted` returns the result of this call from then on. */
  close(): void
}

export function createLogEmptier(
  writer: Database,
  { between }: Pick<GroupCommit, 'between'>,
  makeRoom: () => boolean,
): LogEmptier {
  let isEmptyAtClose: boolean | undefined

  const emptyLog = (isRepeated = false): boolean => {
    try {
      const [state] = writer.query<{ busy: number }, []>('PRAGMA wal_checkpoint(TRUNCATE)').all()
      return state?.busy === 0
    } catch (error) {
      if (!isFull(error)) throw error
      return !isRepeated && makeRoom() && emptyLog(true)
    }
  }

  return {
    forgetDeleted: () =>
      new Promise((resolve, reject) => {
        if (isEmptyAtClose !== undefined) return resolve(isEmptyAtClose)
        between(() => {
          try {
            writer.run(`PRAGMA busy_timeout = ${PATIENCE_MS}`)
            resolve(emptyLog())
          } catch (error) {
            reject(error)
          } finally {
            writer.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`)
          }
        })
      }),
    close() {
      isEmptyAtClose = emptyLog()
    },
  }
}
