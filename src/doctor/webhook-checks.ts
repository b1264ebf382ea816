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

/** Receivers are connected to, and sent nothing: a message that nobody is owed would be taken for a real one. */
export async function checkWebhooks({ deps, tenants }: Scene): Promise<Found> {
  const latest = await Promise.all((await tenants).map(({ id }) => readLatest(deps, id, DELIVERIES_MAX)))
  const origins = (await originsOf(deps, latest.flat())).slice(0, RECEIVERS_MAX)
  if (origins.length === 0) return ok('No webhook was sent yet.')
  const reached = await Promise.all(origins.map(async origin => ({ origin, why: await whyUnreachable(deps, origin) })))
  const missed = reached.filter(({ why }) => why !== undefined).map(({ origin, why }) => `${origin} (${why})`)
  if (missed.length) {
    return problem(
      `Receivers of webhooks cannot be reached: ${someOf(missed)}.`,
      'Mend the receiver; for one in your own network, open it with VIDIMUS_EGRESS_ALLOW, and name its authority with VIDIMUS_EXTRA_CA.',
    )
  }
  const failing = await failingOrigins(
    deps,
    (await tenants).map(({ id }) => id),
  )
  if (failing.length) {
    return warning(
      `Receivers can be reached, but messages of the last 24 hours failed at ${someOf(failing)}.`,
      'See why under Webhooks in the dashboard, and send them again there.',
    )
  }
  return ok(`The latest receivers can be reached; nothing was sent to them now: ${someOf(origins)}.`)
}

/** A bad file stops the start; one that was good may end. */
export async function checkExtraCa({ deps }: Scene): Promise<Found> {
  const { extraCa } = deps.egress
  if (extraCa === undefined) return ok('Webhooks and status lists trust the authorities of the system, and no others.')
  const authorities = authoritiesIn(extraCa)
  const soon = deps.now() + EXPIRY_WARNING_DAYS * DAY_MS
  const ending = authorities.filter(({ validToDate }) => validToDate.getTime() < soon)
  const named = (some: X509Certificate[]) => someOf(some.map(({ subject }) => subject.replaceAll('\n', ', ')))
  if (ending.length) {
    return warning(
      `Authorities of VIDIMUS_EXTRA_CA end soon or have ended: ${named(ending)}.`,
      'Put current ones into the file, and start the service again.',
    )
  }
  return ok(`Webhooks and status lists also trust ${named(authorities)}.`)
}

/** Only the origin of an address: the rest of it may be a secret. */
async function originsOf(deps: Scene['deps'], deliveries: Delivery[]): Promise<string[]> {
  // One that cannot be read is for the check of the database to tell.
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
