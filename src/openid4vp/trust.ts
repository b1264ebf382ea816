// Judges whether the operator trusts the issuer for this type of credential. The certificates of
// the credential must lead to a configured anchor: by RFC 5280 alone (`pkix`), or by the
// certificate profile of ISO/IEC 18013-5 as well (`iso`). With `auto` the type of the document
// decides. Verified paths are remembered; their dates are checked each time.

import { Lru } from '../lru.ts'
import { CertificateDigests } from './certificate-digest.ts'
import { findPathProblem, isSame, type LinkedChain, linkChain, pathTo } from './certification-path.ts'
import type { ReadCredential } from './credential.ts'
import type { CrlPolicy } from './crl-check.ts'
import { isSameName } from './distinguished-name.ts'
import type { Findings } from './finding.ts'
import { isoViolations } from './iso-profile.ts'
import { MDL_SIGNER, MDOC_SIGNER, type TrustUse } from './key-purposes.ts'
import { type Certificate, describeCertificate } from './x509.ts'

export type TrustAnchor = {
  id: string
  /** DER. */
  certificate: Uint8Array
  mode: 'auto' | 'iso' | 'pkix'
  /** The effect of an unreadable revocation list; null leaves it to the mode. */
  crl: CrlPolicy | null
  /** The vct or doctype that it is trusted for; null for all. */
  trustedFor: string | null
  label: string
  isSandbox: boolean
}

export type Issuer = { common_name?: string; country?: string }

type ChainToTrust = {
  /** DER, leaf first. */
  chain: readonly Uint8Array[]
  type: string
  anchors: readonly TrustAnchor[]
  /** The environment of the anchors: for the command that adds one. */
  environment: Environment
  /** Milliseconds. */
  now: number
}

type Environment = 'test' | 'live'

type TrustVerdict =
  | { ok: true; issuer: Issuer; anchor: TrustAnchor; path: readonly Certificate[]; warnings: readonly string[] }
  | { ok: false; issuer: Issuer; detail: string }

// HAIP 1.0 § 6.1.1. It has no effect: only the operator's own copy is trusted.
const ROOT_SENT = 'The issuer sent its root certificate along, which HAIP 1.0 does not allow.'
const NAME_RESPELT = 'A certificate of the issuer names its root in other bytes, which ISO/IEC 18013-5 Annex B does not allow.'

const WITHOUT_PROFILE = "If you accept this issuer all the same, remove its anchor and add it again with '--mode pkix'."

const DRIVING_LICENCE = 'org.iso.18013.5.1.mDL'
/** The final name of ISO/IEC TS 23220-4, and those of its drafts that wallets still use. */
const PHOTO_IDS = new Set(['org.iso.23220.photoID.1', 'org.iso.23220.photoid.1', 'org.iso.23220.2.photoid.1'])

const PATHS_MAX = 1000
const NAME_CHARS_MAX = 200

/** `path` contains leaf and anchor; it is empty without an anchor. */
export type Trust = { issuer: Issuer; anchor: TrustAnchor | undefined; path: readonly Certificate[] }

/** Judges chains, and remembers the paths that it found. */
export class IssuerTrust {
  private readonly known: KnownPaths

  constructor(digests = new CertificateDigests()) {
    this.known = new KnownPaths(digests)
  }

  /** `issuer` is taken from the certificate: proven only with an `anchor`. */
  check(findings: Findings, input: ChainToTrust, format: ReadCredential['format']): Trust {
    const verdict = this.judge(input, format)
    if (!verdict.ok) {
      findings.fail('issuer_chain', 'issuer_untrusted', verdict.detail)
      return { issuer: verdict.issuer, anchor: undefined, path: [] }
    }
    findings.pass('issuer_chain')
    for (const warning of verdict.warnings) findings.warn('issuer_chain', warning)
    if (verdict.anchor.isSandbox) findings.warn('environment', 'sandbox issuer')
    return { issuer: verdict.issuer, anchor: verdict.anchor, path: verdict.path }
  }

  judge({ chain, type, anchors, environment, now }: ChainToTrust, use: TrustUse): TrustVerdict {
    const judged = new JudgedChain(this.known, chain, type, use)
    const untrusted = (detail: string): TrustVerdict => ({ ok: false, issuer: judged.issuer, detail })
    if (anchors.length === 0) {
      return untrusted(
        `No issuers are trusted yet: add the root certificate of each issuer that you accept with ${howToAdd(environment)}.`,
      )
    }

    const eligible = anchors.filter(({ trustedFor }) => trustedFor === null || trustedFor === type)
    const problems: string[] = []
    for (const anchor of eligible) {
      const path = judged.pathTo(anchor)
      const problem = path && (path.problem ?? findDateProblem(path, now))
      if (problem) problems.push(problem)
      else if (path) return { ok: true, issuer: path.issuer, anchor, path: path.certificates, warnings: path.warnings }
    }
    return untrusted(problems[0] ?? judged.brokenLink ?? explainUntrusted(judged, anchors, eligible, howToAdd(environment)))
  }
}

/**
 * A path from the issuer to an anchor, and everything about it that does not depend on the time.
 */
type KnownPath = {
  anchorCertificate: Uint8Array
  /** Leaf first, anchor last. */
  certificates: readonly Certificate[]
  issuer: Issuer
  warnings: readonly string[]
  problem: string | undefined
  /** The intersection of all validities, and the end of the anchor's own. */
  notBefore: number
  notAfter: number
  anchorNotAfter: number
}

class KnownPaths {
  readonly paths = new Lru<KnownPath>({ countMax: PATHS_MAX })
  private readonly anchors = new WeakMap<Uint8Array, Certificate>()

  constructor(private readonly digests: CertificateDigests) {}

  fingerprintOf(chain: readonly Uint8Array[]): string {
    let fingerprint = ''
    for (const der of chain) fingerprint += `${this.digests.of(der)} `
    return fingerprint
  }

  readAnchor({ certificate }: TrustAnchor): Certificate | undefined {
    const known = this.anchors.get(certificate)
    if (known) return known
    const read = describeCertificate(certificate)
    if (read) this.anchors.set(certificate, read)
    return read
  }
}

/**
 * One chain against many anchors. It is parsed at most once, and not at all if its path is
 * remembered.
 */
class JudgedChain {
  private readonly fingerprint: string
  private linked: LinkedChain | undefined

  constructor(
    private readonly known: KnownPaths,
    private readonly chain: readonly Uint8Array[],
    private readonly type: string,
    private readonly use: TrustUse,
  ) {
    this.fingerprint = known.fingerprintOf(chain)
  }

  get issuer(): Issuer {
    const [leaf] = this.chain
    return leaf ? issuerOf(describeCertificate(leaf)) : {}
  }

  get brokenLink(): string | undefined {
    const link = this.link()
    return link.ok ? undefined : link.detail
  }

  get isSelfSigned(): boolean {
    const link = this.link()
    return link.ok && isSelfIssued(link.certificates[0])
  }

  pathTo(anchor: TrustAnchor): KnownPath | undefined {
    const profile = profileOf(anchor, this.type, this.use)
    const key = `${this.fingerprint}${this.use} ${profile} ${anchor.id}`
    const known = this.known.paths.get(key)
    // The certificate behind an id may have been replaced.
    if (known && isSame(known.anchorCertificate, anchor.certificate)) return known
    const found = this.findPath(anchor, profile)
    // Only paths to an anchor are remembered: nobody else can fill the memory.
    if (found) this.known.paths.set(key, found)
    return found
  }

  private findPath(anchor: TrustAnchor, profile: Profile): KnownPath | undefined {
    const link = this.link()
    const root = link.ok ? this.known.readAnchor(anchor) : undefined
    const path = link.ok && root ? pathTo(link.certificates, root) : undefined
    if (!link.ok || !root || !path) return undefined
    return {
      anchorCertificate: anchor.certificate,
      certificates: path,
      issuer: issuerOf(link.certificates[0]),
      warnings: [
        ...(link.certificates.slice(1).some(isSelfIssued) ? [ROOT_SENT] : []),
        ...(profile !== 'pkix' && path.some(isNameRespelt) ? [NAME_RESPELT] : []),
      ],
      problem: findPathProblem(path, this.use) ?? findProfileProblem(path, profile),
      notBefore: Math.max(...path.map(({ notBefore }) => notBefore)),
      notAfter: Math.min(...path.map(({ notAfter }) => notAfter)),
      anchorNotAfter: root.notAfter,
    }
  }

  private link(): LinkedChain {
    this.linked ??= linkChain(this.chain)
    return this.linked
  }
}

const isSelfIssued = ({ subject, issuer }: Certificate): boolean => isSameName(subject, issuer)

const isNameRespelt = ({ issuer }: Certificate, index: number, path: readonly Certificate[]): boolean => {
  const above = path[index + 1]
  return above !== undefined && !isSame(issuer.der, above.subject.der)
}

function issuerOf(leaf: Certificate | undefined): Issuer {
  const { commonName, country } = leaf?.subjectAttributes ?? {}
  return {
    ...(commonName && isPrintable(commonName) && { common_name: commonName }),
    ...(country && /^[A-Za-z]{2}$/.test(country) && { country }),
  }
}

/** No control or formatting characters: a name must not rearrange the text around it. */
function isPrintable(name: string): boolean {
  return name.length <= NAME_CHARS_MAX && !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(name)
}

/** The rules for a path. Those for photo IDs accept a purpose of ISO/IEC 23220-4 for the signer. */
type Profile = 'pkix' | 'iso' | 'iso-photo-id'

function profileOf({ mode }: TrustAnchor, type: string, use: TrustUse): Profile {
  if (use === 'status' || modeFor(mode, type) === 'pkix') return 'pkix'
  return PHOTO_IDS.has(type) ? 'iso-photo-id' : 'iso'
}

function modeFor(mode: TrustAnchor['mode'], type: string): 'iso' | 'pkix' {
  if (mode !== 'auto') return mode
  return isIsoDocument(type) ? 'iso' : 'pkix'
}

const isIsoDocument = (type: string): boolean => type === DRIVING_LICENCE || PHOTO_IDS.has(type)

function findProfileProblem(path: readonly Certificate[], profile: Profile): string | undefined {
  const violations = profile === 'pkix' ? [] : isoViolations(path, profile === 'iso' ? [MDL_SIGNER] : [MDL_SIGNER, MDOC_SIGNER])
  if (violations.length === 0) return undefined
  const rules = violations.join('; ')
  return `The issuer's certificates do not follow ISO/IEC 18013-5 Annex B: ${rules}. ${WITHOUT_PROFILE}`
}

// RFC 5280 § 4.1.2.5: both instants are inside.
function findDateProblem({ notBefore, notAfter, anchorNotAfter }: KnownPath, now: number): string | undefined {
  if (now > anchorNotAfter) return 'The certificate that you trust this issuer by has expired: add its successor.'
  if (now > notAfter) return 'A certificate of the issuer has expired.'
  return now < notBefore ? 'A certificate of the issuer is not valid yet.' : undefined
}

export const crlPolicyOf = ({ crl, mode }: TrustAnchor, type: string): CrlPolicy =>
  crl ?? (modeFor(mode, type) === 'iso' ? 'require' : 'warn')

const howToAdd = (environment: Environment): string => `'vidimus trust add FILE.pem --env ${environment}'`

function explainUntrusted(
  judged: JudgedChain,
  anchors: readonly TrustAnchor[],
  eligible: readonly TrustAnchor[],
  add: string,
): string {
  if (anchors.some(anchor => !eligible.includes(anchor) && judged.pathTo(anchor))) {
    return `The issuer is trusted, but for another type of credential: trust it for this one too with ${add}.`
  }
  if (eligible.length === 0) return `No issuer is trusted for this type of credential yet: add one with ${add}.`
  if (judged.isSelfSigned) {
    return `The issuer's certificate is signed by itself: if you accept this issuer, add that very certificate with ${add}.`
  }
  return `The issuer is not one that you trust: if you accept it, add its root certificate with ${add}.`
}
