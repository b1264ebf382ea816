// Registration certificates of relying parties (ETSI TS 119 475 § 5.2), as JWTs: what one says, and
// whether a query stays within it. They are ours, sent on to wallets as they are: this reader is
// lenient where registrars spell members differently, and trusts no chain.

import { type KeyObject, verify, X509Certificate } from 'node:crypto'
import { parseJson } from '../../base/json.ts'
import { isObject, type Members } from '../../base/members.ts'
import { CERTIFICATE_BYTES_MAX, CERTIFICATES_MAX } from '../credential.ts'
import type { ClaimPath, DcqlQuery } from '../dcql/dcql.ts'

/** A credential that a registration certificate lets its holder ask for: a format, its types, and paths of claims. */
export type RegisteredCredential = {
  format: string
  types: string[]
  /** A `null` in a path is any element; no paths at all is every claim. */
  claims: (string | number | null)[][]
}

export type Registration = {
  jwt: string
  /** The type of before TS 119 475, which German test registrars still issue. */
  isOldType: boolean
  /** Identifier of the organisation, such as `VATDE-123456789`. */
  subject: string
  intendedUse: string | null
  purposes: { lang: string; value: string }[]
  credentials: RegisteredCredential[]
  /** Milliseconds. */
  notBefore: number | null
  notAfter: number | null
  status: { uri: string; idx: number } | null
}

/** Why a text is no registration certificate: a code, and its values. */
type Flaw =
  | ['no_jwt' | 'several_jwts' | 'jwt_unreadable' | 'organization_missing' | 'credentials_unreadable']
  | ['signature_uncheckable' | 'signature_wrong']
  | ['jwt_too_long', { kib: number }]
  | ['jwt_of_other_type', { type: string }]
  | ['credential_untyped' | 'claim_unreadable', { index: number }]

export class RegistrationFault extends Error {
  override name = 'RegistrationFault'
  readonly flaw: Flaw
  constructor(...flaw: Flaw) {
    super(flaw[0])
    this.flaw = flaw
  }
}

/** A small limit, because the certificate goes into every request object. */
const REGISTRATION_CHARS_MAX = 32_768
const FILE_CHARS_MAX = 262_144
const JSON_LIMITS = { depthMax: 16, valuesMax: 20_000 }
const CREDENTIALS_MAX = 100
const CLAIMS_MAX = 500
const TEXT_CHARS_MAX = 1000
/** ECMA-262 § 21.4.1.1. */
const DATE_MS_MAX = 8.64e15

const JWT = /^[\w-]+\.[\w-]+\.[\w-]+$/
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/
const TYPE = 'rc-wrp+jwt'
const OLD_TYPE = 'rc-rp+jwt'

/** Takes the JWT itself, or a JSON document around it. The caller judges the dates. */
export function readRegistration(text: string): Registration {
  const jwt = findJwt(text)
  const [header, payload] = jwt.split('.', 2).map(part => readPart(part))
  if (!isObject(header) || !isObject(payload)) throw new RegistrationFault('jwt_unreadable')
  if (header.typ !== TYPE && header.typ !== OLD_TYPE) throw new RegistrationFault('jwt_of_other_type', { type: TYPE })
  refuseUnsigned(jwt, header)
  const subject = identifierIn(payload.sub)
  if (subject === undefined) throw new RegistrationFault('organization_missing')
  return {
    jwt,
    isOldType: header.typ === OLD_TYPE,
    subject,
    intendedUse: textIn(payload.intended_use_id) ?? textIn(payload.intended_use) ?? null,
    purposes: textsIn(payload.purpose),
    credentials: credentialsIn(payload.credentials),
    notBefore: timeIn(payload.nbf) ?? timeIn(payload.iat) ?? null,
    notAfter: timeIn(payload.exp) ?? null,
    status: statusIn(payload.status),
  }
}

/** Who presents it: an intermediary that asks for its subject, else the subject itself (ETSI TS 119 475 § 5.2.4). */
export function holderOf({ jwt, subject }: { jwt: string; subject: string }): string {
  const payload = readPart(jwt.split('.')[1] ?? '')
  const { intermediary, act } = isObject(payload) ? payload : {}
  const [first] = [intermediary, act].flatMap(each => (isObject(each) ? (identifierIn(each.sub) ?? []) : []))
  return first ?? subject
}

/** The certificates of the registrar who signed it, leaf first. */
export function registrarChain(jwt: string): X509Certificate[] {
  const header = readPart(jwt.split('.', 1)[0]!)
  const x5c = isObject(header) && Array.isArray(header.x5c) ? header.x5c : []
  return x5c.map(base64 => new X509Certificate(Buffer.from(String(base64), 'base64')))
}

function findJwt(text: string): string {
  const trimmed = text.trim()
  const found = JWT.test(trimmed) ? [trimmed] : jwtsIn(trimmed)
  if (found.length === 0) throw new RegistrationFault('no_jwt')
  if (found.length > 1) throw new RegistrationFault('several_jwts')
  if (found[0]!.length > REGISTRATION_CHARS_MAX)
    throw new RegistrationFault('jwt_too_long', { kib: REGISTRATION_CHARS_MAX / 1024 })
  return found[0]!
}

/** Registrars wrap it in a document of their own; every one of its texts is looked at. */
function jwtsIn(text: string): string[] {
  if (text.length > FILE_CHARS_MAX) return []
  try {
    const found = new Set<string>()
    JSON.stringify(parseJson(text, JSON_LIMITS), (_, value) => {
      if (typeof value === 'string' && JWT.test(value.trim())) found.add(value.trim())
      return value
    })
    return [...found]
  } catch {
    return []
  }
}

function readPart(part: string): unknown {
  try {
    return parseJson(Buffer.from(part, 'base64url').toString('utf8'), JSON_LIMITS)
  } catch {
    // A damaged part is refused like one that is not an object.
    return undefined
  }
}

type Algorithm = { hash: string | null; isFor: (key: KeyObject) => boolean; padding?: number }

const onCurve = (name: string) => (key: KeyObject) => key.asymmetricKeyDetails?.namedCurve === name
const isRsa = (key: KeyObject): boolean => key.asymmetricKeyType === 'rsa' || key.asymmetricKeyType === 'rsa-pss'
const RSA_PKCS1_PADDING = 1
const RSA_PKCS1_PSS_PADDING = 6

/** The key decides, as everywhere (RFC 8725 § 3.1): no `none`, no HMAC keyed with a public key. */
const ALGORITHMS: Record<string, Algorithm> = {
  ES256: { hash: 'sha256', isFor: onCurve('prime256v1') },
  ES384: { hash: 'sha384', isFor: onCurve('secp384r1') },
  ES512: { hash: 'sha512', isFor: onCurve('secp521r1') },
  EdDSA: { hash: null, isFor: key => key.asymmetricKeyType === 'ed25519' },
  PS256: { hash: 'sha256', isFor: isRsa, padding: RSA_PKCS1_PSS_PADDING },
  PS384: { hash: 'sha384', isFor: isRsa, padding: RSA_PKCS1_PSS_PADDING },
  PS512: { hash: 'sha512', isFor: isRsa, padding: RSA_PKCS1_PSS_PADDING },
  RS256: { hash: 'sha256', isFor: isRsa, padding: RSA_PKCS1_PADDING },
  RS384: { hash: 'sha384', isFor: isRsa, padding: RSA_PKCS1_PADDING },
  RS512: { hash: 'sha512', isFor: isRsa, padding: RSA_PKCS1_PADDING },
}

/** Against the certificate in its own header: it shows that the file is whole, not who issued it. */
function refuseUnsigned(jwt: string, header: Members): void {
  const key = signerKey(header.x5c)
  const algorithm = Object.hasOwn(ALGORITHMS, String(header.alg)) ? ALGORITHMS[String(header.alg)] : undefined
  if (!key || !algorithm?.isFor(key) || header.b64 === false || header.sigD !== undefined)
    throw new RegistrationFault('signature_uncheckable')
  const end = jwt.lastIndexOf('.')
  const { hash, padding } = algorithm
  const signature = Buffer.from(jwt.slice(end + 1), 'base64url')
  const isSigned = verify(hash, Buffer.from(jwt.slice(0, end)), { key, padding, dsaEncoding: 'ieee-p1363' }, signature)
  if (!isSigned) throw new RegistrationFault('signature_wrong')
}

function signerKey(x5c: unknown): KeyObject | undefined {
  if (!Array.isArray(x5c) || x5c.length > CERTIFICATES_MAX) return undefined
  const [leaf] = x5c
  if (typeof leaf !== 'string' || leaf.length > CERTIFICATE_BYTES_MAX * 2 || !BASE64.test(leaf)) return undefined
  try {
    return new X509Certificate(Buffer.from(leaf, 'base64')).publicKey
  } catch {
    return undefined
  }
}

const textIn = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' && value.length <= TEXT_CHARS_MAX ? value : undefined

/** A date may have a fraction (RFC 7519 § 2). One after the last that exists is none. */
const timeIn = (value: unknown): number | undefined =>
  typeof value === 'number' && value > 0 && value * 1000 <= DATE_MS_MAX ? Math.floor(value * 1000) : undefined

/** `sub` is a text in V1.2.1, and was an object with one or more identifiers in V1.1.1. */
function identifierIn(sub: unknown): string | undefined {
  if (Array.isArray(sub)) return identifierIn(sub[0])
  return isObject(sub) ? identifierIn(sub.id ?? sub.identifier) : textIn(sub)
}

/** Texts by language, flat or in groups. */
function textsIn(value: unknown): { lang: string; value: string }[] {
  if (Array.isArray(value)) return value.flatMap(textsIn).slice(0, CREDENTIALS_MAX)
  const text = isObject(value) ? (textIn(value.value) ?? textIn(value.content) ?? textIn(value.name)) : textIn(value)
  if (text === undefined) return []
  return [{ lang: (isObject(value) ? (textIn(value.lang) ?? textIn(value.locale)) : undefined) ?? '', value: text }]
}

function credentialsIn(value: unknown): RegisteredCredential[] {
  if (value === undefined) return []
  if (!Array.isArray(value) || value.length > CREDENTIALS_MAX) throw new RegistrationFault('credentials_unreadable')
  return value.map((credential, index) => {
    const format = isObject(credential) ? textIn(credential.format) : undefined
    const types = isObject(credential) ? typesIn(credential) : []
    if (!isObject(credential) || format === undefined || types.length === 0)
      throw new RegistrationFault('credential_untyped', { index })
    // The type of SD-JWT VCs had another name before 2025.
    const claims = pathsIn(credential.claim ?? credential.claims, index)
    return { format: format === 'vc+sd-jwt' ? 'dc+sd-jwt' : format, types, claims }
  })
}

function typesIn({ meta, vct, doctype }: Members): string[] {
  const members = isObject(meta) ? [meta.vct_values, meta.doctype_value] : [meta]
  return [...members, vct, doctype].flat().flatMap(type => textIn(type) ?? [])
}

function pathsIn(claims: unknown, index: number): RegisteredCredential['claims'] {
  if (claims === undefined || claims === null) return []
  const paths = Array.isArray(claims) && claims.length <= CLAIMS_MAX ? claims.map(pathIn) : []
  // An unreadable path must not become "every claim".
  if (paths.length === 0 || paths.includes(undefined)) throw new RegistrationFault('claim_unreadable', { index })
  return paths as RegisteredCredential['claims']
}

function pathIn(claim: unknown): (string | number | null)[] | undefined {
  const path = isObject(claim) ? claim.path : claim
  const steps: unknown[] = Array.isArray(path) ? path : [path]
  const isStep = (step: unknown) => step === null || Number.isSafeInteger(step) || (typeof step === 'string' && step !== '')
  return steps.length > 0 && steps[0] !== null && steps.every(isStep) ? (steps as (string | number | null)[]) : undefined
}

function statusIn(status: unknown): Registration['status'] {
  const list = isObject(status) ? status.status_list : undefined
  if (!isObject(list)) return null
  const { uri, idx } = list
  return typeof uri === 'string' && uri.length <= TEXT_CHARS_MAX && Number.isSafeInteger(idx) && Number(idx) >= 0
    ? { uri, idx: Number(idx) }
    : null
}

/** How many of the type and claim pairs that a query asks for are registered. */
export function coverage(registered: readonly RegisteredCredential[], query: DcqlQuery): { asked: number; covered: number } {
  const counts = { asked: 0, covered: 0 }
  const all = registered.map(entry => ({ entry, types: new Set(entry.types) }))
  for (const credential of query.credentials) {
    const types = credential.format === 'mso_mdoc' ? [credential.meta.doctype_value] : credential.meta.vct_values
    // A query without claims asks for the type alone.
    const paths: ClaimPath[] = credential.claims?.map(({ path }) => path) ?? [[]]
    counts.asked += types.length * paths.length
    const entries = all.filter(({ entry }) => entry.format === credential.format)
    // A query may name thousands of types: those that the same entries register have the same claims.
    const namesOf = (type: string) => entries.map(({ types }) => Number(types.has(type))).join('')
    for (const [names, alike] of Map.groupBy(types, namesOf)) {
      const registering = entries.filter((_, at) => names[at] === '1')
      counts.covered += alike.length * paths.filter(path => registering.some(({ entry }) => registers(entry, path))).length
    }
  }
  return counts
}

const registers = ({ claims }: RegisteredCredential, asked: ClaimPath): boolean =>
  claims.length === 0 || asked.length === 0 || claims.some(path => isWithin(asked, path))

/** A registered object or list covers all in it, and `null` each of its elements. */
const isWithin = (asked: ClaimPath, registered: ClaimPath): boolean =>
  registered.length <= asked.length &&
  registered.every((step, at) => step === asked[at] || (step === null && typeof asked[at] === 'number'))

/** The least for a certificate that names the fewest claims; the most for one that names none. */
export const claimCount = (registered: readonly RegisteredCredential[]): number =>
  registered.reduce((sum, { claims }) => sum + (claims.length || Number.POSITIVE_INFINITY), 0)
