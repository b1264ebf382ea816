import type { Write } from './engine.ts'
import { installation } from './schema.ts'

type HeartbeatDeps = { write: Write; space: { isShort(): boolean } }

/** A durable write that changes nothing else: proof that the database can be written. A start goes on from the time it leaves (data-dir.ts). */
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
