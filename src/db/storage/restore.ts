// The database of a directory, replaced by a copy that is prepared beside it.
import type { Engine } from '../engine.ts'
import { refusalFrom, refuseReadOnly } from '../file-refusal.ts'
import { StartRefusal } from '../refusal.ts'
import { makeDirectory } from '../root-key.ts'
import { holdDirectory } from '../sqlite/locks.ts'
import { MigrationError, migrate } from '../sqlite/migrate.ts'
import { discardPrepared, finishReplacing, preparedFile, replaceDatabase } from '../sqlite/replace.ts'
import { forgetSnapshotTime, writeSnapshot } from '../sqlite/snapshot.ts'
import { createStorage, openReader, openWriter } from '../sqlite/storage.ts'

export { preparedFile, replaceDatabase }

/** Runs `work` while no other process uses the directory. What it prepared is gone at its end, unless it took the place. */
export async function whileRestoring<Result>(dir: string, file: string, work: () => Promise<Result>): Promise<Result> {
  makeDirectory(dir)
  refuseReadOnly(dir)
  const release = holdDirectory(dir, 'alone')
  try {
    finishReplacing(dir)
    return await work()
  } catch (error) {
    if (error instanceof MigrationError)
      throw new StartRefusal('schema_newer', `${file}: ${error.message}; restore it with that version`, error)
    throw refusalFrom(error, dir, file)
  } finally {
    discardPrepared(dir)
    release()
  }
}

type Source = { dir: string; file: string; takenAt: number; now: number }

/** Copies the file, upgrades the copy, and lets `change` write in it. */
export async function prepareCopy<Result>(
  { dir, file, takenAt, now }: Source,
  change: (copy: Pick<Engine, 'db' | 'write'>) => Promise<Result>,
): Promise<{ result: Result; upgraded: string[] }> {
  discardPrepared(dir)
  const target = preparedFile(dir)
  writeSnapshot(file, target, takenAt)
  const writer = openWriter(target)
  const storage = createStorage(writer, openReader(target))
  try {
    const upgraded = migrate(writer, now)
    const result = await change(storage)
    await storage.write(forgetSnapshotTime)
    return { result, upgraded }
  } finally {
    await storage.close()
  }
}
