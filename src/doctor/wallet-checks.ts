import { ok, problem, secondOf, warning } from '../db/check.ts'
import { asOf } from '../openid4vp/trust/list-cache.ts'
import { readSources } from '../trust/lists/sources.ts'
import { goodUntil } from '../trust/status/present.ts'
import { type ListOutline, readLists } from '../trust/status/refresh.ts'
import { isLocalList } from '../trust/status/status.ts'
import { missedOf } from './reach.ts'
import type { Scene } from './scene.ts'

const HOSTS_MAX = 5
const HOUR_MS = 3_600_000
const SEEN_MS = 30 * 24 * HOUR_MS

/** The lists in use are in the memory of the service, so a command cannot check them. */
export async function checkStatusLists({ deps, isServer, callsOthers }: Scene) {
  const old = await checkKept(deps)
  if (old) return old
  const shut = await needsWayOut(deps)
  if (shut) return shut
  if (!isServer || !callsOthers) return ok('status_lists_elsewhere')
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

/** Lists that documents named, or that the operator wants, and that are over or nearly too old to be used. */
async function checkKept({ db, now, config }: Scene['deps']) {
  const lists = (await readLists({ db })).filter(({ wanted, seenAt }) => wanted === 1 || now() - seenAt < SEEN_MS)
  const named = (list: ListOutline, at: number) => ({ host: new URL(list.uri).host, at: secondOf(at) })
  const ended = lists.flatMap(list => (list.endsAt !== null && list.endsAt <= now() ? [named(list, list.endsAt)] : []))
  if (ended.length > 0) return problem('status_lists_ended', { lists: ended.slice(0, HOSTS_MAX) })
  const { statusMaxAgeMs: maxAgeMs } = config
  if (maxAgeMs === 0) return undefined
  const old = lists.filter(list => goodUntil(list, maxAgeMs) - now() < maxAgeMs / 4)
  if (old.length > 0)
    return warning('status_lists_old', {
      lists: old.slice(0, HOSTS_MAX).map(list => named(list, asOf(list))),
      hours: maxAgeMs / HOUR_MS,
    })
  const until = Math.min(...lists.map(list => goodUntil(list, maxAgeMs)))
  return config.trustRefresh || lists.length === 0
    ? undefined
    : ok('status_lists_kept', { count: lists.length, hours: maxAgeMs / HOUR_MS, until: secondOf(until) })
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
