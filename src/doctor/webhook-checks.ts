import type { X509Certificate } from 'node:crypto'
import { type Found, notSetUp, ok, problem, someOf, warning } from '../db/check.ts'
import { authoritiesIn } from '../egress/extra-ca.ts'
import { EXPIRY_WARNING_DAYS } from '../signing/certificate.ts'
import { readEndpoint } from '../tenants/webhook-endpoint.ts'
import { announce } from '../verifications/announce.ts'
import { readFailing, readLatest } from '../webhooks/browse.ts'
import { missedOf, whyUnreachable } from './reach.ts'
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
export async function checkWebhooks({ deps, tenants }: Scene): Promise<Found> {
  const latest = await Promise.all((await tenants).map(({ id }) => readLatest(deps, id, DELIVERIES_MAX)))
  const owners = ownersOf((await tenants).map(({ id }) => id))
  // One that is set is checked before the first customer waits for it.
  const set = (await Promise.all(owners.map(owner => readEndpoint(deps, deps.db, owner)))).filter(url => url !== undefined)
  const used = await originsOf(deps, latest.flat())
  const unused = new Set(set.map(url => new URL(url).origin)).difference(new Set(used))
  const origins = [...used.slice(0, RECEIVERS_MAX), ...[...unused].slice(0, RECEIVERS_MAX)]
  if (origins.length === 0) return withoutReceiver(await countAttempts(deps, await tenants))
  const reached = await Promise.all(origins.map(async origin => ({ origin, why: await whyUnreachable(deps, origin) })))
  const missed = missedOf(reached)
  if (missed.en.length)
    return problem({
      en: [
        `Receivers of webhooks cannot be reached: ${someOf(missed.en)}.`,
        'Repair the receiver; for one in your own network, set VIDIMUS_EGRESS_ALLOW, and VIDIMUS_EXTRA_CA for its authority.',
      ],
      de: [
        `Empfänger von Webhooks sind nicht erreichbar: ${someOf(missed.de, 'de')}.`,
        'Bringen Sie den Empfänger in Ordnung; für einen im eigenen Netz setzen Sie VIDIMUS_EGRESS_ALLOW, und VIDIMUS_EXTRA_CA für seine Stelle.',
      ],
    })
  const failing = await failingOrigins(deps, owners)
  if (failing.length)
    return warning({
      en: [
        `Receivers can be reached, but webhooks of the last 24 hours failed at ${someOf(failing)}.`,
        'See the reasons under Webhooks in the dashboard, and replay them there.',
      ],
      de: [
        `Die Empfänger sind erreichbar, aber Webhooks der letzten 24 Stunden scheiterten bei ${someOf(failing, 'de')}.`,
        'Die Gründe stehen im Dashboard unter Webhooks; dort lassen sie sich wiederholen.',
      ],
    })
  return ok({
    en: `The receivers can be reached: ${someOf(origins)}. This check sent them nothing.`,
    de: `Die Empfänger sind erreichbar: ${someOf(origins, 'de')}. Diese Prüfung hat ihnen nichts gesendet.`,
  })
}

type Counted = { deliveries: number; attempts: number }

/** An endpoint may have been removed since, and deliveries without one cancelled. */
function withoutReceiver({ deliveries, attempts }: Counted): Found {
  const remedy = {
    en: 'Set an endpoint under Webhooks, if your software should get results.',
    de: 'Setzen Sie unter Webhooks eine Adresse, wenn Ihre Software Ergebnisse bekommen soll.',
  }
  if (attempts === 0)
    return notSetUp({
      en: ['No webhook was sent yet, and no endpoint is set.', remedy.en],
      de: ['Es wurde noch kein Webhook gesendet, und keine Adresse ist gesetzt.', remedy.de],
    })
  return notSetUp({
    en: [`No endpoint is set now. Attempts of the latest deliveries (${deliveries}): ${attempts}.`, remedy.en],
    de: [`Keine Adresse ist mehr gesetzt. Versuche der neuesten Zustellungen (${deliveries}): ${attempts}.`, remedy.de],
  })
}

async function countAttempts(deps: Scene['deps'], tenants: readonly { id: string }[]): Promise<Counted> {
  const latest = (await Promise.all(tenants.map(({ id }) => readLatest(deps, id, COUNTED_MAX)))).flat()
  return { deliveries: latest.length, attempts: latest.reduce((sum, { attempts }) => sum + attempts, 0) }
}

/** A bad file stops the start; a good one may expire later. */
export async function checkExtraCa({ deps }: Scene): Promise<Found> {
  const { extraCa } = deps.egress
  if (extraCa === undefined)
    return ok({
      en: 'Webhooks and status lists trust only the authorities of the system.',
      de: 'Webhooks und Statuslisten vertrauen nur den Stellen des Systems.',
    })
  const authorities = authoritiesIn(extraCa)
  const soon = deps.now() + EXPIRY_WARNING_DAYS * DAY_MS
  const ending = authorities.filter(({ validToDate }) => validToDate.getTime() < soon)
  const namesOf = (some: X509Certificate[]) => some.map(({ subject }) => subject.replaceAll('\n', ', '))
  if (ending.length)
    return warning({
      en: [
        `Authorities of VIDIMUS_EXTRA_CA expire soon or have expired: ${someOf(namesOf(ending))}.`,
        'Put current ones into the file, and restart the service.',
      ],
      de: [
        `Stellen aus VIDIMUS_EXTRA_CA laufen bald ab oder sind abgelaufen: ${someOf(namesOf(ending), 'de')}.`,
        'Tragen Sie gültige in die Datei ein, und starten Sie den Dienst neu.',
      ],
    })
  return ok({
    en: `Webhooks and status lists also trust ${someOf(namesOf(authorities))}.`,
    de: `Webhooks und Statuslisten vertrauen auch ${someOf(namesOf(authorities), 'de')}.`,
  })
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
