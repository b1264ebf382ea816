import type { Deps } from './deps.ts'
import { deleteTokensExpiredBy } from './store.ts'

/** Until then a spent token is known as spent, and an expired one as expired, which tells a till what to do. */
const KEPT_AFTER_EXPIRY_MS = 90 * 86_400_000
const SWEEP_ROWS_MAX = 500

export async function sweepTokens({ write, now }: Pick<Deps, 'write' | 'now'>): Promise<void> {
  let deleted: number
  do {
    deleted = await write(tx => deleteTokensExpiredBy(tx, now() - KEPT_AFTER_EXPIRY_MS, SWEEP_ROWS_MAX))
  } while (deleted === SWEEP_ROWS_MAX)
}
