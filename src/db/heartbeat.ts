import type { Write } from './engine.ts'
import { installation } from './schema.ts'

type HeartbeatDeps = { write: Write; space: { isShort(): boolean } }

/** A durable write that proves that the database is writable. The next start continues from this time (sqlite/data-dir.ts). */
export async function recordHeartbeat({ write, space }: HeartbeatDeps, at: number): Promise<void> {
  if (space.isShort()) throw new Error('the disk is full')
  const value = Buffer.from(String(at))
  await write(async tx => {
    await tx
      .insert(installation)
      .values({ name: 'heartbeat', value })
      .onConflictDoUpdate({ target: installation.name, set: { value } })
  })
}
