// Lists are fetched apart from presentations, so that their issuers do not learn when somebody shows a document (ARF VCR_15).

import { X509Certificate } from 'node:crypto'
import { secondOf } from '../../db/check.ts'
import { IDENTIFIERS_BYTES_MAX } from '../../openid4vp/status/identifier-list.ts'
import { readAnswer } from '../../openid4vp/status/read-list.ts'
import { StatusFault } from '../../openid4vp/status/token.ts'
import { crlOf, readCrlFor } from '../../openid4vp/trust/crl-check.ts'
import type { ListBytes, ListMedia } from '../../openid4vp/trust/list-cache.ts'
import { CrlFault } from '../../openid4vp/x509/crl.ts'
import { type Certificate, describeCertificate } from '../../openid4vp/x509/x509.ts'
import type { Deps } from '../deps.ts'
import { readAnchors, TrustProblem } from '../settings.ts'
import { crlFetcher } from './crl.ts'
import { DAY_MS, dayOf, store } from './kept-lists.ts'
import {
  deleteListsAt,
  findList,
  type ListKey,
  type ListOutline,
  listDueLists,
  listRevocationLists,
  markSeen,
  postponeList,
} from './list-store.ts'
import { readIdentifiers, statusFetcher } from './status.ts'

export type { ListOutline }

const SEEN_MS = 30 * DAY_MS
const RETRY_MS = 15 * 60_000
const AT_ONCE_MAX = 4
const READ_AT_ONCE = 100

const STATUS_MEDIA = ['statuslist+jwt', 'statuslist+cwt', 'identifierlist+cwt'] as const
export const LIST_MEDIA = [...STATUS_MEDIA, 'crl'] as const

type Place = { uri: string; media?: ListMedia }

export const readLists = async ({ db }: Pick<Deps, 'db'>): Promise<ListOutline[]> => await listRevocationLists(db)

/** It is fetched, kept, and fetched again from now on. */
export async function addStatusList(deps: Deps, place: Place, actor: string): Promise<ListBytes> {
  const { uri, media } = place
  const { protocol } = URL.parse(uri) ?? {}
  // Revocation lists are on plain http by custom (RFC 5280 § 4.2.1.13).
  if (protocol !== 'https:' && !(protocol === 'http:' && media === 'crl'))
    throw new TrustProblem(`${uri} is not the https address of a list`)
  const list = await fetchAt(deps, place, media === 'crl' ? await authoritiesOf(deps) : [])
  await deps.write(async tx => {
    await store(tx, deps, list, { mayInsert: true, wanted: 1 })
    const details = { media: list.media }
    await deps.audit.append(tx, { ...recordOf(deps, uri, actor), action: 'trust.status_list_added', details })
  })
  return list
}

export async function removeStatusList(deps: Deps, uri: string, actor: string): Promise<void> {
  await deps.write(async tx => {
    if (!(await deleteListsAt(tx, uri))) throw new TrustProblem(`there is no list ${uri}; "vidimus trust status list" shows all`)
    await deps.audit.append(tx, { ...recordOf(deps, uri, actor), action: 'trust.status_list_removed', details: {} })
  })
}

const recordOf = ({ now }: Deps, subjectId: string, actor: string) => ({ at: now(), tenantId: '', actor, subjectId })

/** `problem` is missing for a list that was fetched. */
export type RefreshedList = ListKey & { problem?: string }

/** All that are kept. */
export async function refreshLists(deps: Deps, signal?: AbortSignal): Promise<RefreshedList[]> {
  return await refreshAll(deps, await listRevocationLists(deps.db), signal)
}

/** Those that are due: the ones that the operator named, and the ones that sessions needed in the last 30 days. */
export async function prefetchLists(deps: Deps, signal?: AbortSignal): Promise<void> {
  if (!deps.config.trustRefresh) return
  const now = deps.now()
  await refreshAll(deps, await listDueLists(deps.db, { now, seenSince: now - SEEN_MS }), signal)
}

/** The lists that the certificates of trusted issuers name are kept before anybody needs them. */
export async function prefetchListsOfAnchors(deps: Deps, signal?: AbortSignal): Promise<void> {
  if (!deps.config.trustRefresh) return
  const authorities = await authoritiesOf(deps)
  const named = new Set(authorities.flatMap(({ crlUris = [] }) => crlUris).filter(uri => /^https?:\/\//i.test(uri)))
  const today = dayOf(deps.now())
  for (const uri of named) {
    if (signal?.aborted) return
    if (await deps.write(tx => markSeen(tx, { uri, media: 'crl' }, today))) continue
    const list = await fetchAt(deps, { uri, media: 'crl' }, authorities).catch(ignoreProblem)
    if (list) await deps.write(tx => store(tx, deps, list, { mayInsert: true }))
  }
}

/** The list is tried again in an hour. */
function ignoreProblem(error: unknown): undefined {
  if (!(error instanceof TrustProblem)) throw error
}

async function refreshAll(deps: Deps, keys: readonly ListKey[], signal?: AbortSignal): Promise<RefreshedList[]> {
  const left = [...keys]
  const authorities = left.some(({ media }) => media === 'crl') ? await authoritiesOf(deps) : []
  const refreshed: RefreshedList[] = []
  await Promise.all(
    Array.from({ length: AT_ONCE_MAX }, async () => {
      for (let key = left.shift(); key && !signal?.aborted; key = left.shift())
        refreshed.push(await refreshOne(deps, key, authorities))
    }),
  )
  return refreshed.sort((a, b) => a.uri.localeCompare(b.uri))
}

async function refreshOne(deps: Deps, { uri, media }: ListKey, authorities: readonly Certificate[]): Promise<RefreshedList> {
  try {
    const list = await fetchAt(deps, { uri, media }, authorities)
    const known = await findList(deps.db, uri, [media])
    if (known && list.issuedAt < known.issuedAt)
      throw new TrustProblem(`${uri}: the published one is older than that of ${secondOf(known.issuedAt)}, which is kept`)
    await deps.write(tx => store(tx, deps, list, { mayInsert: false }))
    return { uri, media }
  } catch (error) {
    if (!(error instanceof TrustProblem)) throw error
    await deps.write(tx => postponeList(tx, { uri, media }, deps.now() + RETRY_MS))
    return { uri, media, problem: error.message }
  }
}

/** Throws a TrustProblem. */
async function fetchAt(deps: Deps, { uri, media }: Place, authorities: readonly Certificate[]): Promise<ListBytes> {
  try {
    if (media === 'crl') {
      const answer = await crlFetcher(deps)(uri)
      if (!answer.ok) throw new CrlFault(answer.reason)
      return readCrlOf(uri, answer.body, { authorities, now: deps.now() })
    }
    const allowed = media ? [media] : STATUS_MEDIA
    const wanted = { accept: allowed.map(each => `application/${each}`).join(', '), bytesMax: IDENTIFIERS_BYTES_MAX }
    const answer = await statusFetcher(deps)(uri, { ...wanted, isLocal: false })
    return (await readAnswer(answer, { ...wanted, media: allowed }, { uri, now: deps.now(), readIdentifiers })).list
  } catch (error) {
    if (error instanceof StatusFault || error instanceof CrlFault) throw new TrustProblem(`${uri}: ${error.message}`)
    throw error
  }
}

/** Unlike others, it does not bring the certificate of its signer. Throws a CrlFault. */
export function readCrlOf(
  uri: string,
  bytes: Uint8Array,
  { authorities, now }: { authorities: readonly Certificate[]; now: number },
): ListBytes {
  for (const authority of authorities) {
    try {
      return crlOf(uri, bytes, readCrlFor([uri], bytes, authority, now), now)
    } catch (error) {
      // That of another authority, most times.
      if (!(error instanceof CrlFault)) throw error
    }
  }
  throw new CrlFault('no issuer that is trusted here has signed it, or it has expired')
}

/** The certificates of all anchors, read in turns with other work. */
export async function authoritiesOf(deps: Deps): Promise<Certificate[]> {
  const pems = [...new Set((await readAnchors(deps)).map(({ certificate }) => certificate))]
  const read: Certificate[] = []
  for (const [index, pem] of pems.entries()) {
    const certificate = describeCertificate(new X509Certificate(pem).raw)
    if (certificate) read.push(certificate)
    if (index % READ_AT_ONCE === READ_AT_ONCE - 1) await new Promise<void>(resolve => setImmediate(resolve))
  }
  return read
}
