// A session is a random cookie; the database has its hash. It ends twelve hours after log-in, half
// an hour after its last use, and at once when its user logs out, signs out everywhere, changes the
// password or is removed.

import type { Environment } from '../access/scopes.ts'
import type { Acting } from '../audit/deps.ts'
import { hmacSha256With, sha256Hex } from '../base/hash.ts'
import { base62, newNonce } from '../base/ids.ts'
import { isoUtc } from '../base/time.ts'
import type { Db } from '../db/engine.ts'
import type { Making, Peeking, Reading, Unsealing, Writing } from '../ground.ts'
import { apiError } from '../http/errors.ts'
import { readLive } from '../tenants/go-live.ts'
import { readTenants } from '../tenants/settings.ts'
import { roleOf } from './role.ts'
import type { Session } from './schema.ts'
import {
  deleteEndedSessions,
  deleteOldestSessions,
  deleteSession,
  deleteSessionsOf,
  findSession,
  insertSession,
  listSessions,
  markSeen,
  type SessionRow,
  type UserRow,
} from './store.ts'

const IDLE_MS = 30 * 60_000
const ABSOLUTE_MS = 12 * 3_600_000
/** How old a proof of identity may be: for what counts in live or has no environment, and for Test. */
const FRESH_MS = { live: 5 * 60_000, test: 60 * 60_000 }
/** `seen_at` is no finer than this: a page that polls must not cost a write each time. */
const SEEN_EVERY_MS = 60_000
const SESSIONS_PER_USER_MAX = 10
const AGENT_CHARS_MAX = 160

/** The logged-in user behind a request. */
export type Visit = {
  user: UserRow
  session: SessionRow
  cookie: string
  /** Everybody needs a second factor, and this user has none. */
  isFactorMissing: boolean
}

/** The user's name in audit records. */
export const actorOf = ({ name }: UserRow): string => `dashboard:${name}`

/** The tenant of audit records by or about this user; empty for an owner. */
export const tenantIdOf = ({ memberOf }: UserRow): string => memberOf ?? ''

export async function findVisit({ warm, write, now }: Writing & Peeking, cookie: string): Promise<Visit> {
  const hash = sha256Hex(cookie)
  const found = await findSession(warm(), hash)
  const at = now()
  if (!found || at >= found.session.expiresAt || at >= found.session.seenAt + IDLE_MS) throw apiError('not_logged_in')
  if (at - found.session.seenAt < SEEN_EVERY_MS) return { ...found, cookie }
  await write(tx => markSeen(tx, hash, at))
  return { ...found, session: { ...found.session, seenAt: at }, cookie }
}

/** Throws unless the user proved their identity at most five minutes ago, or an hour for what concerns Test only. */
export function requireFresh({ session }: Visit, now: number, environment: Environment = 'live'): void {
  if (now - session.authenticatedAt > FRESH_MS[environment]) throw apiError('reauthentication_required')
}

/** Not stored yet: `keepSession` does that inside the transaction of the log-in. */
export function draftSession({ now, random }: Making, user: UserRow, agent: string | null): Omit<Visit, 'isFactorMissing'> {
  const at = now()
  const cookie = newNonce(random)
  const session = {
    hash: sha256Hex(cookie),
    id: `ses_${base62(random, 16)}`,
    userId: user.id,
    agent: (agent ?? '').replace(/[^\x20-\x7e]/g, '').slice(0, AGENT_CHARS_MAX),
    createdAt: at,
    seenAt: at,
    expiresAt: at + ABSOLUTE_MS,
    authenticatedAt: at,
  }
  return { user, session, cookie }
}

/** The user's row must be locked. Deletes the oldest sessions above the limit. */
export async function keepSession(tx: Db, { session }: Visit): Promise<void> {
  await insertSession(tx, session)
  await deleteOldestSessions(tx, session, SESSIONS_PER_USER_MAX)
}

export async function presentSession(deps: Reading & Unsealing, visit: Visit): Promise<Session> {
  const { user, session } = visit
  const tenants = (await readTenants(deps.db)).filter(({ id }) => user.memberOf === null || user.memberOf === id)
  const live = await readLive(deps.db)
  return {
    user: { id: user.id, name: user.name, is_owner: user.memberOf === null, role: roleOf(user) },
    tenants: tenants.map(({ id, name }) => ({ id, name, is_live: live.has(id) })),
    needs_second_factor: visit.isFactorMissing,
    csrf_token: csrfTokenOf(deps, visit),
    expires_at: isoUtc(session.expiresAt),
    idle_expires_at: isoUtc(session.seenAt + IDLE_MS),
    fresh_until: isoUtc(session.authenticatedAt + FRESH_MS.live),
  }
}

/** Derived from the cookie, so it is not stored and ends with the session. */
export const csrfTokenOf = ({ sealer }: Unsealing, { cookie }: Visit): string =>
  hmacSha256With(sealer.key('dashboard csrf'))(cookie).toString('base64url')

export async function readSessions({ db, now }: Reading, { user, session }: Visit) {
  const rows = await listSessions(db, user.id, { now: now(), seenAfter: now() - IDLE_MS })
  return {
    data: rows.map(row => ({
      id: row.id,
      is_current: row.id === session.id,
      agent: row.agent,
      created_at: isoUtc(row.createdAt),
      last_seen_at: isoUtc(row.seenAt),
      expires_at: isoUtc(row.expiresAt),
    })),
  }
}

/** The current session, or another one of this user. */
export async function endSession(deps: Acting, { user }: Visit, id: string): Promise<void> {
  const at = deps.now()
  const ended = await deps.write(async tx => {
    if (!(await deleteSession(tx, { userId: user.id, id }))) return false
    await deps.audit.append(tx, { ...loggedOut(user, at), details: { name: user.name, session: id } })
    return true
  })
  if (!ended) throw apiError('not_found', { message: 'No session with this id.' })
}

export async function endAllSessions(deps: Acting, { user }: Visit): Promise<void> {
  const at = deps.now()
  await deps.write(async tx => {
    await deleteSessionsOf(tx, user.id)
    await deps.audit.append(tx, { ...loggedOut(user, at), details: { name: user.name, session: 'all' } })
  })
}

const loggedOut = (user: UserRow, at: number) => ({
  at,
  tenantId: tenantIdOf(user),
  actor: actorOf(user),
  action: 'user.logged_out' as const,
  subjectId: user.id,
})

export async function sweepSessions({ write, now }: Writing): Promise<void> {
  await write(tx => deleteEndedSessions(tx, { now: now(), seenAfter: now() - IDLE_MS }))
}
