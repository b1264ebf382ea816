// Status List Tokens (Token Status List § 5): a signed list, as JWT or as CWT. Reading one verifies
// its form and signature. The caller judges the certificates. Throws `StatusFault`. Lists of
// identifiers (identifier-list.ts) are CWTs with the same dates.

import { parseJson } from '../../base/json.ts'
import { isObject } from '../../base/members.ts'
import { parseCbor } from '../cbor/cbor.ts'
import { parseSign1, type Sign1, verifySign1 } from '../cbor/cose.ts'
import type { Curve } from '../cbor/cose-key.ts'
import { CborError, type CborItem, type CborMap } from '../cbor/item.ts'
import { CERTIFICATE_BYTES_MAX, CERTIFICATES_MAX } from '../credential.ts'
import { isSignedBy, jwtKeyOf } from '../sd-jwt/jws.ts'
import { readSignerCertificate, type SignerCertificate } from '../trust/signer-certificate.ts'
import { decodeStatusList, type StatusList } from './bits.ts'

export type StatusToken = SignedDates & {
  list: StatusList
  /** DER, leaf first; empty if there is none. */
  chain: Uint8Array[]
  /** Its type is written in a way that issuers use, and the specification does not have. */
  isOddlyTyped?: boolean
}

export type SignedDates = {
  /** Its `sub`: the address where it is published. */
  uri: string
  issuedAt: number
  /** Milliseconds; the later of its issue and its `nbf`. */
  countsFrom: number
  expiresAt: number | undefined
  ttlMs: number | undefined
}

/** The message is for the merchant and contains nothing of the token. */
export class StatusFault extends Error {
  override name = 'StatusFault'
}

/** Finds the key to verify with: that of the leaf, except in tests. */
type KeyOf = (chain: readonly Uint8Array[]) => Promise<CryptoKey | undefined>

type Dates = Record<'sub' | 'iat' | 'nbf' | 'exp' | 'ttl', unknown>

const JSON_DEPTH_MAX = 16
const JWT = /^[\w-]+\.[\w-]+\.[\w-]+$/
const BASE64URL = /^[\w-]*$/
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/

// RFC 9596 for `typ`; Token Status List § 5.2 for the claims.
const COSE_TYP = 16
const CWT_TYP = 'application/statuslist+cwt'
/** Without the prefix, as JWTs have it, and by its number for CoAP, which RFC 9596 allows. */
const ODD_TYPES = new Set<unknown>(['statuslist+cwt', 279])
/** RFC 8392 § 6: may stand before the tag of the signature. */
const CWT_TAG = 61
export const CWT = { sub: 2, exp: 4, nbf: 5, iat: 6, identifiers: 65530, list: 65533, ttl: 65534 }

export const NO_TOKEN = "What is at the address of the issuer's status list is not one, so the credential may be revoked."
const NO_LIST = "The issuer's status list is damaged or too large, so the credential may be revoked."
const NO_KEY = "The issuer's status list came without a usable certificate, so the credential may be revoked."
const UNPROVEN = "The signature of the issuer's status list does not hold, so the credential may be revoked."

export async function readStatusJwt(text: string, keyOf: KeyOf = jwtLeafKey): Promise<StatusToken> {
  if (!JWT.test(text)) throw new StatusFault(NO_TOKEN)
  const [header, payload] = text.split('.', 2).map(readJsonPart)
  if (!isObject(header) || !isObject(payload) || !isObject(payload.status_list)) throw new StatusFault(NO_TOKEN)
  // No critical header is known here (RFC 7515 § 4.1.11).
  if (header.typ !== 'statuslist+jwt' || header.crit !== undefined) throw new StatusFault(NO_TOKEN)

  const chain = readX5c(header.x5c)
  const key = await keyFrom(keyOf, chain)
  // Accepts asymmetric algorithms only, and only the one of the key.
  if (!(await isSignedBy({ text, alg: header.alg, key }))) throw new StatusFault(UNPROVEN)
  const { bits, lst } = payload.status_list
  if (typeof lst !== 'string' || !BASE64URL.test(lst)) throw new StatusFault(NO_LIST)
  const { sub, iat, nbf, exp, ttl } = payload
  return {
    ...readDates({ sub, iat, nbf, exp, ttl }),
    list: await readBits({ bits, lst: Buffer.from(lst, 'base64url') }),
    chain,
  }
}

function readJsonPart(part: string): unknown {
  try {
    return parseJson(Buffer.from(part, 'base64url').toString('utf8'), { depthMax: JSON_DEPTH_MAX })
  } catch {
    // A damaged part is refused like one that is not an object.
    return undefined
  }
}

function readX5c(x5c: unknown): Uint8Array[] {
  if (x5c === undefined) return []
  const isChain = Array.isArray(x5c) && x5c.length <= CERTIFICATES_MAX
  if (!isChain || !x5c.every(text => typeof text === 'string' && BASE64.test(text))) throw new StatusFault(NO_TOKEN)
  return x5c.map(text => Buffer.from(text, 'base64'))
}

async function keyFrom(keyOf: KeyOf, chain: readonly Uint8Array[]): Promise<CryptoKey> {
  const key = await keyOf(chain).catch(() => undefined)
  if (!key) throw new StatusFault(NO_KEY)
  return key
}

const readLeaf = async ([leaf]: readonly Uint8Array[]): Promise<SignerCertificate | undefined> =>
  leaf && leaf.length <= CERTIFICATE_BYTES_MAX ? await readSignerCertificate(leaf) : undefined

async function jwtLeafKey(chain: readonly Uint8Array[]): Promise<CryptoKey | undefined> {
  const signer = await readLeaf(chain)
  return signer && jwtKeyOf(signer)
}

/** Every kind of key that mdocs are signed with. */
const cwtLeafKey: KeyOf = async chain => (await readLeaf(chain))?.key?.key

export async function readStatusCwt(bytes: Uint8Array, keyOf?: KeyOf): Promise<StatusToken> {
  const { sign1, claims, bits, lst } = parse(() => {
    const cwt = parseCwt(bytes)
    const list = cwt.claims.get(CWT.list)?.asMap()
    return { ...cwt, bits: list?.get('bits')?.decode(), lst: list?.get('lst')?.asBytes() }
  })
  if (!lst) throw new StatusFault(NO_LIST)
  const isOddlyTyped = typOf(sign1) !== CWT_TYP
  if (isOddlyTyped && !ODD_TYPES.has(typOf(sign1))) throw new StatusFault(NO_TOKEN)
  await verifyCwt(sign1, keyOf)
  return { ...readCwtDates(claims), list: await readBits({ bits, lst }), chain: sign1.x5chain, isOddlyTyped }
}

/** CborErrors become faults. */
export function parse<T>(read: () => T): T {
  try {
    return read()
  } catch (cause) {
    if (cause instanceof CborError) throw new StatusFault(NO_TOKEN, { cause })
    throw cause
  }
}

/** `limits` are those of the claims. */
export function parseCwt(bytes: Uint8Array, limits?: Parameters<typeof parseCbor>[1]) {
  const token = parseCbor(bytes)
  const sign1 = parseSign1(token.tag === CWT_TAG ? taggedSign1(token) : token)
  return { isTagged: token.tag !== undefined, sign1, claims: parseCbor(sign1.payload ?? new Uint8Array(), limits).asMap() }
}

export const typOf = (sign1: Sign1): unknown => sign1.protected.get(COSE_TYP)?.decode()

export async function verifyCwt(sign1: Sign1, keyOf: KeyOf = cwtLeafKey): Promise<void> {
  const key = await keyFrom(keyOf, sign1.x5chain)
  if (!(await verifySign1(sign1, { curve: curveOf(key), key }))) throw new StatusFault(UNPROVEN)
}

export function readCwtDates(claims: CborMap): SignedDates {
  const of = (name: keyof Dates) => claims.get(CWT[name])?.decode()
  return readDates({ sub: of('sub'), iat: of('iat'), nbf: of('nbf'), exp: of('exp'), ttl: of('ttl') })
}

/** RFC 8392 § 7.2: behind the tag of a CWT, that of the signature is mandatory. */
function taggedSign1(token: CborItem): CborItem {
  const signed = token.asTagged(CWT_TAG)
  if (signed.tag === undefined) throw new CborError('a tag was expected')
  return signed
}

function curveOf({ algorithm }: CryptoKey): Curve {
  return ('namedCurve' in algorithm ? algorithm.namedCurve : algorithm.name) as Curve
}

function readDates({ sub, iat, nbf = iat, exp, ttl }: Dates): SignedDates {
  if (typeof sub !== 'string' || !isSeconds(iat) || !isSeconds(nbf) || !isOptionalSeconds(exp) || !isOptionalSeconds(ttl)) {
    throw new StatusFault(NO_TOKEN)
  }
  return {
    uri: sub,
    issuedAt: iat * 1000,
    countsFrom: Math.max(iat, nbf) * 1000,
    expiresAt: exp === undefined ? undefined : exp * 1000,
    ttlMs: ttl === undefined ? undefined : ttl * 1000,
  }
}

async function readBits(list: Parameters<typeof decodeStatusList>[0]): Promise<StatusList> {
  const decoded = await decodeStatusList(list)
  if (!decoded) throw new StatusFault(NO_LIST)
  return decoded
}

function isSeconds(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0
}

function isOptionalSeconds(value: unknown): value is number | undefined {
  return value === undefined || isSeconds(value)
}
