import { apiError } from '../http/errors.ts'
import { actorOf, type Visit } from '../people/session.ts'
import type { Owner } from '../tenants/settings.ts'
import type { Verification } from '../verifications/schema.ts'
import { type RecordedEvent, readEvents, recordReading } from '../verifications/timeline.ts'
import type { Deps } from './deps.ts'

/** A second look within this time leaves no second record. */
const READING_EVERY_MS = 10 * 60_000

/**
 * Called before a verification is shown: one that contains what a holder presented gets an audit
 * record of who reads it. Returns its events.
 */
export async function recordLook(
  deps: Deps,
  { user }: Visit,
  { tenantId, environment }: Owner,
  verification: Verification,
): Promise<RecordedEvent[]> {
  const { id } = verification
  const events = await readEvents(deps, { id, tenantId })
  const actor = actorOf(user)
  if (!holdsPresented(verification) || wasReadLately(events, actor, deps.now())) return events
  if (!(await recordReading(deps, { id, tenantId }, { actor, environment }))) throw apiError('session_not_found')
  return [...events, { at: deps.now(), event: 'claims_read', details: { actor } }]
}

const holdsPresented = ({ claims, credentials }: Verification): boolean =>
  claims !== undefined || (credentials !== undefined && credentials.length > 0)

const wasReadLately = (events: readonly RecordedEvent[], actor: string, now: number): boolean =>
  events.some(each => each.event === 'claims_read' && each.details.actor === actor && each.at > now - READING_EVERY_MS)
