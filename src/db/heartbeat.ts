import { installation } from '#schema'
import type { Write } from './sqlite.ts'

/** A durable write that changes nothing else: proof that the database can be written. */
export async function recordHeartbeat({ write }: { write: Write }, at: number): Promise<void> {
  const value = Buffer.from(String(at))
  await write(async tx => {
    await tx
      .insert(installation)
      .values({ name: 'heartbeat', value })
      .onConflictDoUpdate({ target: installation.name, set: { value } })
  })
}
