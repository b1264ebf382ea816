// A pairing code has 40 bits, so guesses are limited: 5 wrong codes a minute from one network, 20
// in an hour lock it out for 15 minutes, and the whole installation checks 60 a minute. Beyond that
// right codes are refused too, or the limit would be void, except from networks that authenticated
// lately. Lockouts and the counts behind them survive a restart.
import type { Db } from '../db/engine.ts'
import { apiError } from '../http/errors.ts'
import type { Deps } from './deps.ts'
import { takeBoth } from './guess-budgets.ts'
import { deleteGuessesBefore, findGuesses, lockGuesses, updateGuesses } from './store.ts'

const HOUR_MS = 3_600_000
const LOCK_MS = 15 * 60_000
const FAILURES_MAX = 20

type GuessDeps = Pick<Deps, 'db' | 'now' | 'guesses' | 'networks' | 'config'>

/** Throws 429, or reserves one guess; call the returned function for a right code. */
export async function admitGuess(deps: GuessDeps, client: string): Promise<() => Promise<void>> {
  await refuseLockedOut(deps, client)
  const isKnown = await deps.networks.isKnown(client)
  return await takeBoth(deps.guesses, ['enroll', 'enroll-all'], { client, isKnown })
}

async function refuseLockedOut({ db, now, networks, config }: GuessDeps, client: string): Promise<void> {
  if (config.rateLimitScale === 0) return
  const { lockedUntil = 0 } = (await findGuesses(db, networks.nameOf(client))) ?? {}
  const waitMs = lockedUntil - now()
  if (waitMs <= 0) return
  const message = 'Too many wrong pairing codes came from this network; try again after Retry-After seconds.'
  throw apiError('rate_limit_exceeded', { message, retryAfter: Math.ceil(waitMs / 1000) })
}

/** Called inside the transaction that found the code wrong. */
export async function recordWrongGuess(
  { now, networks, config }: Pick<GuessDeps, 'now' | 'networks' | 'config'>,
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

export async function sweepGuesses({ write, now }: Pick<Deps, 'write' | 'now'>): Promise<void> {
  await write(tx => deleteGuessesBefore(tx, now()))
}
