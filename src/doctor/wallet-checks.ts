import { ok, problem, warning } from '../db/check.ts'
import { readSources } from '../trust/lists/sources.ts'
import { isLocalList } from '../trust/status/status.ts'
import { missedOf } from './reach.ts'
import type { Scene } from './scene.ts'

const HOSTS_MAX = 5

/** The lists in use are in the memory of the service, so a command cannot check them. */
export async function checkStatusLists({ deps, isServer }: Scene) {
  const shut = await needsWayOut(deps)
  if (shut) return shut
  if (!isServer) return ok('status_lists_elsewhere')
  const isHere = (uri: string) => uri.startsWith(`${deps.config.publicUrl}/`)
  const isLocal = isLocalList(deps.config, isHere)
  const isOwn = (uri: string) => isHere(uri) || isLocal(uri, 'test')
  const known = [...deps.status.known(), ...deps.crls.known()]
  const lists = known.filter(uri => !isOwn(uri))
  const origins = [...new Set(lists.map(uri => new URL(uri).origin))].slice(0, HOSTS_MAX)
  if (origins.length === 0) return ok('status_lists_own', { count: known.length })
  const missed = await missedOf(deps, origins)
  return missed.length > 0 ? problem('status_lists_missed', { missed }) : ok('status_lists_reached', { origins })
}

/** PIDs name status lists; the EU age attestation and most driving licences do not. */
async function needsWayOut(deps: Scene['deps']) {
  const lists = (await readSources(deps)).filter(
    ({ environment, kind, use }) => environment === 'live' && kind === 'lote' && use === 'issuers',
  )
  const hasNoWay = !deps.config.trustRefresh || (lists.length > 0 && lists.every(({ failure }) => failure === 'unreachable'))
  if (lists.length === 0 || !hasNoWay) return undefined
  return warning('status_lists_offline', { lists: lists.map(({ label }) => label) })
}
