import { sha256Hex } from '../../base/hash.ts'
import type { Calling } from '../../ground.ts'
import { grantsOf } from '../../trust-lists/grants.ts'
import type { ListKind, ListRefused } from '../../trust-lists/list.ts'
import { readInThread } from '../../trust-lists/read-in-thread.ts'
import { kindOf } from '../../trust-lists/read-list.ts'
import { signerOf } from '../../trust-lists/signer.ts'
import { ListProblem, TrustProblem } from '../settings.ts'
import { fetchSource } from './fetch-source.ts'
import type { CheckedList } from './source.ts'

/** Reads a list and verifies its signature. Nothing is kept. */
export async function checkList(
  deps: Calling,
  given: { location: string } | { bytes: Uint8Array },
  kind?: ListKind,
): Promise<CheckedList> {
  const location = 'location' in given ? given.location : null
  const name = location === null ? 'the file' : placeOf(location)
  const { bytes } = 'bytes' in given ? given : await fetchFirst(deps, requireLocation(given.location), name)
  const found = kind ?? kindOf(bytes)
  if (!found) throw new ListProblem('malformed', `${name}: it is not a readable list`)
  const read = await readInThread(found, bytes)
  if (!read.ok) throw problemOf(name, read)
  const { list } = read
  const { grants } = grantsOf(list, { types: null, serviceType: null, mode: null, use: 'issuers' }, deps.now())
  const types = Map.groupBy(
    grants.filter(({ use }) => use !== 'none'),
    ({ trustedFor }) => trustedFor,
  )
  return {
    location,
    bytes,
    digest: sha256Hex(bytes),
    list,
    signer: signerOf(list),
    types: [...types].map(([type, all]) => ({ type, entries: all.length })),
  }
}

export const problemOf = (name: string, { code, detail }: ListRefused): ListProblem => new ListProblem(code, `${name}: ${detail}`)

export const placeOf = (location: string): string =>
  location.startsWith('file:') ? process.getBuiltinModule('node:url').fileURLToPath(location) : location

export function requireLocation(location: string): string {
  const url = URL.parse(location)
  if (url?.protocol === 'https:' || url?.protocol === 'file:') return location
  throw new TrustProblem(`${location}: lists are fetched over https; give an https address or a file`)
}

type FirstList = { bytes: Uint8Array; etag: string | null }

export async function fetchFirst(deps: Calling, location: string, name: string): Promise<FirstList> {
  const fetched = await fetchSource(deps, location, null)
  if (!fetched.ok) throw problemOf(name, fetched)
  // Without an etag there is nothing that could be unchanged.
  return 'bytes' in fetched ? fetched : { bytes: new Uint8Array(), etag: null }
}
