import type { X509Certificate } from 'node:crypto'
import { notSetUp, ok, problem, warning } from '../db/check.ts'
import { authoritiesIn } from '../egress/extra-ca.ts'
import { EXPIRY_WARNING_DAYS } from '../signing/certificate.ts'
import { readEndpoint } from '../tenants/webhook-endpoint.ts'
import { announce } from '../verifications/end/announce.ts'
import { readFailing, readLatest } from '../webhooks/browse.ts'
import { missedOf } from './reach.ts'
import type { Scene } from './scene.ts'

const DAY_MS = 86_400_000
const DELIVERIES_MAX = 5
/** Deliveries of a shop whose attempts are counted. */
const COUNTED_MAX = 100
/** Receivers that were used, and as many that are only set: each is a connection. */
const RECEIVERS_MAX = 5
const ENVIRONMENTS = ['test', 'live'] as const

type Delivery = { tenantId: string; verificationId: string }

/** Connects to receivers and sends nothing: a test message could be taken for a real one. */
export async function checkWebhooks({ deps, tenants, callsOthers }: Scene) {
  const latest = await Promise.all((await tenants).map(({ id }) => readLatest(deps, id, DELIVERIES_MAX)))
  const owners = ownersOf((await tenants).map(({ id }) => id))
  // One that is set is checked before the first customer waits for it.
  const set = (await Promise.all(owners.map(owner => readEndpoint(deps, deps.db, owner)))).filter(url => url !== undefined)
  const used = await originsOf(deps, latest.flat())
  const unused = new Set(set.map(url => new URL(url).origin)).difference(new Set(used))
  const origins = [...used.slice(0, RECEIVERS_MAX), ...[...unused].slice(0, RECEIVERS_MAX)]
  if (origins.length === 0) {
    const counted = await countAttempts(deps, await tenants)
    return counted.attempts === 0 ? notSetUp('no_webhooks') : notSetUp('no_endpoint', counted)
  }
  const missed = callsOthers ? await missedOf(deps, origins) : []
  if (missed.length > 0) return problem('receivers_missed', { missed })
  const failing = await failingOrigins(deps, owners)
  return failing.length > 0 ? warning('webhooks_failing', { origins: failing }) : ok('receivers_reached', { origins })
}

type Counted = { deliveries: number; attempts: number }

/** An endpoint may have been removed since, and deliveries without one cancelled. */
async function countAttempts(deps: Scene['deps'], tenants: readonly { id: string }[]): Promise<Counted> {
  const latest = (await Promise.all(tenants.map(({ id }) => readLatest(deps, id, COUNTED_MAX)))).flat()
  return { deliveries: latest.length, attempts: latest.reduce((sum, { attempts }) => sum + attempts, 0) }
}

/** A bad file stops the start; a good one may expire later. */
export async function checkExtraCa({ deps }: Scene) {
  const { extraCa } = deps.egress
  if (extraCa === undefined) return ok('extra_ca_unused')
  const authorities = authoritiesIn(extraCa)
  const soon = deps.now() + EXPIRY_WARNING_DAYS * DAY_MS
  const ending = authorities.filter(({ validToDate }) => validToDate.getTime() < soon)
  const namesOf = (some: X509Certificate[]) => some.map(({ subject }) => subject.replaceAll('\n', ', '))
  return ending.length > 0
    ? warning('extra_ca_ending', { authorities: namesOf(ending) })
    : ok('extra_ca_good', { authorities: namesOf(authorities) })
}

/** Only the origin: path and query may contain a secret. */
async function originsOf(deps: Scene['deps'], deliveries: Delivery[]): Promise<string[]> {
  // The database check reports sessions that cannot be read.
  const announced = await Promise.all(deliveries.map(delivery => announce(deps, delivery).catch(() => undefined)))
  return [...new Set(announced.flatMap(each => (each?.url === undefined ? [] : [new URL(each.url).origin])))]
}

const ownersOf = (tenantIds: string[]) =>
  tenantIds.flatMap(tenantId => ENVIRONMENTS.map(environment => ({ tenantId, environment })))

async function failingOrigins(deps: Scene['deps'], owners: ReturnType<typeof ownersOf>): Promise<string[]> {
  const failing = (await Promise.all(owners.map(owner => readFailing(deps, owner)))).flat()
  return await originsOf(
    deps,
    failing.slice(0, RECEIVERS_MAX).flatMap(([newest]) => newest ?? []),
  )
}
