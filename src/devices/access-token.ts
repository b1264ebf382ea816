import { equalConstantTime } from '../base/hash.ts'
import { describeFailure } from '../base/log.ts'
import type { Peeking, Reporting, Writing } from '../ground.ts'
import { type AccessToken, findAccessToken, forgetSealedPair, markTokenUsed, seeDevice } from './store.ts'

/** `last_seen_at` is no finer than this: a busy till must not cost a write per request. */
export const SEEN_EVERY_MS = 60_000

/** Not cached: a revocation, and narrower templates, apply from the next request on. */
export async function readAccessToken({ warm }: Peeking, hash: string): Promise<AccessToken | undefined> {
  const found = await findAccessToken(warm(), hash)
  return found && equalConstantTime(found.token.hash, hash) ? found : undefined
}

/** Records the first use of each token, and to the minute when its device was last seen. */
export async function recordUse({ write, now, log }: Writing & Reporting, { token, device }: AccessToken): Promise<void> {
  const at = now()
  const seen = { at, seenBy: at - SEEN_EVERY_MS }
  if (token.usedAt === null) {
    // Awaited: from the first use on, the response that contained this token is never repeated.
    return await write(async tx => {
      await seeDevice(tx, token, seen)
      if (await markTokenUsed(tx, token, at)) await forgetSealedPair(tx, token)
    })
  }
  if (device.lastSeenAt !== null && device.lastSeenAt > seen.seenBy) return
  write(tx => seeDevice(tx, token, seen)).catch(error => {
    log.warn('device.not_recorded', { failure: describeFailure(error) })
  })
}
