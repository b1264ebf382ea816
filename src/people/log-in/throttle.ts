// Wrong passwords slow down further attempts: 20 an hour from one address, 120 a minute for
// everybody together, and per account a wait that doubles up to five minutes. Accounts are never
// locked, and strangers cannot delay a user who is known: a browser that logged in before and an
// open session have waits and a budget of their own and are not charged to their address, and a
// network where the user logged in before has waits of its own. Unknown names get the same waits.

import { hmacSha256With } from '../../base/hash.ts'
import type { Db } from '../../db/engine.ts'
import type { Configured, Reading, Writing } from '../../ground.ts'
import { type Charge, takeEach } from '../../guesses/budgets.ts'
import type { Throttling } from '../../guesses/deps.ts'
import { apiError } from '../../http/errors.ts'
import type { Deps } from '../deps.ts'
import {
  deleteFailures,
  deleteForgotten,
  findNetwork,
  keepNetwork,
  lockFailures,
  type UserRow,
  updateFailures,
} from '../store.ts'

const FIRST_WAIT_AFTER = 3
const WAIT_MAX_SECONDS = 300
const DAY_MS = 86_400_000
const FORGET_MS = DAY_MS
const KNOWN_MS = 90 * DAY_MS
const NETWORKS_PER_USER_MAX = 20
const ELSEWHERE = ''
const NOBODY = ''

/** `known`: keys of what the caller holds already, a known browser or a session. The first one names its waits. */
type Attempt = { account: string; user: UserRow | undefined; client: string; known?: readonly string[] }

type Admission = {
  /** Counts a failure before the password is compared, or throws 429: parallel guesses must not pass. */
  count(): Promise<void>
  /** Returns the attempt to its budgets: the password was right, or never compared. */
  giveBack(): Promise<void>
  /** Resets the wait of this account in this network after a right password. */
  forget(): Promise<void>
}

/** Of an attempt that nobody can guess right. */
export const UNCOUNTED: Admission = { count: async () => {}, giveBack: async () => {}, forget: async () => {} }

/** Throws 429, or takes the attempt from its budgets. */
export async function admitAttempt(deps: Deps, { account, user, client, known }: Attempt): Promise<Admission> {
  const network = deps.networks.nameOf(client)
  const isKnown = await isKnownNetwork(deps, user?.id ?? NOBODY, network)
  const accountHash = hmacSha256With(deps.sealer.key('dashboard account'))(account).toString('hex')
  const throttled = { account: accountHash, network: known?.[0] ?? (isKnown ? network : ELSEWHERE) }
  const own = known?.map((key): Charge => ({ policy: 'login-known', key })) ?? [{ policy: 'login', key: client }]
  const all: Charge = { policy: 'login-all', key: '', isSpared: known !== undefined || isKnown }
  const giveBack = await takeEach(deps.guesses, [...own, all])
  return {
    count: () => countAttempt(deps, throttled),
    giveBack,
    forget: () => deps.write(tx => deleteFailures(tx, throttled)),
  }
}

/** Looked up for names that nobody has too, so that the time does not tell. */
async function isKnownNetwork({ db, now }: Reading, userId: string, network: string): Promise<boolean> {
  const seenAt = await findNetwork(db, { userId, network })
  return seenAt !== undefined && seenAt > now() - KNOWN_MS
}

async function countAttempt(
  { write, now, config }: Writing & Configured,
  throttled: { account: string; network: string },
): Promise<void> {
  if (config.rateLimitScale === 0) return
  const at = now()
  const forgetAt = at + FORGET_MS
  const waitMs = await write(async tx => {
    const known = await lockFailures(tx, { ...throttled, failures: 0, notBefore: 0, forgetAt })
    const before = known.forgetAt > at ? known : { failures: 0, notBefore: 0 }
    if (before.notBefore > at) return before.notBefore - at
    const failures = before.failures + 1
    await updateFailures(tx, { ...throttled, failures, notBefore: at + waitSecondsAfter(failures) * 1000, forgetAt })
    return 0
  })
  if (waitMs === 0) return
  const message = 'Too many wrong attempts for this name; try again after Retry-After seconds.'
  throw apiError('rate_limit_exceeded', { message, retryAfter: Math.ceil(waitMs / 1000) })
}

/** 0, 0, then 1, 2, 4 … seconds from the third wrong password on. */
const waitSecondsAfter = (failures: number): number =>
  failures < FIRST_WAIT_AFTER ? 0 : Math.min(WAIT_MAX_SECONDS, 2 ** (failures - FIRST_WAIT_AFTER))

/** Called inside the transaction of a log-in. */
export async function rememberNetwork(
  { now, networks }: Reading & Throttling,
  tx: Db,
  { id: userId }: UserRow,
  client: string,
): Promise<void> {
  await keepNetwork(tx, { userId, network: networks.nameOf(client) }, now(), NETWORKS_PER_USER_MAX)
}

export async function sweepFailures({ write, now }: Writing): Promise<void> {
  await write(tx => deleteForgotten(tx, now()))
}
