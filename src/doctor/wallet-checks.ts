import { type Found, ok, problem, someOf, warning } from '../db/check.ts'
import { readSources } from '../trust/sources.ts'
import { isLocalList } from '../trust/status.ts'
import { missedOf, whyUnreachable } from './reach.ts'
import type { Scene } from './scene.ts'

const HOSTS_MAX = 5

/** The lists in use are in the memory of the service, so a command cannot check them. */
export async function checkStatusLists({ deps, isServer }: Scene): Promise<Found> {
  const shut = await needsWayOut(deps)
  if (shut) return shut
  if (!isServer)
    return ok({
      en: 'Only the service can check the status lists it uses: see the dashboard under Settings, Health.',
      de: 'Nur der Dienst kann die Statuslisten prüfen, die er benutzt: siehe Dashboard, Einstellungen, Zustand.',
    })
  const isHere = (uri: string) => uri.startsWith(`${deps.config.publicUrl}/`)
  const isLocal = isLocalList(deps.config, isHere)
  const isOwn = (uri: string) => isHere(uri) || isLocal(uri, 'test')
  const known = [...deps.status.known(), ...deps.crls.known()]
  const lists = known.filter(uri => !isOwn(uri))
  const origins = [...new Set(lists.map(uri => new URL(uri).origin))].slice(0, HOSTS_MAX)
  if (origins.length === 0)
    return ok({
      en: `Status and revocation lists read since this service started: ${known.length} of its own sandbox or this machine, none of other issuers.`,
      de: `Status- und Sperrlisten, die der Dienst seit seinem Start gelesen hat: ${known.length} der eigenen Sandbox oder dieser Maschine, keine anderer Aussteller.`,
    })
  const missed = missedOf(await Promise.all(origins.map(async origin => ({ origin, why: await whyUnreachable(deps, origin) }))))
  if (missed.en.length)
    return problem({
      en: [
        `Status or revocation lists cannot be read from ${someOf(missed.en)}: documents that name them may be refused (status_unknown, issuer_status_unknown).`,
        'Let this machine connect there (firewall, DNS, proxy); for a private authority, set VIDIMUS_EXTRA_CA.',
      ],
      de: [
        `Status- oder Sperrlisten sind nicht lesbar von ${someOf(missed.de, 'de')}: Ausweise, die sie nennen, werden vielleicht abgelehnt (status_unknown, issuer_status_unknown).`,
        'Lassen Sie diese Maschine dorthin verbinden (Firewall, DNS, Proxy); für eine private Stelle setzen Sie VIDIMUS_EXTRA_CA.',
      ],
    })
  return ok({
    en: `The hosts of the status and revocation lists in use can be reached: ${someOf(origins)}.`,
    de: `Die Server der benutzten Status- und Sperrlisten sind erreichbar: ${someOf(origins, 'de')}.`,
  })
}

/** PIDs name status lists; the EU age attestation and most driving licences do not. */
async function needsWayOut(deps: Scene['deps']): Promise<Found | undefined> {
  const lists = (await readSources(deps)).filter(
    ({ environment, kind, use }) => environment === 'live' && kind === 'lote' && use === 'issuers',
  )
  const hasNoWay = !deps.config.trustRefresh || (lists.length > 0 && lists.every(({ failure }) => failure === 'unreachable'))
  if (lists.length === 0 || !hasNoWay) return undefined
  const labels = lists.map(({ label }) => label)
  return warning({
    en: [
      `Documents of the issuers on ${someOf(labels)} name status lists, and this machine does not reach the internet: they end as status_unknown.`,
      'Let this machine connect to the issuers (firewall, DNS, proxy), or accept documents without status lists.',
    ],
    de: [
      `Ausweise der Aussteller auf ${someOf(labels, 'de')} nennen Statuslisten, und diese Maschine erreicht das Internet nicht: Sie enden als status_unknown.`,
      'Lassen Sie diese Maschine zu den Ausstellern verbinden (Firewall, DNS, Proxy), oder nehmen Sie Ausweise ohne Statuslisten an.',
    ],
  })
}
