import { keep, read } from './memory.ts'
import { newKey } from './new-key.ts'

const LOCK = 'vidimus-till'
/** Longer than any call, so that it runs out only for a closed tab. */
const LEASE_MS = 20_000
/** The time for another tab that writes at the same moment. */
const SETTLE_MS = 60

/** Runs an act in one tab of this till at a time. */
export async function exclusively<Result>(act: () => Promise<Result>): Promise<Result> {
  const locks: LockManager | undefined = navigator.locks
  return locks ? await locks.request(LOCK, act) : await withLease(act)
}

/** Locks need https. On http, the last tab that wrote the lease has it. */
async function withLease<Result>(act: () => Promise<Result>): Promise<Result> {
  const owner = newKey()
  do {
    if ((read('lease')?.until ?? 0) < Date.now()) keep('lease', { owner, until: Date.now() + LEASE_MS })
    await new Promise(resolve => setTimeout(resolve, SETTLE_MS))
  } while (read('lease')?.owner !== owner)
  try {
    return await act()
  } finally {
    if (read('lease')?.owner === owner) keep('lease', undefined)
  }
}
