import type { X509Certificate } from 'node:crypto'
import { type Found, ok, problem, someOf, warning } from '../db/check.ts'
import { authoritiesIn } from '../egress/extra-ca.ts'
import { EXPIRY_WARNING_DAYS } from '../signing/certificate.ts'
import { announce } from '../verifications/announce.ts'
import { readFailing, readLatest } from '../webhooks/browse.ts'
import { whyUnreachable } from './reach.ts'
import type { Scene } from './scene.ts'

const DAY_MS = 86_400_000
const DELIVERIES_MAX = 5
const RECEIVERS_MAX = 5
const ENVIRONMENTS = ['test', 'live'] as const

type Delivery = { tenantId: string; verificationId: string }

/** Connects to receivers and sends nothing: a test message could be taken for a real one. */
export async function checkWebhooks({ deps, tenants }: Scene): Promise<Found> {
  const latest = await Promise.all((await tenants).map(({ id }) => readLatest(deps, id, DELIVERIES_MAX)))
  const origins = (await originsOf(deps, latest.flat())).slice(0, RECEIVERS_MAX)
  if (origins.length === 0) return ok('No webhook was sent yet.')
  const reached = await Promise.all(origins.map(async origin => ({ origin, why: await whyUnreachable(deps, origin) })))
  const missed = reached.filter(({ why }) => why !== undefined).map(({ origin, why }) => `${origin} (${why})`)
  if (missed.length) {
    return problem(
      `Receivers of webhooks cannot be reached: ${someOf(missed)}.`,
      'Repair the receiver; for one in your own network, set VIDIMUS_EGRESS_ALLOW, and VIDIMUS_EXTRA_CA for its authority.',
    )
  }
  const failing = await failingOrigins(
    deps,
    (await tenants).map(({ id }) => id),
  )
  if (failing.length) {
    return warning(
      `Receivers can be reached, but webhooks of the last 24 hours failed at ${someOf(failing)}.`,
      'See the reasons under Webhooks in the dashboard, and replay them there.',
    )
  }
  return ok(`The latest receivers can be reached: ${someOf(origins)}. Nothing was sent to them.`)
}

/** A bad file stops the start; a good one may expire later. */
export async function checkExtraCa({ deps }: Scene): Promise<Found> {
  const { extraCa } = deps.egress
  if (extraCa === undefined) return ok('Webhooks and status lists trust only the authorities of the system.')
  const authorities = authoritiesIn(extraCa)
  const soon = deps.now() + EXPIRY_WARNING_DAYS * DAY_MS
  const ending = authorities.filter(({ validToDate }) => validToDate.getTime() < soon)
  const named = (some: X509Certificate[]) => someOf(some.map(({ subject }) => subject.replaceAll('\n', ', ')))
  if (ending.length) {
    return warning(
      `Authorities of VIDIMUS_EXTRA_CA expire soon or have expired: ${named(ending)}.`,
      'Put current ones into the file, and restart the service.',
    )
  }
  return ok(`Webhooks and status lists also trust ${named(authorities)}.`)
}

/** Only the origin: path and query may contain a secret. */
async function originsOf(deps: Scene['deps'], deliveries: Delivery[]): Promise<string[]> {
  // The database check reports sessions that cannot be read.
  const announced = await Promise.all(deliveries.map(delivery => announce(deps, delivery).catch(() => undefined)))
  return [...new Set(announced.flatMap(each => (each?.url === undefined ? [] : [new URL(each.url).origin])))]
}

async function failingOrigins(deps: Scene['deps'], tenantIds: string[]): Promise<string[]> {
  const owners = tenantIds.flatMap(tenantId => ENVIRONMENTS.map(environment => ({ tenantId, environment })))
  const failing = (await Promise.all(owners.map(owner => readFailing(deps, owner)))).flat()
  return await originsOf(
    deps,
    failing.slice(0, RECEIVERS_MAX).flatMap(([newest]) => newest ?? []),
  )
}
