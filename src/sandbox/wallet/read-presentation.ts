// Reads a presentation for the page, which shows the data that was really sent.
import { SDJwt } from '@sd-jwt/core'
import { fromBase64, sha256, sha256Hasher, toBase64Url } from '../bytes.ts'
import { type Cbor, cborToJson, decodeCbor, encodeCbor, type Tag } from '../cbor.ts'
import type { Credential } from '../credential.ts'
import type { Json } from '../json.ts'

type Members = Record<string, Json>

export type Shown = {
  /** Disclosed, and covered by the issuer's signature; of an mdoc by namespace. */
  claims: Members
  /** Sent, but different from the signed data. */
  altered: Members
  /** The holder's signed data, if it is readable. */
  proof: Members | undefined
}

export const readPresentation = (format: Credential['format'], text: string): Promise<Shown> =>
  format === 'mso_mdoc' ? readMdoc(text) : readSdJwt(text)

/** Part of every SD-JWT, without being requested. */
const ENVELOPE = ['iss', 'iat', 'nbf', 'exp', 'vct', 'cnf', 'status', '_sd_alg']

async function readSdJwt(text: string): Promise<Shown> {
  const sdJwt = await SDJwt.fromEncode(text, sha256Hasher)
  const payload = await sdJwt.getClaims<Members>(sha256Hasher)
  const signed = new Set((await sdJwt.getPresentDisclosures(undefined, sha256Hasher)).map(one => one.encode()))
  const altered = (sdJwt.disclosures ?? []).filter(one => !signed.has(one.encode()))
  return {
    claims: Object.fromEntries(Object.entries(payload).filter(([name, value]) => !ENVELOPE.includes(name) && !isEmpty(value))),
    altered: Object.fromEntries(altered.map(({ key, value }) => [String(key), value as Json])),
    proof: sdJwt.kbJwt?.payload,
  }
}

async function readMdoc(text: string): Promise<Shown> {
  const [document] = member(decodeCbor(fromBase64(text)), 'documents') as Cbor[]
  const signed = member(document, 'issuerSigned')
  const [, , payload] = member(signed, 'issuerAuth') as Cbor[]
  const digests = member(inside(decodeCbor(payload as Uint8Array)), 'valueDigests')
  const shown: Shown = { claims: {}, altered: {}, proof: undefined }
  for (const [namespace, items] of (member(signed, 'nameSpaces') ?? new Map()) as Map<string, Tag[]>) {
    for (const item of items) {
      const digest = member(member(digests, namespace), member(inside(item), 'digestID') as number)
      const isSigned = toBase64Url(digest as Uint8Array) === toBase64Url(await sha256(encodeCbor(item)))
      const side = isSigned ? shown.claims : shown.altered
      const name = member(inside(item), 'elementIdentifier') as string
      side[namespace] = { ...(side[namespace] as Members), [name]: cborToJson(member(inside(item), 'elementValue')!, sizeOf) }
    }
  }
  return shown
}

const member = (map: Cbor | undefined, key: string | number): Cbor | undefined =>
  (map as ReadonlyMap<string | number, Cbor>).get(key)

/** The content of `24(<<value>>)`. */
const inside = (value: Cbor): Cbor => decodeCbor((value as Tag).value as Uint8Array)

const sizeOf = ({ length }: Uint8Array): string => `(${length} bytes)`

/** An open container of which nothing is disclosed. */
const isEmpty = (value: Json): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length === 0
