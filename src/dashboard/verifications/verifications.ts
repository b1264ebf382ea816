import { readKeys } from '../../access/keys.ts'
import { SCOPES } from '../../access/scopes.ts'
import { readActor } from '../../audit/browse.ts'
import { isoUtc, parseUtcInstant } from '../../base/time.ts'
import { readDevices } from '../../devices/read.ts'
import { inTurns, LIST_CHARS_MAX, longList } from '../../http/turns.ts'
import { maySeeClaims } from '../../people/role.ts'
import { actorOf, type Visit } from '../../people/session.ts'
import { formatsOf } from '../../templates/forms.ts'
import { dailyQuotaOf, type Owner, type TenantRow } from '../../tenants/settings.ts'
import {
  type Browsed,
  browseVerifications,
  countVerifications,
  readWhole,
  showsAnswer,
  type WholeVerification,
} from '../../verifications/browse/browse.ts'
import { createVerification } from '../../verifications/create/create.ts'
import { isOverdue } from '../../verifications/failures.ts'
import type { CreateVerification, Verification } from '../../verifications/schema.ts'
import type { RecordedEvent } from '../../verifications/timeline.ts'
import { readActorLabels } from '../actors.ts'
import type { Deps } from '../deps.ts'
import { readLoggedDeliveries } from '../developers/webhooks/deliveries.ts'
import { recordLook } from '../readings.ts'
import type {
  Moment,
  VerificationCount,
  VerificationDetail,
  VerificationExport,
  VerificationFilter,
  VerificationPage,
  VerificationSummary,
} from './schema.ts'

const LIMIT_DEFAULT = 20

/** A page as the dashboard gets it. */
export async function listSummaries(deps: Deps, tenantId: string, filter: VerificationFilter): Promise<VerificationPage> {
  const { data, ...others } = await readSummaries(deps, tenantId, filter)
  const lengths = await inTurns(deps.turns, data, ({ metadata = {} }) => Object.entries(metadata).flat().join().length)
  const chars = lengths.reduce((sum, each) => sum + each, 0)
  return chars <= LIST_CHARS_MAX ? { data, ...others } : longList<VerificationPage>(eachInTurn(deps, data), others)
}

async function* eachInTurn<One>({ turns }: Deps, all: readonly One[]): AsyncGenerator<One, void, undefined> {
  for (const one of all) {
    await turns.next()
    yield one
  }
}

export async function countSummaries(
  deps: Deps,
  tenantId: string,
  { environment, from, until, ...filter }: VerificationExport,
): Promise<VerificationCount> {
  const times = { from: instant(from), until: instant(until) }
  const { count, isMore } = await countVerifications(deps, { tenantId, environment }, { ...filter, ...times })
  return { count, is_more: isMore }
}

export async function readSummaries(
  deps: Deps,
  tenantId: string,
  { environment, before, limit = LIMIT_DEFAULT, from, until, ...filter }: VerificationFilter,
): Promise<VerificationPage> {
  const owner = { tenantId, environment }
  const times = { before: instant(before), from: instant(from), until: instant(until) }
  const { verifications, nextBefore } = await browseVerifications(deps, owner, { ...filter, ...times, limit })
  const present = await summaries(deps, owner)
  return { data: verifications.map(present), next_before: nextBefore === null ? null : isoUtc(nextBefore) }
}

const instant = (text: string | undefined): number | undefined => (text === undefined ? undefined : parseUtcInstant(text))

/** Summaries with the names of tills and keys. */
async function summaries(deps: Deps, owner: Owner): Promise<(browsed: Browsed) => VerificationSummary> {
  const devices = new Map((await readDevices(deps, owner)).map(({ id, name }) => [id, { id, name }]))
  const keys = new Map(
    (await readKeys(deps, owner.tenantId)).map(({ id, label, prefix }) => [id, { id, label: label || prefix }]),
  )
  return ({ verification, isJudged, deviceId, keyId }) => {
    const { claims, credentials, wallet_uri, request_uri, redirect_url, ...rest } = verification
    const [device, key] = [devices.get(deviceId ?? ''), keys.get(keyId ?? '')]
    return { ...rest, is_judged: isJudged, ...(device && { device }), ...(key && { key }) }
  }
}

/** Showing what a holder presented leaves an audit record first. A viewer sees the outcome only. */
export async function readDetail(deps: Deps, visit: Visit, owner: Owner, id: string): Promise<VerificationDetail> {
  const whole = await readWhole(deps, owner, id)
  const { isJudged } = whole
  const { verification, query } = maySeeClaims(visit.user) ? whole : forViewer(whole)
  const events = await recordLook(deps, visit, owner, verification)
  const canceller = whole.cancelled && (await readActor(deps.db, whole.cancelled.auditSeq))
  const labelOf = await readActorLabels(deps, [owner.tenantId])
  const timeline = momentsOf(whole, { creator: await readActor(deps.db, whole.auditSeq), canceller }, events).map(moment => {
    const label = 'actor' in moment ? labelOf(owner.tenantId, moment.actor) : undefined
    return label === undefined ? moment : { ...moment, actor_label: label }
  })
  const deliveries = await readLoggedDeliveries(deps, owner, id)
  const formats = formatsOf(query)
  return { verification, environment: owner.environment, formats, query: { ...query }, is_judged: isJudged, timeline, deliveries }
}

/**
 * Without claims, and without the links that answer a session or name its order. The values that a
 * query accepts are claims too, once it is answered.
 */
function forViewer({ verification, query }: WholeVerification): Pick<WholeVerification, 'verification' | 'query'> {
  const { claims, credentials, wallet_uri, request_uri, redirect_url, ...rest } = verification
  const withoutValues = query.credentials.map(each =>
    each.claims ? { ...each, claims: each.claims.map(({ values, ...claim }) => claim) } : each,
  )
  return { verification: rest, query: { ...query, credentials: withoutValues } }
}

type Actors = { creator: string; canceller: string | null }

function momentsOf(whole: WholeVerification, { creator, canceller }: Actors, events: readonly RecordedEvent[]): Moment[] {
  // Uses the status that was read before the events: a response may have arrived since, and be held.
  const isShown = ({ event }: RecordedEvent) => event !== 'response_posted' || showsAnswer(whole.verification)
  const moments: { at: number; moment: Moment }[] = [
    { at: whole.createdAt, moment: { at: isoUtc(whole.createdAt), event: 'created', actor: creator } },
    ...events.filter(isShown).map(each => ({ at: each.at, moment: momentOf(each) })),
  ]
  const { redeemedAt, expiresAt, unreleased, cancelled } = whole
  if (cancelled)
    moments.push({ at: cancelled.at, moment: { at: isoUtc(cancelled.at), event: 'cancelled', actor: canceller ?? '' } })
  if (unreleased) {
    const { since, until: end, awaits } = unreleased
    moments.push({ at: since, moment: { at: isoUtc(since), event: 'response_held', awaits } })
    const code = whole.verification.error?.code
    if (isOverdue(code)) moments.push({ at: end, moment: { at: isoUtc(end), event: code } })
  }
  if (redeemedAt !== null) moments.push({ at: redeemedAt, moment: { at: isoUtc(redeemedAt), event: 'redeemed' } })
  if (whole.verification.status === 'expired')
    moments.push({ at: expiresAt, moment: { at: isoUtc(expiresAt), event: 'expired' } })
  // Stable: events of one millisecond stay in the order they were written.
  return moments.toSorted((a, b) => a.at - b.at).map(({ moment }) => moment)
}

function momentOf(recorded: RecordedEvent): Moment {
  const at = isoUtc(recorded.at)
  switch (recorded.event) {
    case 'qr_shown':
      return { at, event: recorded.event }
    case 'request_fetched':
      return { at, event: recorded.event, ...recorded.details } as Moment
    case 'response_unreadable':
      return { at, event: recorded.event, reason: recorded.details.reason }
    case 'dc_requested':
    case 'dc_error':
    case 'in_person_requested':
    case 'in_person_refused':
    case 'in_person_error':
    case 'in_person_failed':
      return { at, event: recorded.event, ...recorded.details } as Moment
    case 'claims_read':
      return { at, event: recorded.event, actor: recorded.details.actor }
    case 'login_started':
    case 'login_returned':
    case 'login_refused':
    case 'code_issued':
    case 'token_issued':
    case 'userinfo_read':
      return { at, event: recorded.event, ...recorded.details } as Moment
    case 'photo_compared':
      return { at, event: recorded.event, ...recorded.details }
    case 'response_posted': {
      const { status, error, findings, ...channel } = recorded.details
      const credentials = findings.map(({ credential, checks, trust, status: against }) => ({
        credential,
        ...(trust && { trust }),
        ...(against && { status: against }),
        checks: checks.map(({ check, status: outcome, detail, at: checkedAt }) => ({
          check,
          status: outcome,
          ...(detail !== undefined && { detail }),
          at: isoUtc(checkedAt),
        })),
      }))
      return { at, event: recorded.event, status, ...(error !== undefined && { error }), credentials, ...channel }
    }
  }
}

/** A test session, as a test key would create it. */
export async function tryVerification(
  deps: Deps,
  { user }: Visit,
  tenant: TenantRow,
  trial: CreateVerification,
  isExample?: true,
): Promise<Verification> {
  const caller = {
    kind: 'key' as const,
    keyId: user.id,
    tenantId: tenant.id,
    environment: 'test' as const,
    scopes: SCOPES,
    name: actorOf(user),
    dailyQuota: dailyQuotaOf(tenant),
    appSchemes: tenant.appSchemes ?? [],
  }
  return (await createVerification(deps, { caller, body: trial, isExample })).verification
}
