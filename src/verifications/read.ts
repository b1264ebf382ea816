import { parseUtcInstant } from '../base/time.ts'
import type { Peeking, Reading, Unsealing } from '../ground.ts'
import { apiError } from '../http/errors.ts'
import { LIST_CHARS_MAX, longList, waitToList } from '../http/turns.ts'
import type { Deps } from './deps.ts'
import { failureOfHeld, isHeld } from './hold.ts'
import type { Result } from './portraits.ts'
import { openResult } from './present.ts'
import type { Status, Verification } from './schema.ts'
import { statusAt } from './status.ts'
import {
  findSession,
  findStatus,
  findVerification,
  findWhole,
  listVerifications,
  type Owner,
  type SessionRow,
  type VerificationRow,
} from './store.ts'
import { presentOrLog } from './unreadable.ts'

const LIMIT_DEFAULT = 20

export async function readOne(deps: Deps, owner: Owner, id: string): Promise<Verification> {
  const found = await findVerification(deps.warm(), owner, id)
  // The same for an erased session and for one of another tenant, environment or device: nobody learns that it exists.
  if (!found) throw apiError('session_not_found')
  return await presentOrLog(deps, found)
}

type Page = { limit?: number; before?: string }

export async function readList(
  deps: Deps,
  owner: Owner,
  { limit = LIMIT_DEFAULT, before }: Page,
): Promise<{ data: Verification[] }> {
  const bound = before === undefined ? Number.MAX_SAFE_INTEGER : (parseUtcInstant(before) ?? 0)
  await waitToList(deps.turns, limit)
  const rows = await listVerifications(deps.db, owner, { before: bound, limit })
  if (rows.reduce((sum, { bytes }) => sum + bytes, 0) > LIST_CHARS_MAX) {
    const ids = rows.map(({ verification }) => verification.id)
    return longList(presentEach(deps, owner, ids), {})
  }
  const keyed = rows.map(({ verification: { id, wrappingKey } }) => ({ sessionId: id, wrappingKey }))
  const keyOf = await deps.sessionKeys.lookUp(deps.db, keyed)
  const data: Verification[] = []
  const turn = deps.turns.start()
  for (const [i, row] of rows.entries()) {
    await turn.next()
    const found = await findWhole(deps.db, row)
    if (found) data.push(await presentOrLog(deps, found, { sessionKey: keyOf(keyed[i]!) }))
  }
  return { data }
}

/** As long as the client takes: none that was erased since. One that cannot be read breaks the list off. */
async function* presentEach(deps: Deps, owner: Owner, ids: readonly string[]): AsyncGenerator<Verification, void, undefined> {
  for (const id of ids) {
    await deps.turns.next()
    const found = await findVerification(deps.db, owner, id)
    if (found) yield await presentOrLog(deps, found)
  }
}

export async function readStatus(
  { warm, now }: Peeking & Pick<Reading, 'now'>,
  id: string,
): Promise<{ id: string; status: Status }> {
  const found = await findStatus(warm(), id)
  if (!found) throw apiError('session_not_found')
  return { id, status: statusAt(found, now()) }
}

/** A session for the hosted page. The id is the capability: no tenant is asked for. */
export async function requireSession({ warm }: Peeking, id: string): Promise<SessionRow> {
  const session = await findSession(warm(), id)
  if (!session) throw apiError('session_not_found')
  return session
}

/** A session with its key and what was presented: for a log-in, which opens what it keeps beside it. */
export type OpenedSession = { session: VerificationRow; sessionKey: Uint8Array; status: Status; result: Result }

/** Undefined when it is gone. */
export async function openOne(deps: Reading & Unsealing, owner: Owner, id: string): Promise<OpenedSession | undefined> {
  const found = await findVerification(deps.db, owner, id)
  if (!found) return undefined
  const { verification: session, result } = found
  const sessionKey = await deps.sessionKeys.of(deps.db, session)
  const status = statusAt(session, deps.now())
  if (isHeld(session) && status === 'failed') return { session, sessionKey, status, result: { error: failureOfHeld(session) } }
  return { session, sessionKey, status, result: result ? openResult(deps, result, sessionKey) : {} }
}

/** A session that a wallet can still answer. */
export type OpenSession = SessionRow

/** A session for a wallet. The id is the capability here too. */
export async function readOpenSession({ warm, now }: Peeking & Pick<Reading, 'now'>, id: string): Promise<OpenSession> {
  const session = await findSession(warm(), id)
  refuseClosed(session, now())
  return session
}

/** A session that can still be answered, of a caller with a key, who sees only its own. */
export async function readOwnOpenSession(
  { warm, now }: Peeking & Pick<Reading, 'now'>,
  owner: Owner,
  id: string,
): Promise<OpenSession> {
  const session = (await findVerification(warm(), owner, id))?.verification
  refuseClosed(session, now())
  return session
}

/** Throws unless it can be answered. Answered comes before expired, for a second answer. */
export function refuseClosed(session: VerificationRow | undefined, now: number): asserts session is OpenSession {
  if (!session) throw apiError('session_not_found')
  if (session.respondedAt !== null) throw apiError('session_already_responded')
  if (isCancelled(session)) throw apiError('session_expired', { message: 'This session was cancelled; start a new one.' })
  if (session.status !== 'pending' || session.expiresAt <= now) throw apiError('session_expired')
}

/** A failure without an answer. */
export const isCancelled = ({ status, respondedAt }: VerificationRow): boolean => status === 'failed' && respondedAt === null
