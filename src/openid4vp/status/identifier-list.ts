// Lists of the identifiers of revoked documents (ISO/IEC 18013-5, second edition, § 12.3.6.4): presence means revoked.

import { hash } from 'node:crypto'
import { BYTE_KEY, type CborItem } from '../cbor/item.ts'
import { CWT, NO_TOKEN, parse, parseCwt, readCwtDates, type SignedDates, StatusFault, typOf, verifyCwt } from './token.ts'

/** Digests of equal length, one after the other: short beside the longest identifiers, and quick to search. */
export type IdentifierList = { digests: Uint8Array }

export type IdentifierToken = SignedDates & { list: IdentifierList; chain: Uint8Array[] }

export const IDENTIFIERS_BYTES_MAX = 4 * 1024 * 1024
const ENTRIES_MAX = 100_000
/** Names and values of all entries, and whatever else the claims have. */
const CLAIMS_ITEMS_MAX = 4 * ENTRIES_MAX
const DIGEST_BYTES = 16

/** The example of the standard, and a list in the field, leave the prefix out. */
const TYPES = new Set<unknown>(['application/identifierlist+cwt', 'identifierlist+cwt'])
const X5CHAIN = 33

const TOO_MANY = "The issuer's status list could not be fetched: it is too large. Try again later."

/** Throws `StatusFault`. */
export async function readIdentifierList(bytes: Uint8Array): Promise<IdentifierToken> {
  if (bytes.length > IDENTIFIERS_BYTES_MAX) throw new StatusFault(TOO_MANY)
  const { isTagged, sign1, claims, entries } = parse(() => {
    const cwt = parseCwt(bytes, { itemsMax: CLAIMS_ITEMS_MAX, hasByteKeys: true })
    const list = cwt.claims.get(CWT.identifiers)?.asMap()
    return { ...cwt, entries: list?.get('identifiers')?.asMap() }
  })
  // Unlike for status lists, the certificates must be signed as well.
  const isInForm = isTagged && TYPES.has(typOf(sign1)) && !sign1.unprotected.has(X5CHAIN)
  if (!isInForm || !entries || claims.has(CWT.list)) throw new StatusFault(NO_TOKEN)
  if (entries.size > ENTRIES_MAX) throw new StatusFault(TOO_MANY)
  await verifyCwt(sign1)
  const dates = readCwtDates(claims)
  if (dates.expiresAt === undefined) throw new StatusFault(NO_TOKEN)
  const digests = Buffer.alloc(entries.size * DIGEST_BYTES)
  let at = 0
  for (const [key, value] of entries) at += digestOf(idOf(key, value)).copy(digests, at)
  return { ...dates, list: { digests }, chain: sign1.x5chain }
}

function idOf(key: string | number, value: CborItem): Uint8Array {
  if (typeof key !== 'string' || !key.startsWith(BYTE_KEY) || !value.isMap) throw new StatusFault(NO_TOKEN)
  return Buffer.from(key.slice(BYTE_KEY.length), 'latin1')
}

const digestOf = (id: Uint8Array): Buffer => hash('sha256', id, 'buffer').subarray(0, DIGEST_BYTES)

export function hasIdentifier({ digests }: IdentifierList, id: Uint8Array): boolean {
  const [all, digest] = [Buffer.from(digests.buffer, digests.byteOffset, digests.length), digestOf(id)]
  let at = all.indexOf(digest)
  // One that begins inside of another entry is chance.
  while (at % DIGEST_BYTES > 0) at = all.indexOf(digest, at + 1)
  return at >= 0
}
