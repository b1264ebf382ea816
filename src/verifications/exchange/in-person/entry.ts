// What the phone of a session was asked in person: one entry, sealed in the session and deleted when it ends. The message is kept
// because it cannot be made again: its signatures would differ, and one key must never encrypt two texts under one counter.
import type { Db } from '../../../db/engine.ts'
import { SEALED } from '../../../db/sealed-columns.ts'
import type { Unsealing } from '../../../ground.ts'
import type { ReaderKey } from '../../../proximity/session.ts'
import { keepInPerson } from '../../end/answer-store.ts'
import { type OpenSession, refuseClosed } from '../../read.ts'
import { lockSession, type VerificationRow } from '../../store.ts'
import { recordEvent, type SessionEvents } from '../../timeline.ts'
import type { Deps } from '../deps.ts'

/** Bytes are in base64url. */
export type Entry = {
  /** As scanned. */
  engagement: string
  readerKey: ReaderKey
  skDevice: string
  /** The SessionEstablishment that was sent. */
  message: string
  version: '1.0' | '1.1'
}

export async function openEntry(
  { sealer, sessionKeys }: Unsealing,
  db: Db,
  session: VerificationRow,
): Promise<Entry | undefined> {
  if (session.sealedInPerson === null) return undefined
  const place = SEALED.inPerson(session, session.salt, await sessionKeys.of(db, session))
  return JSON.parse(sealer.open(place, session.sealedInPerson))
}

/** Requests for one code at once get what was stored first. Another code replaces the entry. */
export async function keepEntry(
  deps: Deps,
  session: OpenSession,
  fresh: Entry,
  asked: SessionEvents['in_person_requested'],
): Promise<Entry> {
  const kept = await deps.write(async tx => {
    const current = await lockOpen(deps, tx, session)
    const known = await openEntry(deps, tx, current)
    if (known?.engagement === fresh.engagement) return known
    // Under the lock, so that repeats are not counted.
    deps.limits.take('in-person', session.id)
    const place = SEALED.inPerson(current, current.salt, await deps.sessionKeys.of(tx, current))
    await keepInPerson(tx, current, deps.sealer.seal(place, JSON.stringify(fresh)))
    await recordEvent(deps, tx, current, 'in_person_requested', asked)
    return fresh
  })
  if (kept === fresh) deps.metrics.count('vidimus_in_person_requests_total', { version: fresh.version })
  return kept
}

/** The phone gave up: its code gets a new key when it is scanned again. */
export async function dropEntry(deps: Deps, session: OpenSession, entry: Entry, code: string): Promise<void> {
  await deps.write(async tx => {
    const current = await lockOpen(deps, tx, session)
    const known = await openEntry(deps, tx, current)
    if (known?.message === entry.message) await keepInPerson(tx, current, null)
    await recordEvent(deps, tx, current, 'in_person_error', { code })
  })
}

async function lockOpen(deps: Deps, tx: Db, { id, tenantId, environment }: OpenSession): Promise<OpenSession> {
  const current = await lockSession(tx, { tenantId, environment }, id)
  refuseClosed(current, deps.now())
  return current
}
