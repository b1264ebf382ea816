// The issuer's part of an mdoc (ISO/IEC 18013-5 § 9.1.2): the mobile security object (MSO) holds a
// digest for every data element, the type, the dates and the device key. Digests are over the bytes
// as received, tag 24 included.
import { hash } from 'node:crypto'
import { setMember } from '../../base/members.ts'
import { parseCbor } from '../cbor/cbor.ts'
import { fitsKey, parseSign1, type Sign1, verifySign1 } from '../cbor/cose.ts'
import { CborError, type CborItem, type CborMap } from '../cbor/item.ts'
import { cborToJson } from '../cbor/json.ts'
import { CLOCK_SKEW_MS, ELEMENTS_MAX, type ReadCredential, type StatusReference, TOO_MANY_ELEMENTS } from '../credential.ts'
import type { Findings } from '../finding.ts'
import type { SignerCertificate } from '../trust/signer-certificate.ts'

/** ISO/IEC 18013-5 § 9.1.2.5. */
const RANDOM_BYTES_MIN = 16
const IDENTIFIER_BYTES_MAX = 64
const EMBEDDED_CBOR = 24
const DATE_TIME = 0
const DATE_TIME_FORM = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/

const DIGEST_ALGORITHMS: ReadonlyMap<string, string> = new Map([
  ['SHA-256', 'sha256'],
  ['SHA-384', 'sha384'],
  ['SHA-512', 'sha512'],
])

type IssuerSigned = { auth: Sign1; mso: Mso; elements: Element[] }

/** `bytes`: as received, with tag 24. */
type Element = {
  nameSpace: string
  identifier: string
  digestId: number
  bytes: Uint8Array
  value: CborItem
  randomBytes: number
}

export type Mso = {
  docType: string
  digestAlgorithm: string
  valueDigests: Map<string, CborMap>
  deviceKeyInfo: CborItem | undefined
  validity: Validity
  status: CborItem | undefined
}

/** In milliseconds. */
type Validity = { signed: number; validFrom: number; validUntil: number; expectedUpdate: number | undefined }

/** Throws CborError. */
export function parseIssuerSigned(item: CborItem): IssuerSigned {
  const issuerSigned = item.asMap()
  const auth = parseSign1(member(issuerSigned, 'issuerAuth'))
  return { auth, mso: parseMso(auth), elements: parseElements(issuerSigned.get('nameSpaces')) }
}

export function member(map: CborMap, name: string): CborItem {
  const item = map.get(name)
  if (!item) throw new CborError(`${name} is missing`)
  return item
}

/** The content of 24(bstr). */
export const embeddedIn = (item: CborItem): CborItem => item.asTagged(EMBEDDED_CBOR).embedded()

function parseMso({ payload }: Sign1): Mso {
  if (!payload) throw new CborError('the signed part is missing')
  const mso = embeddedIn(parseCbor(payload)).asMap()
  if (member(mso, 'version').asText() !== '1.0') throw new CborError('the version of the signed part is not supported')
  const valueDigests = new Map<string, CborMap>()
  for (const [nameSpace, digests] of member(mso, 'valueDigests').asMap()) valueDigests.set(String(nameSpace), digests.asMap())
  return {
    docType: member(mso, 'docType').asText(),
    digestAlgorithm: member(mso, 'digestAlgorithm').asText(),
    valueDigests,
    deviceKeyInfo: mso.get('deviceKeyInfo'),
    validity: parseValidity(member(mso, 'validityInfo').asMap()),
    status: mso.get('status'),
  }
}

function parseValidity(info: CborMap): Validity {
  const expectedUpdate = info.get('expectedUpdate')
  return {
    signed: parseDateTime(member(info, 'signed')),
    validFrom: parseDateTime(member(info, 'validFrom')),
    validUntil: parseDateTime(member(info, 'validUntil')),
    expectedUpdate: expectedUpdate && parseDateTime(expectedUpdate),
  }
}

/** UTC (ISO/IEC 18013-5 § 9.1.2.4). Fractions of a second are forbidden there, but issuers send them. */
function parseDateTime(item: CborItem): number {
  const text = item.asTagged(DATE_TIME).asText()
  const time = DATE_TIME_FORM.test(text) ? Date.parse(text) : Number.NaN
  // Date.parse turns 30 February into 2 March, so a real date must print back unchanged.
  if (Number.isNaN(time) || new Date(time).toISOString().slice(0, 19) !== text.slice(0, 19))
    throw new CborError('a date is not readable')
  return time
}

function parseElements(nameSpaces: CborItem | undefined): Element[] {
  const elements: Element[] = []
  let count = 0
  for (const [nameSpace, items] of nameSpaces?.asMap() ?? [])
    for (const item of items.asArray()) {
      const element = parseElement(String(nameSpace), item)
      // Its name counts as well.
      count += 1 + element.value.count
      elements.push(element)
    }
  // Before they are hashed, decoded and compared.
  if (count > ELEMENTS_MAX) throw new CborError(TOO_MANY_ELEMENTS)
  return elements
}

function parseElement(nameSpace: string, item: CborItem): Element {
  const element = embeddedIn(item).asMap()
  return {
    nameSpace,
    identifier: member(element, 'elementIdentifier').asText(),
    digestId: member(element, 'digestID').asUint(),
    bytes: item.bytes,
    value: member(element, 'elementValue'),
    randomBytes: member(element, 'random').asBytes().length,
  }
}

export async function findIssuerSignatureProblem(
  auth: Sign1,
  certificate: SignerCertificate | undefined,
): Promise<string | undefined> {
  if (!certificate) return 'The issuer sent no certificate that can be read.'
  if (!certificate.key || !fitsKey(auth, certificate.key)) return "The issuer's key or signature algorithm is not accepted."
  return (await verifySign1(auth, certificate.key)) ? undefined : "The issuer's signature is not valid."
}

/** The data elements by namespace, without those whose digest does not match. */
export function checkDigests(findings: Findings, { mso, elements }: IssuerSigned): Record<string, unknown> {
  const algorithm = DIGEST_ALGORITHMS.get(mso.digestAlgorithm)
  if (!algorithm) {
    findings.fail('digests', 'signature_invalid', 'The issuer used a digest algorithm that is not accepted.')
    return {}
  }
  const problems = new Set<string>()
  const seen = new Map<string, NamesSeen>()
  const claims: Record<string, unknown> = {}
  for (const element of elements) {
    const { nameSpace, identifier, digestId } = element
    const { identifiers, digestIds, values } = seen.get(nameSpace) ?? firstOf(seen, nameSpace)
    const isRepeated = identifiers.has(identifier) || digestIds.has(digestId)
    const problem = isRepeated ? 'A data element was sent twice.' : findDigestProblem(element, mso, algorithm)
    identifiers.add(identifier)
    digestIds.add(digestId)
    if (problem) problems.add(problem)
    else {
      setMember(values, identifier, cborToJson(element.value.decode()))
      setMember(claims, nameSpace, values)
    }
  }
  for (const problem of problems) findings.fail('digests', 'signature_invalid', problem)
  if (problems.size === 0) findings.pass('digests')
  if (elements.some(({ randomBytes }) => randomBytes < RANDOM_BYTES_MIN))
    findings.warn('digests', 'The issuer hid data elements behind fewer than 16 random bytes: others might guess them.')
  return claims
}

/** One namespace; `values` are those whose digest matches. */
type NamesSeen = { identifiers: Set<string>; digestIds: Set<number>; values: Record<string, unknown> }

function firstOf(seen: Map<string, NamesSeen>, nameSpace: string): NamesSeen {
  const names = { identifiers: new Set<string>(), digestIds: new Set<number>(), values: {} }
  seen.set(nameSpace, names)
  return names
}

function findDigestProblem({ nameSpace, digestId, bytes }: Element, mso: Mso, algorithm: string): string | undefined {
  const signed = mso.valueDigests.get(nameSpace)?.get(digestId)
  if (!signed?.isBytes) return 'A data element is not among those that the issuer signed.'
  return hash(algorithm, bytes, 'buffer').equals(signed.asBytes())
    ? undefined
    : 'A data element differs from what the issuer signed.'
}

/** ISO/IEC 18013-5 § 9.3.1. */
export function checkValidity(
  findings: Findings,
  { signed, validFrom, validUntil, expectedUpdate }: Validity,
  certificate: SignerCertificate | undefined,
  now: number,
): void {
  const isExpired = now - CLOCK_SKEW_MS > validUntil
  const isEarly = now + CLOCK_SKEW_MS < validFrom
  // Both dates are the issuer's, so no skew is allowed. A signature made outside the certificate's validity cannot be trusted.
  const isOutside = certificate && (signed < certificate.notBefore || signed > certificate.notAfter)
  if (isExpired) findings.fail('validity', 'credential_expired', 'The credential is no longer valid.')
  if (isEarly) findings.fail('validity', 'credential_not_yet_valid', 'The credential is not valid yet.')
  if (isOutside)
    findings.fail('validity', 'issuer_untrusted', "The credential was signed outside the validity of the issuer's certificate.")
  if (!isExpired && !isEarly && !isOutside) findings.pass('validity')
  if (expectedUpdate !== undefined && expectedUpdate < now)
    findings.warn('validity', 'The issuer meant to have updated the credential by now.')
}

/** ISO/IEC 18013-5, second edition, § 12.3.6. An unknown mechanism, or an unreadable reference, is not the same as no status. */
export function readStatus(item: CborItem | undefined): ReadCredential['status'] {
  if (!item) return undefined
  const status = mapIn(item)
  const [byIndex, byId] = [status?.get('status_list'), status?.get('identifier_list')]
  const references = [byIndex && readReference(byIndex, readIndex), byId && readReference(byId, readIdentifier)]
  const known = references.filter(reference => reference !== undefined)
  const readable = known.filter(reference => reference !== 'unsupported')
  return known.length > 0 && readable.length === known.length ? readable : 'unsupported'
}

function readReference(
  item: CborItem,
  readEntry: (list: CborMap) => { index: number } | { id: Uint8Array } | undefined,
): StatusReference | 'unsupported' {
  const list = mapIn(item)
  const uri = list?.get('uri')
  const certificate = list?.get('certificate')
  const entry = list && readEntry(list)
  if (!entry || !uri?.isText || certificate?.isBytes === false) return 'unsupported'
  return { uri: uri.asText(), ...(certificate && { certificate: certificate.asBytes() }), ...entry }
}

function readIndex(list: CborMap): { index: number } | undefined {
  const index = cborToJson(list.get('idx')?.decode())
  return Number.isSafeInteger(index) && (index as number) >= 0 ? { index: index as number } : undefined
}

function readIdentifier(list: CborMap): { id: Uint8Array } | undefined {
  const id = list.get('id')
  if (!id?.isBytes) return undefined
  const { length } = id.asBytes()
  return length > 0 && length <= IDENTIFIER_BYTES_MAX ? { id: id.asBytes() } : undefined
}

const mapIn = (item: CborItem | undefined): CborMap | undefined => (item?.isMap ? item.asMap() : undefined)
