// An SD-JWT VC as a wallet presents it: form, issuer signature, disclosures, dates, key binding, in
// this order. Trust, status and query are checked elsewhere. Claims are returned even if signature,
// dates or key binding fail: the caller decides whether to use them.
import { LargeNumber } from '../../base/json.ts'
import { isObject, type Members } from '../../base/members.ts'
import {
  CERTIFICATE_BYTES_MAX,
  CERTIFICATES_MAX,
  CLOCK_SKEW_MS,
  type Expected,
  type ReadCredential,
  type StatusReference,
} from '../credential.ts'
import type { Findings } from '../finding.ts'
import { SignerCertificates } from '../trust/signer-certificate.ts'
import { discloseClaims } from './disclosures.ts'
import { Malformed, SdJwtDecoder, type Token } from './form.ts'
import { isSignedBy, jwtKeyOf, otherAlgorithm } from './jws.ts'
import { findKeyBindingProblem } from './key-binding.ts'

type Issuer = { chain: readonly Uint8Array[]; key: CryptoKey | undefined }

export class SdJwtReader {
  private readonly decoder = new SdJwtDecoder()
  /** Keyed by the header object, which the decoder shares between credentials of one issuer. */
  private readonly issuers = new WeakMap<Members, Issuer>()

  constructor(private readonly signers = new SignerCertificates()) {}

  /**
   * Undefined after a finding on `format` or `digests` that leaves nothing to read. Never throws.
   * With an `issuerKey`, the certificates are ignored.
   */
  async read(
    findings: Findings,
    presentation: string,
    expected: Expected,
    holderBindingRequired: boolean,
    issuerKey?: CryptoKey,
  ): Promise<ReadCredential | undefined> {
    try {
      return await this.check(findings, presentation, expected, holderBindingRequired, issuerKey)
    } catch (error) {
      // The only catch for this format, for our errors and those of libraries.
      const { check, message } = error instanceof Malformed ? error : new Malformed('format', UNREADABLE)
      findings.fail(check, 'presentation_malformed', message)
    }
  }

  private async check(
    findings: Findings,
    presentation: string,
    expected: Expected,
    holderBindingRequired: boolean,
    issuerKey: CryptoKey | undefined,
  ): Promise<ReadCredential> {
    const sdJwt = this.decoder.decode(presentation)
    const { header, payload } = sdJwt.jwt
    assertHeader(header)
    const issuer = issuerKey ? { chain: [], key: issuerKey } : (this.issuers.get(header) ?? (await this.issuerOf(header)))
    const isProofChecked = holderBindingRequired || sdJwt.keyBinding !== undefined
    // Both signatures are verified at the same time, on other threads. Findings keep the order of the checks.
    const [issuerProblem, holderProblem] = await Promise.all([
      findIssuerSignatureProblem(sdJwt.jwt, issuer.key),
      isProofChecked ? findKeyBindingProblem(sdJwt, expected) : undefined,
    ])

    if (issuerProblem === undefined) findings.pass('issuer_signature')
    else findings.fail('issuer_signature', 'signature_invalid', issuerProblem)
    const { claims, isAllSigned } = discloseClaims(payload, sdJwt.disclosures)
    if (isAllSigned) findings.pass('digests')
    else findings.fail('digests', 'signature_invalid', 'A disclosed value is not part of what the issuer signed.')
    const dates = datesOf(claims, payload)
    assertDates(dates)
    const credential = describe(claims, sdJwt.jwt, issuer.chain)
    findings.pass('format')
    if (header.typ === 'vc+sd-jwt') findings.warn('format', 'The credential uses the former type name "vc+sd-jwt".')

    checkValidity(findings, dates, expected.now)
    // The query decides whether a proof is required. A proof that was sent is verified in any case (RFC 9901 § 7.3).
    if (!isProofChecked) findings.skip('holder_binding', 'The query does not ask for a proof of possession.')
    else if (holderProblem === undefined) findings.pass('holder_binding')
    else findings.fail('holder_binding', 'holder_binding_invalid', holderProblem)
    return credential
  }

  // HAIP 1.0 § 6.1.1. No other source of the key is accepted, or an attacker could choose it (SD-JWT VC § 10.2).
  private async issuerOf(header: Members): Promise<Issuer> {
    const chain = readX5c(header)
    const signer = await this.signers.read(chain[0]!)
    if (!signer) throw new Malformed('format', 'The certificate of the issuer cannot be read.')
    const issuer = { chain, key: jwtKeyOf(signer) }
    this.issuers.set(header, issuer)
    return issuer
  }
}

const UNREADABLE = 'It cannot be read as an SD-JWT credential.'

function assertHeader({ typ, crit }: Members): void {
  // SD-JWT VC § 3.2.1 recommends accepting the name of earlier drafts for a while.
  if (typ !== 'dc+sd-jwt' && typ !== 'vc+sd-jwt') throw new Malformed('format', 'It is not an SD-JWT credential by its type.')
  // RFC 7515 § 4.1.11: no extension is implemented, so every critical one is unknown.
  if (crit !== undefined) throw new Malformed('format', 'The credential asks for an extension that is not supported.')
}

function readX5c({ x5c }: Members): Uint8Array[] {
  if (!Array.isArray(x5c) || x5c.length === 0)
    throw new Malformed('format', 'The credential does not carry a certificate of its issuer.')
  if (x5c.length > CERTIFICATES_MAX)
    throw new Malformed('format', `The credential carries more than ${CERTIFICATES_MAX} certificates.`)
  return x5c.map(certificateBytes)
}

/** Standard base64, unlike the rest of a JWT (RFC 7515 § 4.1.6). */
function certificateBytes(text: unknown): Uint8Array {
  if (typeof text === 'string' && text.length <= (CERTIFICATE_BYTES_MAX / 3 + 1) * 4) {
    const bytes = Buffer.from(text, 'base64')
    if (bytes.length > 0 && bytes.length <= CERTIFICATE_BYTES_MAX && bytes.toString('base64') === text) return bytes
  }
  throw new Malformed('format', 'A certificate of the issuer is too large or wrongly encoded.')
}

async function findIssuerSignatureProblem({ text, header }: Token, key: CryptoKey | undefined): Promise<string | undefined> {
  if (!key) return 'The key of the issuer is not of a kind that is accepted.'
  const algorithm = otherAlgorithm(header.alg, key)
  if (algorithm) return `The signature of the credential must name ${algorithm}, the algorithm of its issuer's key.`
  const isSigned = await isSignedBy({ text, alg: header.alg, key })
  return isSigned ? undefined : 'The credential is not signed with the key of its issuer.'
}

function describe(claims: Members, { text, payload }: Token, chain: readonly Uint8Array[]): ReadCredential {
  const { vct } = payload
  const { status } = claims
  if (typeof vct !== 'string' || vct === '') throw new Malformed('format', 'The credential does not name its type.')
  return {
    format: 'dc+sd-jwt',
    type: vct,
    claims,
    signed: text.slice(0, text.lastIndexOf('.')),
    chain,
    status: status === undefined ? undefined : statusReference(status),
  }
}

/** Dates are read from the claims, since iat may be disclosed; numbers beyond 2^53 are texts there. */
function datesOf(claims: Members, payload: Members): Members {
  const dateOf = (name: string) => (payload[name] instanceof LargeNumber ? Number(payload[name]) : claims[name])
  return { exp: dateOf('exp'), nbf: dateOf('nbf'), iat: dateOf('iat') }
}

function assertDates({ exp, nbf, iat }: Members): void {
  if (![exp, nbf, iat].every(isDate)) throw new Malformed('format', 'A date of the credential is not a number.')
}

// JSON.parse turns 1e999 into Infinity, which would never expire.
const isDate = (date: unknown): date is number | undefined => date === undefined || Number.isFinite(date)

function statusReference(status: unknown): [StatusReference] | 'unsupported' {
  const list = isObject(status) ? status.status_list : undefined
  if (!isObject(list)) return 'unsupported'
  const { uri, idx } = list
  return typeof uri === 'string' && Number.isSafeInteger(idx) && Number(idx) >= 0 ? [{ uri, index: Number(idx) }] : 'unsupported'
}

function checkValidity(findings: Findings, { exp, nbf, iat }: Members, now: number): void {
  const isExpired = typeof exp === 'number' && now >= exp * 1000 + CLOCK_SKEW_MS
  const isEarly = [nbf, iat].some(date => typeof date === 'number' && now < date * 1000 - CLOCK_SKEW_MS)
  if (isExpired) findings.fail('validity', 'credential_expired', 'The credential has expired.')
  if (isEarly) findings.fail('validity', 'credential_not_yet_valid', 'The credential is not valid yet.')
  if (!isExpired && !isEarly) findings.pass('validity')
}
