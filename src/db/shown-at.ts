import type { Write } from './engine.ts'
import { installation } from './schema/installation.ts'

type ShownAtDeps = { write: Write; space: { isShort(): boolean } }

/**
 * Records the time that this installation shows: the next start continues from it (sqlite/data-dir.ts). A durable write, which
 * proves that the database is writable.
 */
export async function recordShownAt({ write, space }: ShownAtDeps, at: number): Promise<void> {
  if (space.isShort()) throw new Error('the disk is full')
  const value = Buffer.from(String(at))
  await write(async tx => {
    await tx
      .insert(installation)
      .values({ name: 'heartbeat', value })
      .onConflictDoUpdate({ target: installation.name, set: { value } })
  })
}
