import { databaseFile } from '../database-file.ts'
import { damaged, refusalFrom } from '../file-refusal.ts'
import { holdDirectory } from './locks.ts'
import { finishReplacing } from './replace.ts'
import { isOurs } from './snapshot.ts'

/** Runs `work` on the database file of a directory while no other process uses the directory. */
export async function withDatabaseAlone<Result>(dir: string, work: (file: string) => Promise<Result>): Promise<Result> {
  const file = databaseFile(dir)
  const release = holdDirectory(dir, 'alone')
  try {
    finishReplacing(dir)
    if (!isOurs(file)) throw damaged(file)
    return await work(file)
  } catch (error) {
    throw refusalFrom(error, dir, file)
  } finally {
    release()
  }
}
