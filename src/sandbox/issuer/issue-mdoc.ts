import { hash } from 'node:crypto'
import { toBase64Url } from '../bytes.ts'
import { type Cbor, cborMap, cborToJson, embedded, encodeCbor, Tag } from '../cbor.ts'
import { COSE_X5CHAIN, coseKey, coseSign1 } from '../cose.ts'
import type { MdocCredential } from '../credential.ts'
import type { Element } from '../documents.ts'
import type { PublicJwk } from '../es256.ts'
import type { Json } from '../json.ts'
import { authorityKeyIds, type World } from './certificates.ts'
import type { Issuance } from './issuance.ts'

/** ISO/IEC 18013-5 § 9.1.2.5 asks for at least 16. */
const SALT_BYTES = 32

type Mdoc = { doctype: string; elements: readonly Element[]; holderKey: PublicJwk; issuance: Issuance }

export async function issueMdoc(
  { mdocSigner, authority }: World,
  { doctype, elements, holderKey, issuance }: Mdoc,
): Promise<MdocCredential> {
  const { random, validity, status, identifier } = issuance
  // The value is the last member, so that a cheating wallet can change the last byte.
  const items = elements.map(([namespace, element, value], digestID) => ({
    at: [namespace, element] as const,
    digestID,
    bytes: encodeCbor(
      embedded(cborMap({ digestID, random: random(SALT_BYTES), elementIdentifier: element, elementValue: value })),
    ),
  }))
  const valueDigests = new Map<string, Map<number, Cbor>>()
  for (const { at, digestID, bytes } of items) {
    const digests = valueDigests.get(at[0]) ?? new Map<number, Cbor>()
    valueDigests.set(at[0], digests.set(digestID, hash('sha256', bytes, 'buffer')))
  }
  const mso = cborMap({
    version: '1.0',
    digestAlgorithm: 'SHA-256',
    valueDigests,
    deviceKeyInfo: cborMap({ deviceKey: coseKey(holderKey) }),
    docType: doctype,
    validityInfo: cborMap({
      signed: tdate(validity.signed),
      validFrom: tdate(validity.from),
      validUntil: tdate(validity.until),
    }),
    status: identifier ? cborMap({ identifier_list: cborMap(identifier) }) : status && cborMap({ status_list: cborMap(status) }),
  })
  const issuerAuth = await coseSign1({
    key: mdocSigner.key,
    payload: encodeCbor(embedded(mso)),
    unprotectedHeader: new Map([[COSE_X5CHAIN, Buffer.from(mdocSigner.certificate, 'base64')]]),
  })
  return {
    format: 'mso_mdoc',
    type: doctype,
    claims: claimsOf(elements),
    authorityKeyIds: authorityKeyIds(authority),
    issuerAuth: toBase64Url(encodeCbor(issuerAuth)),
    items: items.map(({ at, bytes }) => ({ at, encoded: toBase64Url(bytes) })),
  }
}

function claimsOf(elements: readonly Element[]): Record<string, Record<string, Json>> {
  const claims: Record<string, Record<string, Json>> = {}
  for (const [namespace, element, value] of elements)
    claims[namespace] = { ...claims[namespace], [element]: cborToJson(value, toBase64Url) }
  return claims
}

/** Whole seconds, UTC (ISO/IEC 18013-5 § 9.1.2.4). */
const tdate = (ms: number): Tag => new Tag(`${new Date(ms).toISOString().slice(0, 19)}Z`, 0)
