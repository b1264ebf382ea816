// Lists of revoked documents in a bundle. They are signed by their issuers, and whose they must be is judged when a document
// needs them, so nobody's bundle needs trust for them; but only an accepted signer is believed when they were fetched.
import { isoUtc } from '../../base/time.ts'
import { readKept } from '../../openid4vp/status/read-list.ts'
import { StatusFault } from '../../openid4vp/status/token.ts'
import { isNewer, type ListBytes } from '../../openid4vp/trust/list-cache.ts'
import { CrlFault } from '../../openid4vp/x509/crl.ts'
import type { Certificate } from '../../openid4vp/x509/x509.ts'
import type { Deps } from '../deps.ts'
import { store } from '../status/kept-lists.ts'
import { findList, listCountingLists } from '../status/list-store.ts'
import { readCrlOf } from '../status/refresh.ts'
import { readIdentifiers } from '../status/status.ts'
import type { BundledRevocation } from './form.ts'

/** Those that have not ended, the latest issue first, in so many characters. */
export async function bundledLists(
  { db, now }: Pick<Deps, 'db' | 'now'>,
  charsMax: number,
): Promise<{ revocation: BundledRevocation[]; leftOut: string[] }> {
  const revocation: BundledRevocation[] = []
  const leftOut: string[] = []
  let room = charsMax
  for (const { uri, media, fetchedAt, bytes } of await listCountingLists(db, now())) {
    const item = { uri, media, fetched_at: isoUtc(fetchedAt), bytes: Buffer.from(bytes).toString('base64') }
    const chars = JSON.stringify(item).length + 1
    if (chars > room) leftOut.push(uri)
    else {
      room -= chars
      revocation.push(item)
    }
  }
  return { revocation, leftOut }
}

type Taking = { isAccepted: boolean; authorities: readonly Certificate[] }
type Taken = { outcome: 'added' | 'accepted' | 'unchanged' } | { outcome: 'refused'; detail: string }

export async function takeRevocation(
  deps: Deps,
  bundled: BundledRevocation,
  { isAccepted, authorities }: Taking,
): Promise<Taken> {
  try {
    const read = await readBundled(deps, bundled, authorities)
    const fetchedAt = isAccepted ? Math.min(Date.parse(bundled.fetched_at), deps.now()) : read.issuedAt
    const list: ListBytes = { ...read, fetchedAt, from: 'bundle' }
    const known = await findList(deps.db, list.uri, [list.media])
    if (known && !isNewer(list, known)) return { outcome: 'unchanged' }
    // A stranger's go first when there is no room.
    await deps.write(tx => store(tx, deps, list, { mayInsert: true, ...(!known && !isAccepted && { seenAt: 0 }) }))
    return { outcome: known ? 'accepted' : 'added' }
  } catch (error) {
    if (error instanceof StatusFault || error instanceof CrlFault) return { outcome: 'refused', detail: error.message }
    throw error
  }
}

async function readBundled(
  deps: Deps,
  { uri, media, bytes: encoded }: BundledRevocation,
  authorities: readonly Certificate[],
): Promise<ListBytes> {
  const [bytes, now] = [Buffer.from(encoded, 'base64'), deps.now()]
  if (media === 'crl') return readCrlOf(uri, bytes, { authorities, now })
  return (await readKept({ media, bytes, fetchedAt: now, from: 'bundle' }, { uri, now, readIdentifiers })).list
}
