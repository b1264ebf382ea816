import { type Found, ok, problem, someOf, warning } from '../db/check.ts'
import { readSources } from '../trust/sources.ts'
import { isLocalList } from '../trust/status.ts'
import { whyUnreachable } from './reach.ts'
import type { Scene } from './scene.ts'

const HOSTS_MAX = 5

/** The lists in use are in the memory of the service, so a command cannot check them. */
export async function checkStatusLists({ deps, isServer }: Scene): Promise<Found> {
  const shut = await needsWayOut(deps)
  if (shut) return shut
  if (!isServer) return ok('Only the service can check the status lists it uses: see the dashboard under Settings, Health.')
  const isHere = (uri: string) => uri.startsWith(`${deps.config.publicUrl}/`)
  const isLocal = isLocalList(deps.config, isHere)
  const isOwn = (uri: string) => isHere(uri) || isLocal(uri, 'test')
  const lists = [...deps.status.known(), ...deps.crls.known()].filter(uri => !isOwn(uri))
  const origins = [...new Set(lists.map(uri => new URL(uri).origin))].slice(0, HOSTS_MAX)
  if (origins.length === 0) return ok('No credential with a status list was seen yet.')
  const reasons = await Promise.all(origins.map(async origin => ({ origin, why: await whyUnreachable(deps, origin) })))
  const missed = reasons.filter(({ why }) => why !== undefined).map(({ origin, why }) => `${origin} (${why})`)
  if (missed.length) {
    return problem(
      `Status or revocation lists cannot be read from ${someOf(missed)}: documents that name them may be refused.`,
      'Let this machine connect there (firewall, DNS, proxy); for a private authority, set VIDIMUS_EXTRA_CA.',
    )
  }
  return ok(`The hosts of the status and revocation lists in use can be reached: ${someOf(origins)}.`)
}

/** PIDs name status lists; the EU age attestation and most driving licences do not. */
async function needsWayOut(deps: Scene['deps']): Promise<Found | undefined> {
  const lists = (await readSources(deps)).filter(
    ({ environment, kind, use }) => environment === 'live' && kind === 'lote' && use === 'issuers',
  )
  const hasNoWay = !deps.config.trustRefresh || (lists.length > 0 && lists.every(({ failure }) => failure === 'unreachable'))
  if (lists.length === 0 || !hasNoWay) return undefined
  return warning(
    `Documents of the issuers on ${someOf(lists.map(({ label }) => label))} name status lists, and this machine does not reach the internet: they end as status_unknown.`,
    'Let this machine connect to the issuers (firewall, DNS, proxy), or accept documents without status lists.',
  )
}
