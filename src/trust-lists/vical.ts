// VICAL: the signed list of issuing authorities of ISO/IEC 18013-5 Annex C.1.7.1.
import { verify, X509Certificate } from 'node:crypto'
import { parseCbor } from '../openid4vp/cbor/cbor.ts'
import { algorithmOf, hasCritical, parseSign1, type Sign1, sigStructure } from '../openid4vp/cbor/cose.ts'
import { CborError, type CborItem, type CborMap } from '../openid4vp/cbor/item.ts'
import { type Certificate, describeCertificate } from '../openid4vp/x509/x509.ts'
import { countryOf, Entries, plainName, utcInstant } from './entries.ts'
import type { ReadList, TrustList } from './list.ts'
import { malformed, refuse, Unreadable } from './refuse.ts'

/** About 3,000 entries as operators write them; a presentation may have a fifth of it. */
const ITEMS_MAX = 100_000
const DOC_TYPES_MAX = 20
const DOC_TYPE_CHARS_MAX = 100
const DATE_TIME = 0

export function readVical(bytes: Uint8Array): ReadList {
  try {
    const sign1 = parseSign1(parse(bytes))
    const payload = verifiedPayload(sign1)
    return { ok: true, list: readPayload(parse(payload).asMap(), sign1.x5chain) }
  } catch (error) {
    if (error instanceof Unreadable) return refuse(error.code, error.detail)
    if (error instanceof CborError) return refuse('malformed', `it is not a readable list (${error.message})`)
    throw error
  }
}

const parse = (bytes: Uint8Array): CborItem => parseCbor(bytes, { itemsMax: ITEMS_MAX })

function verifiedPayload(sign1: Sign1): Uint8Array {
  if (!sign1.payload) throw malformed('its content is not inside')
  if (sign1.signature.length === 0) throw new Unreadable('unsigned', 'nobody signed it')
  if (hasCritical(sign1)) throw malformed('its signature has a critical header that is not known')
  const signer = sign1.x5chain[0] && describeCertificate(sign1.x5chain[0])
  if (!signer) throw malformed('its signature has not between 1 and 5 readable certificates')
  const algorithm = algorithmOf(sign1)
  if (!algorithm || algorithm.curve !== curveOf(signer))
    throw new Unreadable('algorithm_refused', "its signature's algorithm is not accepted, or is not one of its signer's key")
  const isValid = sign1.signature.length === algorithm.signatureBytes && isSignedBy(signer, algorithm.hash, sign1, sign1.payload)
  if (!isValid)
    throw new Unreadable('signature_invalid', 'the signature does not hold: it was changed on the way or at its source')
  return sign1.payload
}

const curveOf = ({ key }: Certificate): string | undefined => (key.algorithm === 'ed25519' ? 'Ed25519' : key.curve)

/** `hash` is empty for Ed25519, which has its own. */
function isSignedBy({ der }: Certificate, hash: string, { protectedBytes, signature }: Sign1, payload: Uint8Array): boolean {
  try {
    const key = new X509Certificate(der).publicKey
    const signed = sigStructure(protectedBytes, payload)
    return verify(hash.replace('-', '').toLowerCase() || null, signed, { key, dsaEncoding: 'ieee-p1363' }, signature)
  } catch {
    // A key that the library cannot use has signed nothing.
    return false
  }
}

/** Members that are not read are not judged either: AAMVA has `Extensions` and `CertificateProfile`. */
function readPayload(payload: CborMap, chain: readonly Uint8Array[]): TrustList {
  const version = payload.get('version')?.asText() ?? ''
  if (!version.startsWith('1.')) throw malformed('it is not of version 1')
  const provider = plainName(payload.get('vicalProvider')?.asText())
  if (!provider) throw malformed('it does not name its provider')
  const nextUpdate = payload.get('nextUpdate')
  const infos = payload.get('certificateInfos')
  if (!infos) throw malformed('it has no list of certificates')
  const entries = new Entries()
  for (const info of infos.asArray()) readInfo(entries, info)
  return {
    kind: 'vical',
    type: null,
    territory: null,
    name: provider,
    identity: provider,
    sequence: sequenceOf(payload.get('vicalIssueID')),
    issuedAt: instant(payload.get('date')),
    nextUpdate: nextUpdate ? instant(nextUpdate) : null,
    chain: chain.map(der => new Uint8Array(der)),
    announced: [],
    entries: entries.all,
    skipped: entries.skipped,
  }
}

function instant(date: CborItem | undefined): number {
  const time = utcInstant(date?.asTagged(DATE_TIME).asText())
  if (time === undefined) throw malformed('one of its dates is missing or not a UTC time')
  return time
}

/** The number alone orders nothing: operators start again at lower numbers. */
function sequenceOf(id: CborItem | undefined): number | null {
  const value = id && !id.hasTag ? id.decode() : undefined
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null
}

/** Only the certificate and its types count. Names, dates and `ski` are in the certificate; AAMVA's `ski` is another one. */
function readInfo(entries: Entries, info: CborItem): void {
  const members = info.isMap ? info.asMap() : undefined
  const certificate = members?.get('certificate')
  const docTypes = readDocTypes(members?.get('docType'))
  if (!members || !certificate?.isBytes || !docTypes) {
    entries.skip('unreadable')
    return
  }
  const authority = members.get('issuingAuthority')
  const der = certificate.asBytes()
  entries.add({
    certificate: der,
    entity: plainName(authority?.isText ? authority.asText() : null),
    country: countryOf(describeCertificate(der)?.subjectAttributes.country),
    serviceType: null,
    serviceStatus: null,
    since: null,
    docTypes,
  })
}

function readDocTypes(item: CborItem | undefined): string[] | undefined {
  if (!item?.isArray) return undefined
  const items = item.asArray()
  if (items.length === 0 || items.length > DOC_TYPES_MAX || !items.every(({ isText }) => isText)) return undefined
  const types = items.map(type => type.asText())
  return types.every(({ length }) => length > 0 && length <= DOC_TYPE_CHARS_MAX) ? types : undefined
}
