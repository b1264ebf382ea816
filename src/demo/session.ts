import { isoUtc } from '../base/time.ts'
import { readWhole, showsAnswer } from '../verifications/browse/browse.ts'
import { readEvents } from '../verifications/timeline.ts'
import type { Deps } from './deps.ts'
import type { Demo } from './furnish.ts'
import type { DemoMoment, DemoSession } from './schema.ts'

/** A verification for the back office: timeline, checks, and the webhook once received. */
export async function readSession(deps: Deps, { tenantId, receiver }: Demo, id: string): Promise<DemoSession> {
  const { verification, isJudged, createdAt } = await readWhole(deps, { tenantId, environment: 'test' }, id)
  const recorded = await readEvents(deps, { id, tenantId })
  const events = recorded.filter(({ event }) => event !== 'response_posted' || showsAnswer(verification))
  const webhook = receiver.find(id)
  const answered = events.find(each => each.event === 'response_posted')
  const moments = [
    { at: createdAt, event: 'created' as const },
    ...events.flatMap(({ at, event }) => (isTold(event) ? [{ at, event }] : [])),
    ...(webhook ? [{ at: webhook.at, event: 'webhook_received' as const }] : []),
  ]
  return {
    verification,
    is_judged: isJudged,
    moments: moments.map(({ at, event }) => ({ at: isoUtc(at), event })),
    checks: (answered?.details.findings ?? []).flatMap(({ checks }) =>
      checks.map(({ check, status, detail }) => ({ check, status, ...(detail !== undefined && { detail }) })),
    ),
    ...(webhook && { webhook: { headers: webhook.headers, body: webhook.body } }),
  }
}

const TOLD = ['request_fetched', 'in_person_requested', 'response_posted']

const isTold = (event: string): event is DemoMoment['event'] => TOLD.includes(event)
