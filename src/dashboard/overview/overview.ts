import { isExpired, readKeys } from '../../access/keys.ts'
import { isoUtc, parseUtcInstant } from '../../base/time.ts'
import { readDevices, readReused } from '../../devices/read.ts'
import { addressKind } from '../../doctor/address.ts'
import { EXPIRY_WARNING_DAYS, isRunningOut, signingState } from '../../signing/certificate.ts'
import { isEnding, readRegistrations } from '../../signing/registrations.ts'
import { dailyQuotaOf, type Owner, type TenantRow } from '../../tenants/settings.ts'
import { readSources } from '../../trust/lists/sources.ts'
import { presentAnchor, readAnchors } from '../../trust/settings.ts'
import { endOf, sourceState } from '../../trust/state.ts'
import { readUsage } from '../../usage/read.ts'
import type { Usage } from '../../usage/schema.ts'
import { announce } from '../../verifications/end/announce.ts'
import { readFailing } from '../../webhooks/browse.ts'
import type { Deps } from '../deps.ts'
import { readSummaries } from '../verifications/verifications.ts'
import { readFirstSteps } from './first-steps.ts'
import { readNamedNumbers } from './numbers.ts'
import type { Attention, Overview, OverviewQuery } from './schema.ts'

const RECENT_MAX = 10

const WARNING_MS = EXPIRY_WARNING_DAYS * 86_400_000
const QUOTA_SHARE = 0.8
const DEVICES_MAX = 10
const RECEIVERS_MAX = 5
const REUSE_SHOWN_MS = 7 * 86_400_000
/** Servers of lists are away for hours at times. */
const UNREACHABLE_MS = 86_400_000

export async function readOverview(deps: Deps, tenant: TenantRow, { environment, days }: OverviewQuery): Promise<Overview> {
  const usage = await readUsage(deps, tenant.id, dailyQuotaOf(tenant))
  const { data } = await readSummaries(deps, tenant.id, { environment, limit: RECENT_MAX })
  const attention = await readAttention(deps, { tenantId: tenant.id, environment, usage })
  const numbers = await readNamedNumbers(deps, { tenantId: tenant.id, environment }, days)
  return { usage, recent: data, attention, numbers, first_steps: await readFirstSteps(deps, tenant.id, numbers) }
}

type Shown = Owner & { usage: Usage }

/** Problems that stop a customer now or soon, as codes: the page has the sentences. */
export async function readAttention(deps: Deps, { tenantId, environment, usage }: Shown): Promise<Attention[]> {
  const isLive = environment === 'live' || (await hasLiveKeys(deps, tenantId))
  return [
    ...(await ofTrust(deps, isLive)),
    ...(await ofLists(deps)),
    ...(await ofCertificate(deps, tenantId, isLive)),
    ...(await ofRegistrations(deps, tenantId)),
    ...(isLive ? ofPublicUrl(deps.config.publicUrl) : []),
    ...ofQuota(usage),
    ...(await ofCopiedTokens(deps, { tenantId, environment })),
    ...(await ofDevices(deps, { tenantId, environment })),
    ...(await ofWebhooks(deps, { tenantId, environment })),
  ]
}

async function hasLiveKeys(deps: Deps, tenantId: string): Promise<boolean> {
  const keys = await readKeys(deps, tenantId)
  return keys.some(key => key.environment === 'live' && key.revokedAt === null && !isExpired(key, deps.now()))
}

async function ofTrust(deps: Deps, isLive: boolean): Promise<Attention[]> {
  const all = await readAnchors(deps)
  const isMissing = isLive && !all.some(({ environment }) => environment === 'live')
  // A list's own entries are its operator's to renew.
  const anchors = all.filter(({ sourceId }) => sourceId === null).map(presentAnchor)
  const soon = isoUtc(deps.now() + WARNING_MS)
  return [
    ...(isMissing ? [{ code: 'no_trust_anchors' as const }] : []),
    ...anchors
      .filter(({ not_after }) => not_after < soon)
      .map(({ id, label, not_after }) => ({ code: 'trust_anchor_expires' as const, id, label, not_after })),
  ]
}

/** One notice for each list: its end matters more than why it is not updated. */
async function ofLists(deps: Deps): Promise<Attention[]> {
  const now = deps.now()
  return (await readSources(deps)).flatMap((source): Attention[] => {
    const { id, label, environment, failure, failingSince } = source
    const list = { id, label, environment }
    const state = sourceState(source, now)
    if (state === 'ended') return [{ code: 'trust_list_ended', ...list }]
    if (failure === 'signer_unknown') return [{ code: 'trust_signer_changed', ...list }]
    if (state === 'stale') return [{ code: 'trust_list_stale', ...list, until: isoUtc(endOf(source)) }]
    const isShort = failure === 'unreachable' && now - (failingSince ?? now) < UNREACHABLE_MS
    return failure === null || isShort ? [] : [{ code: 'trust_list_refused', ...list, since: isoUtc(failingSince ?? now) }]
  })
}

async function ofCertificate(deps: Deps, tenantId: string, isLive: boolean): Promise<Attention[]> {
  const state = await signingState(deps, tenantId)
  const { authority, notAfter, daysLeft } = state
  return [
    ...(isLive && authority !== null ? [{ code: 'certificate_self_made' as const }] : []),
    ...(isRunningOut(state, deps.now())
      ? [{ code: 'certificate_expires' as const, not_after: isoUtc(notAfter), days_left: daysLeft }]
      : []),
  ]
}

/** Registration certificates of the shop and of the installation. */
async function ofRegistrations(deps: Deps, tenantId: string): Promise<Attention[]> {
  const rows = (await readRegistrations(deps)).filter(row => row.tenantId === null || row.tenantId === tenantId)
  return rows
    .filter(row => isEnding(row, deps.now()))
    .map(({ id, purposes, subject, notAfter }) => ({
      code: 'registration_ends' as const,
      id,
      label: purposes[0]?.value ?? subject,
      not_after: isoUtc(notAfter ?? 0),
    }))
}

/** Phones cannot reach this machine's local names, and most wallets refuse plain http. */
function ofPublicUrl(publicUrl: string): Attention[] {
  switch (addressKind(publicUrl)) {
    case 'local':
      return [{ code: 'public_url_local', public_url: publicUrl }]
    case 'plain':
      return [{ code: 'public_url_not_https', public_url: publicUrl }]
    case 'secure':
      return []
  }
}

function ofQuota({ verifications_created: used, daily_quota }: Usage): Attention[] {
  return used >= daily_quota * QUOTA_SHARE ? [{ code: 'quota_nearly_used', used, daily_quota }] : []
}

async function ofCopiedTokens(deps: Deps, owner: Owner): Promise<Attention[]> {
  const reused = await readReused(deps, owner, { since: deps.now() - REUSE_SHOWN_MS, limit: DEVICES_MAX })
  return reused.map(({ id, name, revoked_at = '' }) => ({ code: 'token_copied' as const, device_id: id, name, revoked_at }))
}

async function ofDevices(deps: Deps, owner: Owner): Promise<Attention[]> {
  const at = deps.now()
  return (await readDevices(deps, owner))
    .filter(({ status, pairing_expires_at = '' }) => status === 'pending' && (parseUtcInstant(pairing_expires_at) ?? at) <= at)
    .slice(0, DEVICES_MAX)
    .map(({ id, name, pairing_expires_at = '' }) => ({
      code: 'pairing_lapsed' as const,
      device_id: id,
      name,
      lapsed_at: pairing_expires_at,
    }))
}

async function ofWebhooks(deps: Deps, owner: Owner): Promise<Attention[]> {
  const receivers = (await readFailing(deps, owner)).slice(0, RECEIVERS_MAX)
  const found = await Promise.all(
    receivers.map(async failing => {
      const newest = failing.reduce((one, other) => (other.createdAt > one.createdAt ? other : one))
      // An unreadable one must not hide the others; the log and the doctor report it.
      const url = (await announce(deps, newest).catch(() => undefined))?.url
      const waiting = failing.filter(({ status }) => status === 'pending').length
      return url && { origin: new URL(url).origin, failed: failing.length - waiting, waiting, newest_id: newest.id }
    }),
  )
  return found.flatMap(each => (each ? [{ code: 'webhook_failing' as const, ...each }] : []))
}
