import type { Db } from '../db/engine.ts'
import { listEntries } from './store.ts'

const BATCH = 1000

/** The subjects of all erasures, on the chain or on their way to it, with their time. */
export async function readErasures(db: Db): Promise<Map<string, number>> {
  const erasures = new Map<string, number>()
  for (let after = 0; ; ) {
    const batch = await listEntries(db, after, BATCH)
    for (const { action, subject, at } of batch) if (action === 'verification.erased') erasures.set(subject, at)
    if (batch.length < BATCH) return erasures
    after = batch.at(-1)!.id
    // A running service needs its turn while a long chain is read.
    await new Promise<void>(resolve => setImmediate(resolve))
  }
}
