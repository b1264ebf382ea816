// JAdES (ETSI TS 119 182-1) as lists of trusted entities use it (TS 119 602 annexes D.4 to I.4): one signature, compact or
// as JSON, verified with the first certificate of its own `x5c`. `jku`, `x5u`, `kid` and `jwk` are never looked at.
import { constants, createPublicKey, hash, type KeyObject, verify, X509Certificate } from 'node:crypto'
import { decodeBase64url } from '../base/base64url.ts'
import { parseJson } from '../base/json.ts'
import { isObject, type Members } from '../base/members.ts'
import { CERTIFICATE_BYTES_MAX, CERTIFICATES_MAX } from '../openid4vp/credential.ts'
import { hasStrongKey } from '../openid4vp/x509/certification-path.ts'
import { type Certificate, describeCertificate } from '../openid4vp/x509/x509.ts'
import { malformed, Unreadable } from './refuse.ts'

/** `chain` is DER, the signer first. */
type VerifiedJws = { payload: Uint8Array; chain: Uint8Array[] }

type Signature = { header: string; payload: string; signature: string }

const JSON_LIMITS = { depthMax: 16, valuesMax: 200_000 }
const COMPACT = /^([\w-]+)\.([\w-]*)\.([\w-]*)$/
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/

/** Each bound to its kind of key (RFC 7518 § 3.1). Neither `none` nor a code with a shared key is among them. */
const ALGORITHMS: Record<string, { hash: string; curve?: string; pss?: true; bytes?: number }> = {
  ES256: { hash: 'sha256', curve: 'P-256', bytes: 64 },
  ES384: { hash: 'sha384', curve: 'P-384', bytes: 96 },
  ES512: { hash: 'sha512', curve: 'P-521', bytes: 132 },
  RS256: { hash: 'sha256' },
  RS384: { hash: 'sha384' },
  RS512: { hash: 'sha512' },
  PS256: { hash: 'sha256', pss: true },
  PS384: { hash: 'sha384', pss: true },
  PS512: { hash: 'sha512', pss: true },
}
type Algorithm = (typeof ALGORITHMS)[string]

/** TS 119 182-1 § 5: the time of signing, and the digest of the certificate. */
const UNDERSTOOD = new Set(['sigT', 'iat', 'x5t#o'])

/** The spellings of a digest algorithm in `x5t#o`. */
const DIGESTS: Record<string, string> = {
  S256: 'sha256',
  S384: 'sha384',
  S512: 'sha512',
  'sha-256': 'sha256',
  'sha-384': 'sha384',
  'sha-512': 'sha512',
  'http://www.w3.org/2001/04/xmlenc#sha256': 'sha256',
  'http://www.w3.org/2001/04/xmldsig-more#sha384': 'sha384',
  'http://www.w3.org/2001/04/xmlenc#sha512': 'sha512',
}

/** Throws `Unreadable`. */
export function verifyJades(text: string): VerifiedJws {
  const jws = text.startsWith('{') ? readJsonForm(text) : readCompact(text)
  const header = readJson(decoded(jws.header))
  if (!isObject(header)) throw malformed('its signature has no readable header')
  refuseUnknownCritical(header)
  const algorithm = algorithmOf(header.alg)
  const chain = readX5c(header.x5c)
  const signer = chain[0] && describeCertificate(chain[0])
  if (!signer) throw malformed('the certificate of its signer cannot be read')
  refuseOtherCertificate(header, signer.der)
  if (!hasStrongKey(signer) || !fitsKey(algorithm, signer))
    throw new Unreadable('algorithm_refused', "its signature's algorithm is not one of its signer's key")
  if (!jws.signature) throw new Unreadable('unsigned', 'nobody signed it')
  if (!isSignedBy(signer, algorithm, jws))
    throw new Unreadable('signature_invalid', 'the signature does not hold: it was changed on the way or at its source')
  return { payload: decoded(jws.payload), chain }
}

function readCompact(text: string): Signature {
  const [, header, payload, signature] = COMPACT.exec(text) ?? []
  if (!header || payload === undefined || signature === undefined) throw malformed('it is not a readable list')
  return { header, payload, signature }
}

/** General or flattened (RFC 7515 § 7.2). */
function readJsonForm(text: string): Signature {
  const jws = readJson(Buffer.from(text))
  if (!isObject(jws)) throw malformed('it is not a readable list')
  if (jws.payload === undefined && jws.signatures === undefined && jws.signature === undefined)
    throw new Unreadable('unsigned', 'nobody signed it')
  if (jws.signatures !== undefined && (jws.signature !== undefined || jws.protected !== undefined || jws.header !== undefined))
    throw malformed('it has more than one signature')
  const signatures: unknown[] = Array.isArray(jws.signatures) ? jws.signatures : [jws]
  if (jws.signatures !== undefined && signatures.length !== 1) throw malformed('it has not exactly one signature')
  const [signature] = signatures
  if (!isObject(signature) || !isUnprotectedIgnorable(signature.header)) throw malformed('it has an unprotected header')
  const { protected: header, signature: value } = signature
  if (typeof header !== 'string' || typeof value !== 'string' || typeof jws.payload !== 'string')
    throw malformed('its signature is incomplete')
  return { header, payload: jws.payload, signature: value }
}

/** TS 119 182-1 § 5.3: `etsiU` is all that may be added after signing. */
const isUnprotectedIgnorable = (header: unknown): boolean =>
  header === undefined || (isObject(header) && Object.keys(header).every(name => name === 'etsiU'))

function decoded(part: string): Uint8Array {
  const bytes = decodeBase64url(part)
  if (!bytes) throw malformed('a part of it is not base64url')
  return bytes
}

/** Strict JSON; throws `Unreadable`. */
export function readJson(bytes: Uint8Array): unknown {
  try {
    return parseJson(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes), JSON_LIMITS)
  } catch (error) {
    throw malformed(error instanceof SyntaxError ? `it is not a readable list (${error.message})` : 'it is not UTF-8')
  }
}

/** RFC 7515 § 4.1.11, RFC 7797. A payload outside (`sigD`) would have to be fetched. */
function refuseUnknownCritical(header: Members): void {
  if (header.b64 !== undefined || header.sigD !== undefined) throw malformed('its signature is detached or not over base64url')
  if (header.crit === undefined) return
  const critical: unknown[] = Array.isArray(header.crit) ? header.crit : []
  const isKnown = (name: unknown) => typeof name === 'string' && UNDERSTOOD.has(name) && header[name] !== undefined
  if (critical.length === 0 || !critical.every(isKnown)) throw malformed('its signature has a critical header that is not known')
}

function algorithmOf(alg: unknown): Algorithm {
  const algorithm = typeof alg === 'string' && Object.hasOwn(ALGORITHMS, alg) ? ALGORITHMS[alg] : undefined
  if (!algorithm) throw new Unreadable('algorithm_refused', "its signature's algorithm is not accepted")
  return algorithm
}

function readX5c(x5c: unknown): Uint8Array[] {
  const isChain = Array.isArray(x5c) && x5c.length > 0 && x5c.length <= CERTIFICATES_MAX
  if (!isChain) throw malformed(`its signature has not between 1 and ${CERTIFICATES_MAX} certificates`)
  return x5c.map(text => {
    const der = typeof text === 'string' && BASE64.test(text) ? Buffer.from(text, 'base64') : undefined
    if (!der || der.length > CERTIFICATE_BYTES_MAX) throw malformed('a certificate of its signature cannot be read')
    return new Uint8Array(der)
  })
}

function refuseOtherCertificate(header: Members, signer: Uint8Array): void {
  const other = new Unreadable('signature_invalid', 'its signature names another certificate than it carries')
  const thumbprint = header['x5t#S256']
  if (thumbprint !== undefined && thumbprint !== hash('sha256', signer, 'base64url')) throw other
  const named = header['x5t#o']
  if (named === undefined) return
  const { digAlg, digVal } = isObject(named) ? named : {}
  const algorithm = typeof digAlg === 'string' && Object.hasOwn(DIGESTS, digAlg) ? DIGESTS[digAlg] : undefined
  if (!algorithm) throw new Unreadable('algorithm_refused', "the digest of its signer's certificate is of an unknown kind")
  if (digVal !== hash(algorithm, signer, 'base64url')) throw other
}

function fitsKey({ curve, pss }: Algorithm, { key }: Certificate): boolean {
  if (curve) return key.algorithm === 'ec' && key.curve === curve
  return key.algorithm === 'rsa' || (pss === true && key.algorithm === 'rsa-pss')
}

function isSignedBy(signer: Certificate, { hash: digest, pss, bytes }: Algorithm, jws: Signature): boolean {
  const signature = decoded(jws.signature)
  if (bytes !== undefined && signature.length !== bytes) return false
  try {
    const key = keyOf(signer)
    // RFC 7518 § 3.5: the salt is as long as the digest.
    const padding = pss && { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }
    return verify(digest, Buffer.from(`${jws.header}.${jws.payload}`), { key, dsaEncoding: 'ieee-p1363', ...padding }, signature)
  } catch {
    // A key that the library cannot use has signed nothing.
    return false
  }
}

function keyOf({ der, key: { rsaPublicKey } }: Certificate): KeyObject {
  if (!rsaPublicKey) return new X509Certificate(der).publicKey
  return createPublicKey({ key: Buffer.from(rsaPublicKey), format: 'der', type: 'pkcs1' })
}
