import type { Acting } from '../audit/deps.ts'
import { describeFailure } from '../base/log.ts'
import { SALT_BYTES } from '../base/seal.ts'
import { isoUtc } from '../base/time.ts'
import type { Db } from '../db/engine.ts'
import { SEALED } from '../db/sealed-columns.ts'
import type { Making, Reading, Sealing, Unsealing, Yielding } from '../ground.ts'
import { apiError } from '../http/errors.ts'
import { inTurns } from '../http/turns.ts'
import type { RecordedFinding } from '../openid4vp/finding.ts'
import type { Format } from '../words/templates.ts'
import type { Deps } from './deps.ts'
import {
  countEvents,
  type EventRow,
  type FetchRow,
  findEvent,
  findFetches,
  hasHappened,
  insertEvent,
  listEvents,
} from './event-store.ts'
import {
  type KeyedSession,
  listAuditEntries,
  lockSession,
  type PlacedSession,
  type SessionKey,
  type VerificationRow,
} from './store.ts'

/** The anchor of a credential, and the list that named it, with the list's own `issued_at`. */
export type TrustedBy = { anchor: string; source?: string; sequence?: number; issued_at?: string }

/** The list that a document was checked against, where no newer one could be fetched. */
type CheckedAgainst = { as_of: string; from: 'fetched' | 'bundle' }

/** The moments of a session after its creation, with their details. */
export type SessionEvents = {
  /** The first time that a page showed its QR code or its button. */
  qr_shown: Record<never, never>
  /** `formats`: those that the wallet said it knows, and `dropped` the credentials of the query that it was not asked for. */
  request_fetched: {
    method?: 'get' | 'post'
    formats?: readonly Format[]
    dropped?: readonly string[]
    notes?: readonly string[]
  }
  response_unreadable: { reason: string }
  response_posted: {
    status: 'completed' | 'failed'
    error?: string
    /** Every check of every credential, and the anchor of each that is trusted. */
    findings: { credential: string; checks: readonly RecordedFinding[]; trust?: TrustedBy; status?: CheckedAgainst }[]
  } & Partial<BrowserChannel | PhoneChannel>
  /** A page of this origin got its first request. */
  dc_requested: { origin: string; protocols: readonly string[] }
  /** The wallet told the page why it does not answer. */
  dc_error: { protocol: string; code: string }
  /** The code of a phone was scanned. `extended`: the phone understands alternatives. `offers`: its transports. */
  in_person_requested: { version: '1.0' | '1.1'; extended: boolean; offers: readonly string[]; documents: number }
  /** The code cannot be read, or the phone not be asked. */
  in_person_refused: { reason: 'invalid' | 'curve_not_supported' | 'transport_not_supported'; offers: readonly string[] }
  /** The phone told why it does not answer. */
  in_person_error: { code: string }
  /** The transport between till and phone failed. */
  in_person_failed: { code: string }
  /** Somebody read what the holder presented. */
  claims_read: { actor: string }
  /** The person at a till compared the photo with the customer. */
  photo_compared: { actor: string; same_person: boolean }
  /** A browser came from an OpenID client. */
  login_started: { client: string }
  login_returned: Record<never, never>
  login_refused: { reason: string }
  code_issued: { client: string }
  /** `left_out`: claims that are pictures, or too long. */
  token_issued: { client: string; claims: readonly string[]; left_out: readonly string[] }
  /** The first time that the client read the claims. */
  userinfo_read: { client: string }
}
/** The channel of an answer that a page passed on from the browser's wallet call. */
export type BrowserChannel = { channel: 'dc_api'; protocol: string; origin: string }
/** The channel of a phone that was read in person. `proof`: not by a signature. `dropped`: documents beyond those that count. */
export type PhoneChannel = { channel: 'in_person'; engagement: 'qr'; proof?: 'mac' | undefined; dropped?: number | undefined }
type SessionEvent = keyof SessionEvents

const EVENTS_MAX = 500
const REPEATED_EVENTS_MAX = 100
/** How many of a kind are stored: anybody who saw the QR code, and a till, can cause these any number of times. */
const MOST: Partial<Record<SessionEvent, number>> = {
  response_unreadable: REPEATED_EVENTS_MAX,
  dc_error: REPEATED_EVENTS_MAX,
  in_person_refused: REPEATED_EVENTS_MAX,
  in_person_error: REPEATED_EVENTS_MAX,
  in_person_failed: 20,
}

/** Stores a moment, which is erased with its session. `details` has no claims. `auditSeq`: its record on the chain, if any. */
export async function recordEvent<Event extends SessionEvent>(
  { now, random, sealer, sessionKeys }: Making & Sealing,
  tx: Db,
  { id, tenantId, wrappingKey }: KeyedSession,
  event: Event,
  details: SessionEvents[Event],
  auditSeq: number | null = null,
): Promise<void> {
  const most = MOST[event]
  if (most !== undefined) {
    const count = await countEvents(tx, { id, tenantId }, event)
    // The session was erased since the request began. Other moments are recorded under its lock.
    if (count === undefined) throw apiError('session_not_found')
    if (count.all >= REPEATED_EVENTS_MAX || count.alike >= most) return
  }
  const salt = Buffer.from(random(SALT_BYTES))
  const sessionKey = await sessionKeys.of(tx, { id, wrappingKey })
  const sealed = sealer.seal(SEALED.event({ id, tenantId }, salt, sessionKey), JSON.stringify(details))
  await insertEvent(tx, { verificationId: id, tenantId, at: now(), event, salt, sealed, auditSeq })
}

export type RecordedEvent = { [Event in SessionEvent]: { at: number; event: Event; details: SessionEvents[Event] } }[SessionEvent]

/** Oldest first. */
export async function readEvents(
  { db, sealer, sessionKeys, turns }: Reading & Unsealing & Yielding,
  session: SessionKey,
): Promise<RecordedEvent[]> {
  const found = await findFetches(db, session)
  if (!found) return []
  const sessionKey = await sessionKeys.of(db, found)
  const rows = await listEvents(db, session, EVENTS_MAX)
  const recorded = await inTurns(turns, rows, ({ at, event, salt, sealed }) => {
    const details = JSON.parse(sealer.open(SEALED.event(session, salt, sessionKey), sealed))
    return { at, event, details } as RecordedEvent
  })
  const fetched = openFetches({ sealer }, found, sessionKey).map(
    ({ at, ...details }): RecordedEvent => ({ at, event: 'request_fetched', details }),
  )
  // Of one millisecond: a code is shown before it is scanned, and a request fetched before it is answered.
  const isBefore = ({ event }: RecordedEvent) => event === 'qr_shown' || event === 'login_started'
  const inOrder = [...recorded.filter(isBefore), ...fetched, ...recorded.filter(each => !isBefore(each))]
  return inOrder.toSorted((one, other) => one.at - other.at)
}

/** A fetch of a request object by a wallet. Anybody who saw the QR code can cause these any number of times. */
export type Fetch = { at: number } & SessionEvents['request_fetched']

const FETCHES_MAX = 100
/** Above it no more are kept: they are a column of the session. */
const FETCHES_CHARS_MAX = 16 * 1024

/** Null when the columns say it all; undefined when no more are kept. */
export function fetchesToKeep(fetches: readonly Fetch[]): string | null | undefined {
  const [first, second] = fetches
  if (!second && first && Object.keys(first).length === 2 && first.method === 'get') return null
  const text = JSON.stringify(fetches)
  return !second || (fetches.length <= FETCHES_MAX && text.length <= FETCHES_CHARS_MAX) ? text : undefined
}

/** Oldest first. */
export function openFetches({ sealer }: Pick<Unsealing, 'sealer'>, row: FetchRow, sessionKey: Uint8Array): Fetch[] {
  const { fetchedAt, sealedFetches, salt } = row
  if (fetchedAt === null) return []
  if (sealedFetches === null) return [{ at: fetchedAt, method: 'get' }]
  return JSON.parse(sealer.open(SEALED.fetches(row, salt, sessionKey), sealedFetches))
}

/** Of the audit record of a session's end: its request was fetched. */
export function fetchesInRecord(
  deps: Pick<Unsealing, 'sealer'>,
  row: FetchRow,
  sessionKey: Uint8Array,
): { fetched_at?: string; fetches?: number } {
  if (row.fetchedAt === null) return {}
  return { fetched_at: isoUtc(row.fetchedAt), fetches: openFetches(deps, row, sessionKey).length }
}

/** The same, looked up. */
export async function readFetches(
  deps: Pick<Unsealing, 'sealer'>,
  tx: Db,
  session: SessionKey,
  sessionKey: Uint8Array,
): Promise<ReturnType<typeof fetchesInRecord>> {
  const row = await findFetches(tx, session)
  return row ? fetchesInRecord(deps, row, sessionKey) : {}
}

/** The anchors of a held answer. */
export async function readTrust({ sealer, sessionKeys }: Unsealing, tx: Db, session: KeyedSession): Promise<TrustedBy[]> {
  const row = await findEvent(tx, session, 'response_posted')
  if (!row) return []
  return trustOf((await openEvent<'response_posted'>({ sealer, sessionKeys }, tx, session, row)).findings)
}

/** The anchor of each credential of an answer, in the order of its result. */
export async function readAnchors(deps: Unsealing, tx: Db, session: KeyedSession): Promise<(TrustedBy | undefined)[]> {
  const row = await findEvent(tx, session, 'response_posted')
  return row ? (await openEvent<'response_posted'>(deps, tx, session, row)).findings.map(({ trust }) => trust) : []
}

/** The details of one moment. */
export async function openEvent<Event extends SessionEvent>(
  { sealer, sessionKeys }: Unsealing,
  tx: Db,
  session: KeyedSession,
  { salt, sealed }: EventRow,
): Promise<SessionEvents[Event]> {
  return JSON.parse(sealer.open(SEALED.event(session, salt, await sessionKeys.of(tx, session)), sealed))
}

export const trustOf = (findings: SessionEvents['response_posted']['findings']): TrustedBy[] =>
  findings.flatMap(({ trust }) => trust ?? [])

/** Records nothing on a full disk, whose reserve is for erasures and for exchanges under way. */
export async function recordShown(deps: Deps, session: PlacedSession): Promise<void> {
  const { id, tenantId, environment } = session
  try {
    if (deps.space.isShort() || (await hasHappened(deps.db, session, 'qr_shown'))) return
    await deps.write(async tx => {
      const open = await lockSession(tx, { tenantId, environment }, id)
      if (open?.status === 'pending') await recordEvent(deps, tx, open, 'qr_shown', {})
    })
  } catch (error) {
    deps.log.debug('timeline.not_recorded', { failure: describeFailure(error) })
  }
}

type LoginEvent = 'login_started' | 'login_returned' | 'login_refused' | 'code_issued' | 'token_issued' | 'userinfo_read'

/** A moment of a log-in, with its record on the audit chain, if any. Once of each kind; false when the session is gone. */
export async function recordLogin<Event extends LoginEvent>(
  deps: Sealing & Acting,
  tx: Db,
  { id, tenantId, environment }: PlacedSession,
  event: Event,
  details: SessionEvents[Event],
  audited?: { action: 'oidc.token_issued' | 'oidc.code_replayed'; actor: string; details: Record<string, unknown> },
): Promise<boolean> {
  const session = await lockSession(tx, { tenantId, environment }, id)
  if (!session) return false
  const entry = audited && {
    ...audited,
    at: deps.now(),
    tenantId,
    subjectId: id,
    session: { id, wrappingKey: session.wrappingKey, sessionKey: await deps.sessionKeys.of(tx, session) },
    bornAt: session.auditSeq,
  }
  await recordEvent(deps, tx, session, event, details, entry ? await deps.audit.append(tx, entry) : null)
  return true
}

/** True once it has happened. */
export const hasLogin = async ({ db }: Reading, session: SessionKey, event: 'userinfo_read'): Promise<boolean> =>
  await hasHappened(db, session, event)

type Reader = { actor: string; environment: VerificationRow['environment'] }

/** Recorded on the audit chain and in the timeline. False when the session is gone. */
export async function recordReading(
  deps: Sealing & Acting,
  { id, tenantId }: SessionKey,
  { actor, environment }: Reader,
): Promise<boolean> {
  return await deps.write(async tx => {
    const session = await lockSession(tx, { tenantId, environment }, id)
    if (!session) return false
    const entry = {
      at: deps.now(),
      tenantId,
      actor,
      action: 'verification.read' as const,
      subjectId: id,
      details: { environment },
      session: { id, wrappingKey: session.wrappingKey, sessionKey: await deps.sessionKeys.of(tx, session) },
      bornAt: session.auditSeq,
    }
    await recordEvent(deps, tx, session, 'claims_read', { actor }, await deps.audit.append(tx, entry))
    return true
  })
}

/** Where the audit chain has a session; empty for one that does not exist. */
export const readAuditEntries = async ({ db }: Reading, session: SessionKey): Promise<number[]> =>
  await listAuditEntries(db, session)
