import type { Caller } from '../../../access/scopes.ts'
import { isoUtc } from '../../../base/time.ts'
import { readBody } from '../../../http/body.ts'
import { apiError } from '../../../http/errors.ts'
import type { DcqlQuery } from '../../../openid4vp/dcql/dcql.ts'
import { type DeviceRequestParts, deviceRequestParts } from '../../../openid4vp/exchange/device-request.ts'
import { requestInPerson } from '../../../openid4vp/exchange/reader-auth.ts'
import { type Engagement, readEngagement } from '../../../proximity/engagement.ts'
import { establishment, openSession } from '../../../proximity/session.ts'
import { signatoriesOf } from '../../../signing/signatories.ts'
import { type OpenSession, readOwnOpenSession } from '../../read.ts'
import { recordEvent, type SessionEvents } from '../../timeline.ts'
import { askingOf, logLongRegistration, registrationFor } from '../asked.ts'
import type { Deps } from '../deps.ts'
import { type Entry, keepEntry, openEntry } from './entry.ts'
import { type InPersonRequest, ScannedCode } from './schema.ts'

const REQUEST_BYTES_MAX = 64 * 1024

/** A request about a session of the caller's. */
export type Door = { id: string; caller: Caller; request: Request }

/** What a phone is sent whose code was scanned. Repeatable: one code gets one message. */
export async function inPersonRequest(deps: Deps, { id, caller, request }: Door): Promise<InPersonRequest> {
  const session = await readOwnOpenSession(deps, caller, id)
  const { engagement: code, transports } = await readBody(request, ScannedCode)
  const engagement = await readEngagement(code)
  const refuse = async (reason: Reason, error: Error, offers: string[] = []): Promise<never> => {
    await deps.write(tx => recordEvent(deps, tx, session, 'in_person_refused', { reason, offers }))
    throw error
  }
  if (engagement === 'invalid') return await refuse('invalid', apiError('invalid_engagement'))
  const { query } = await askingOf(deps, session)
  const parts = deviceRequestParts(query, await registrationFor(deps, session, query))
  if (!parts) throw apiError('not_askable_in_person')
  if (session.release === 'on_redeem')
    throw notAskable('This session is released by its redirect, so it cannot be answered in person.')
  if (engagement === 'curve_not_supported')
    return await refuse(engagement, notSupported('The phone uses a key on a curve that this service does not know.'))
  const offers = engagement.transports.map(({ type }) => type)
  const usable = engagement.transports.filter(({ type }) => transports?.includes(type) ?? true)
  if (usable.length === 0 && !transports?.includes('other'))
    return await refuse('transport_not_supported', notSupported(mismatch(offers, transports)), offers)
  logLongRegistration(deps, session, parts)
  const { message } = await entryFor(deps, session, engagement, { query, parts })
  return { message, transports: usable, expires_at: isoUtc(session.expiresAt) }
}

type Reason = SessionEvents['in_person_refused']['reason']

const notAskable = (message: string) => apiError('not_askable_in_person', { message })
const notSupported = (message: string) => apiError('engagement_not_supported', { message })

const mismatch = (offers: readonly string[], transports: readonly string[] | undefined): string => {
  const offered = offers.length > 0 ? `offers ${offers.join(', ')}` : 'offers no transport that is known'
  return `The phone ${offered}${transports ? `; the caller can only do ${transports.join(', ')}` : ''}.`
}

type Asked = { query: DcqlQuery; parts: DeviceRequestParts }

async function entryFor(deps: Deps, session: OpenSession, engagement: Engagement, { query, parts }: Asked): Promise<Entry> {
  const code = base64url(engagement.bytes)
  const known = await openEntry(deps, deps.db, session)
  if (known?.engagement === code) return known
  const opened = await openSession(engagement)
  const signatories = await signatoriesOf(deps, session, query, 'in_person')
  const { request, version } = await requestInPerson(parts, opened.transcript, signatories, engagement)
  if (request.length > REQUEST_BYTES_MAX) throw notAskable('This query is too large to be asked in person.')
  const { readerKey, skDevice } = opened
  const message = base64url(establishment(opened, request))
  const fresh = { engagement: code, readerKey, skDevice: base64url(skDevice), message, version }
  const offers = engagement.transports.map(({ type }) => type)
  const asked = { version, extended: engagement.takesUseCases, offers, documents: parts.itemsRequests.length }
  return await keepEntry(deps, session, fresh, asked)
}

const base64url = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url')
