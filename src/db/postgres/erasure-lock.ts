// The lock that erasures share, and that a reader of one moment takes alone.
import type { Db } from '../engine.ts'
import type { Runner } from './pool.ts'

/** Any number. */
export const ERASURE_LOCK = 7_634_021_004

/** Called inside the transaction of an erasure, before anything is removed. */
export async function shareErasures(tx: Db): Promise<void> {
  await (tx as unknown as { $client: Runner }).$client.rows(`SELECT pg_advisory_xact_lock_shared(${ERASURE_LOCK})`, [])
}
