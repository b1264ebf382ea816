import type { Writing } from '../ground.ts'
import { deleteTokensExpiredBy } from './store.ts'

/** A reuse is detected for this long, and a till learns that its token expired. */
const KEPT_AFTER_EXPIRY_MS = 90 * 86_400_000
const SWEEP_ROWS_MAX = 500

export async function sweepTokens({ write, now }: Writing): Promise<void> {
  let deleted: number
  do {
    deleted = await write(tx => deleteTokensExpiredBy(tx, now() - KEPT_AFTER_EXPIRY_MS, SWEEP_ROWS_MAX))
  } while (deleted === SWEEP_ROWS_MAX)
}
