import { describeFailure } from '../log.ts'
import type { Deps } from './deps.ts'
import { type AccessToken, markDeviceSeen, markTokenUsed } from './store.ts'

/** `last_seen_at` is no finer than this: a busy till must not cost a write per request. */
export const SEEN_EVERY_MS = 60_000

/** Remembers that a device called: the first use of each token, and to the minute when it was last seen. */
export async function recordUse(
  { write, now, log }: Pick<Deps, 'write' | 'now' | 'log'>,
  { token, device }: AccessToken,
): Promise<void> {
  const at = now()
  const seenBy = at - SEEN_EVERY_MS
  if (token.usedAt === null) {
    // Waited for: from its first use on, the answer that brought this token is never given again.
    return await write(async tx => {
      await markTokenUsed(tx, token, at)
      await markDeviceSeen(tx, device, { at, seenBy })
    })
  }
  if (device.lastSeenAt !== null && device.lastSeenAt > seenBy) return
  write(tx => markDeviceSeen(tx, device, { at, seenBy })).catch(error => {
    log.warn('device.not_recorded', { failure: describeFailure(error) })
  })
}
