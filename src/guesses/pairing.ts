// A pairing code has 40 bits, so wrong ones are limited. A network that nobody used lately has 5 a minute, and 20 in an
// hour lock it out for 15 minutes; lockouts and the counts behind them survive a restart. A known network has 60 a minute
// and no lockout. The whole installation checks 60 a minute from known networks and 60 from others, so that neither can use
// up what the others have. While a budget is empty right codes are refused too, or the limit would be void. enroll.ts lets
// those through that come from where their own tenant authenticated lately.

import type { Acting } from '../audit/deps.ts'
import { isoUtc } from '../base/time.ts'
import type { Db } from '../db/engine.ts'
import type { Configured, Reading, Writing } from '../ground.ts'
import type { Throttling } from '../guesses/deps.ts'
import { apiError } from '../http/errors.ts'
import { rateLimitHeaders } from '../http/rate-limit.ts'
import { takeEach } from './budgets.ts'
import { KNOWN_MS } from './networks.ts'
import { deleteGuessesBefore, deleteLock, findGuesses, type GuessesRow, listLocked, lockGuesses, updateGuesses } from './store.ts'

const HOUR_MS = 3_600_000
const LOCK_MS = 15 * 60_000
const FAILURES_MAX = 20
/** The lockout's name in headers, beside those of the budgets. */
const LOCK = 'enroll-lock'

type Admission = {
  /** The code was right. */
  giveBack(): Promise<void>
  /** `recordWrongGuess`, where that counts. */
  recordWrong(tx: Db): Promise<void>
}

/** Throws 429, or reserves one guess. */
export async function admitGuess(deps: Reading & Configured & Throttling, client: string): Promise<Admission> {
  const isKnown = await deps.networks.isKnown(client)
  if (!isKnown) await refuseLockedOut(deps, client)
  const giveBack = await takeEach(deps.guesses, [
    { policy: isKnown ? 'enroll-known' : 'enroll', key: client },
    { policy: isKnown ? 'enroll-known-all' : 'enroll-all', key: '' },
  ])
  return { giveBack, recordWrong: async tx => (isKnown ? undefined : await recordWrongGuess(deps, tx, client)) }
}

async function refuseLockedOut({ db, now, networks, config }: Reading & Configured & Throttling, client: string): Promise<void> {
  if (config.rateLimitScale === 0) return
  const { lockedUntil = 0 } = (await findGuesses(db, networks.nameOf(client))) ?? {}
  const waitMs = lockedUntil - now()
  if (waitMs <= 0) return
  const retryAfter = Math.ceil(waitMs / 1000)
  const windowSeconds = Math.ceil(HOUR_MS / config.rateLimitScale / 1000)
  const message =
    `This network is locked until ${isoUtc(lockedUntil)}: ${FAILURES_MAX} wrong pairing codes came from it within an hour. ` +
    'An owner can lift the lock in the dashboard, on the page Tills.'
  const spent = { name: LOCK, quota: FAILURES_MAX, windowSeconds, remaining: 0, resetSeconds: retryAfter }
  throw apiError('rate_limit_exceeded', { message, retryAfter, headers: rateLimitHeaders([spent]) })
}

/** Called inside the transaction that found the code wrong. */
export async function recordWrongGuess(
  { now, networks, config }: Reading & Configured & Throttling,
  tx: Db,
  client: string,
): Promise<void> {
  if (config.rateLimitScale === 0) return
  const at = now()
  // The scale shortens the hour instead of raising the number, so the list of times stays short.
  const hourMs = HOUR_MS / config.rateLimitScale
  const forgetAt = at + Math.max(LOCK_MS, hourMs)
  const before = await lockGuesses(tx, { network: networks.nameOf(client), failedAt: [], lockedUntil: 0, forgetAt })
  const failedAt = [...before.failedAt.filter(each => each > at - hourMs), at]
  const isLockedOut = failedAt.length >= FAILURES_MAX
  await updateGuesses(tx, {
    network: before.network,
    failedAt: isLockedOut ? [] : failedAt,
    lockedUntil: isLockedOut ? at + LOCK_MS : before.lockedUntil,
    forgetAt,
  })
}

export const readLocks = async ({ db, now }: Reading): Promise<GuessesRow[]> =>
  await listLocked(db, { now: now(), seenAfter: now() - KNOWN_MS })

/** False when the network is not locked, or no longer. */
export async function liftLock({ write, now, audit }: Acting, network: string, actor: string): Promise<boolean> {
  const at = now()
  return await write(async tx => {
    if (!(await deleteLock(tx, network, at))) return false
    await audit.append(tx, { at, tenantId: '', actor, action: 'pairing.unlocked', subjectId: network })
    return true
  })
}

export async function sweepGuesses({ write, now }: Writing): Promise<void> {
  await write(tx => deleteGuessesBefore(tx, now()))
}
