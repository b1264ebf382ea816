import { isoUtc } from '../../../base/time.ts'
import { apiError } from '../../../http/errors.ts'
import { inTurns } from '../../../http/turns.ts'
import { maySeeClaims } from '../../../people/role.ts'
import type { Visit } from '../../../people/session.ts'
import type { Owner } from '../../../tenants/settings.ts'
import { type Announcement, announce, readReceiver } from '../../../verifications/end/announce.ts'
import { isPortraitGone } from '../../../verifications/portraits.ts'
import { type BrowsedDelivery, browseDeliveries, readDelivery } from '../../../webhooks/browse.ts'
import { payloadOf, sentMessage } from '../../../webhooks/delivery/message.ts'
import { presentAttempt } from '../../../webhooks/present.ts'
import { type Asking, replayById, replayFailed } from '../../../webhooks/replay.ts'
import type { Deps } from '../../deps.ts'
import { recordLook } from '../../readings.ts'
import type {
  AttemptSummary,
  DeliveryAttempt,
  DeliveryDetail,
  DeliveryFilter,
  DeliveryPage,
  DeliverySummary,
  ListedDelivery,
  LoggedDelivery,
  ReplayedDeliveries,
  SentMessage,
} from './schema.ts'

const LIMIT_DEFAULT = 20
const READ_AT_ONCE = 10
/** A verification sends one event; replays add none. */
const PER_VERIFICATION_MAX = 10

export async function readDeliveryPage(
  deps: Deps,
  tenantId: string,
  { environment, verification, limit = LIMIT_DEFAULT, ...filter }: DeliveryFilter,
): Promise<DeliveryPage> {
  const wanted = { ...filter, verificationId: verification, limit }
  const { deliveries, nextBefore } = await browseDeliveries(deps, { tenantId, environment }, wanted)
  return { data: await inTurns(deps.turns, deliveries, each => listed(deps, each), READ_AT_ONCE), next_before: nextBefore }
}

async function listed(deps: Deps, browsed: BrowsedDelivery): Promise<ListedDelivery> {
  // An unreadable one must not hide the others; its own page reports the error.
  const url = await readReceiver(deps, browsed.delivery).catch(() => undefined)
  return { ...summaryOf(browsed), ...(url !== undefined && { receiver: new URL(url).host }) }
}

export async function readLoggedDeliveries(deps: Deps, owner: Owner, verificationId: string): Promise<LoggedDelivery[]> {
  const { deliveries } = await browseDeliveries(deps, owner, { verificationId, limit: PER_VERIFICATION_MAX })
  return deliveries.map(each => ({ ...summaryOf(each), log: attemptsOf(each) }))
}

/** The message contains what the holder presented: reading it leaves an audit record. A viewer gets it without, and no answer. */
export async function readDeliveryDetail(deps: Deps, visit: Visit, owner: Owner, id: string): Promise<DeliveryDetail> {
  const found = await readDelivery(deps, owner, id)
  const announced = found && (await announce(deps, found.delivery))
  if (!announced) throw apiError('delivery_not_found')
  if (!maySeeClaims(visit.user)) return detailForViewer(deps, found, announced)
  await recordLook(deps, visit, owner, announced.verification)
  const attempts = await wholeAttemptsOf(deps, found)
  return {
    delivery: summaryOf(found),
    url: announced.url ?? null,
    attempts,
    message: await messageOf(deps, owner, found, attempts, announced),
  }
}

/** An answer may repeat anything that it got, and the path of the receiver may hold a secret. */
function detailForViewer(deps: Deps, found: BrowsedDelivery, { url, verification }: Announcement): DeliveryDetail {
  const { claims, credentials, wallet_uri, request_uri, redirect_url, ...shown } = verification
  return {
    delivery: summaryOf(found),
    url: url === undefined ? null : new URL(url).origin,
    attempts: attemptsOf(found).map((attempt, i) => ({
      ...attempt,
      duration_ms: found.attempts[i]!.durationMs,
      address: null,
      answer: null,
      detail: null,
    })),
    message: messageNow(deps, found, shown),
  }
}

/** The event as it would be sent now, without signatures. */
function messageNow({ now }: Deps, { delivery: { type } }: BrowsedDelivery, verification: object): SentMessage {
  const at = now()
  const body = payloadOf(type, verification, at)
  return { attempt: null, at: isoUtc(at), body, headers: {}, secret_gone: false, portrait_gone: false }
}

async function wholeAttemptsOf(deps: Deps, found: BrowsedDelivery): Promise<DeliveryAttempt[]> {
  const summaries = attemptsOf(found)
  const sessionKey = await deps.sessionKeys.find(deps.db, found.delivery.verificationId)
  return found.attempts.map((row, i) => {
    const { ms, address, answer, detail } = presentAttempt(deps, row, sessionKey)
    return { ...summaries[i]!, duration_ms: ms, address, answer, detail }
  })
}

/** The message of the latest attempt that knew an address: nothing is signed before, and it is shown as it would be sent now. */
async function messageOf(
  deps: Deps,
  owner: Owner,
  found: BrowsedDelivery,
  attempts: readonly DeliveryAttempt[],
  { verification, ...session }: Announcement,
): Promise<SentMessage> {
  const { delivery, attempts: rows } = found
  const row = rows[attempts.findLastIndex(({ address }) => address !== null)]
  if (!row) return messageNow(deps, found, verification)
  // Messages about a till's sessions are sent after the comparison, with which the portrait went.
  const made = { ...session, id: verification.id, tenantId: owner.tenantId }
  const portrait_gone = session.deviceId === null && (await isPortraitGone(deps, made, verification))
  const { headers, body, isSecretGone } = await sentMessage(deps, owner, delivery, row, verification, portrait_gone)
  return { attempt: row.attempt, at: isoUtc(row.at), body, headers, secret_gone: isSecretGone, portrait_gone }
}

export async function replayDelivery(deps: Deps, asking: Asking, owner: Owner, id: string): Promise<DeliverySummary> {
  const found = await readDelivery(deps, owner, id)
  if (!found) throw apiError('delivery_not_found')
  const [restarted] = await replayById(deps, owner.tenantId, { id }, asking)
  if (!restarted) throw apiError('delivery_under_way')
  return summaryOf({ ...found, delivery: restarted })
}

export async function replayFailedDeliveries(deps: Deps, asking: Asking, owner: Owner): Promise<ReplayedDeliveries> {
  const { replayed, hasMore } = await replayFailed(deps, owner, asking)
  return { replayed, has_more: hasMore }
}

function summaryOf(browsed: BrowsedDelivery): DeliverySummary {
  const { id, verificationId, type, status, createdAt, dueAt, requestId } = browsed.delivery
  const attempts = attemptsOf(browsed)
  const last = attempts.at(-1)
  return {
    id,
    verification_id: verificationId,
    type,
    status,
    attempts: attempts.length,
    ...(last && { last_attempt: last }),
    created_at: isoUtc(createdAt),
    ...(status === 'pending' && { next_attempt_at: isoUtc(dueAt) }),
    ...(requestId !== null && { request_id: requestId }),
  }
}

/** An attempt is stored as interrupted until it ends. */
function attemptsOf({ delivery, attempts }: BrowsedDelivery): AttemptSummary[] {
  return attempts.map(({ attempt, at, outcome, httpStatus }, i) => ({
    attempt,
    at: isoUtc(at),
    outcome: delivery.leaseUntil !== null && i === attempts.length - 1 ? 'under_way' : (outcome as AttemptSummary['outcome']),
    http_status: httpStatus,
  }))
}
