// One chain against the anchors that it may lead to. Paths that were found are remembered; their
// dates, and everything else that may change, are judged each time.

import { sha256Hex } from '../../base/hash.ts'
import { Lru } from '../../base/lru.ts'
import type { CertificateDigests } from '../x509/certificate-digest.ts'
import { findPathProblem, isSame, type LinkedChain, linkChain, pathTo } from '../x509/certification-path.ts'
import { isSameName } from '../x509/distinguished-name.ts'
import { MDL_SIGNER, MDOC_SIGNER, type TrustUse } from '../x509/key-purposes.ts'
import { type Certificate, describeCertificate } from '../x509/x509.ts'
import type { AnchorIndex, IndexedAnchor } from './anchor-index.ts'
import { twinOf } from './certificate-twin.ts'
import { isoViolations } from './iso-profile.ts'
import type { TrustAnchor } from './trust-anchor.ts'

export type Issuer = { common_name?: string; country?: string }

/** A path from the issuer to an anchor, and everything about it that does not depend on the time. */
export type KnownPath = {
  /** Leaf first, anchor last. */
  certificates: readonly Certificate[]
  issuer: Issuer
  warnings: readonly string[]
  problem: string | undefined
  /** SHA-256 of the other forms of its certificates: a block of one form counts for both. */
  twins: readonly string[]
  /** The intersection of all validities, and the end of the anchor's own. */
  notBefore: number
  notAfter: number
  anchorNotAfter: number
}

// HAIP 1.0 § 6.1.1. It has no effect: only the operator's own copy is trusted.
const ROOT_SENT = 'The issuer sent its root certificate along, which HAIP 1.0 does not allow.'
const NAME_RESPELT = 'A certificate of the issuer names its root in other bytes, which ISO/IEC 18013-5 Annex B does not allow.'

const WITHOUT_PROFILE = "If you accept this issuer all the same, remove its anchor and add it again with '--mode pkix'."

export const DRIVING_LICENCE = 'org.iso.18013.5.1.mDL'
/** The final name of ISO/IEC TS 23220-4, and those of its drafts that wallets still use. */
const PHOTO_IDS = new Set(['org.iso.23220.photoID.1', 'org.iso.23220.photoid.1', 'org.iso.23220.2.photoid.1'])

const CHAINS_MAX = 1000
const NAME_CHARS_MAX = 200

type KnownChain = { linked: LinkedChain; paths: Map<string, KnownPath> }

/** Only chains that lead to an anchor are remembered: nobody else can fill the memory. */
export class KnownPaths {
  readonly chains = new Lru<KnownChain>({ countMax: CHAINS_MAX })

  constructor(readonly digests: CertificateDigests) {}
}

/** The chain is parsed at most once, and not at all if a path of it is remembered. */
export class JudgedChain {
  /** SHA-256 of the certificates, leaf first. */
  readonly digests: readonly string[]
  private readonly fingerprint: string
  private remembered: KnownChain | undefined
  private linked: LinkedChain | undefined
  /** Keyed by the digest of the anchor: one certificate may be the anchor for many types. */
  private readonly searched = new Map<string, Certificate[] | undefined>()

  constructor(
    private readonly known: KnownPaths,
    private readonly chain: readonly Uint8Array[],
    private readonly type: string,
    private readonly use: TrustUse,
  ) {
    this.digests = chain.map(der => known.digests.of(der))
    this.fingerprint = this.digests.join(' ')
    this.remembered = known.chains.get(this.fingerprint)
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

  reachable(anchors: AnchorIndex): readonly IndexedAnchor[] {
    const link = this.link()
    return link.ok ? anchors.reachableFrom(link.certificates, this.digests) : []
  }

  pathTo(root: IndexedAnchor): KnownPath | undefined {
    const profile = profileOf(root.anchor, this.type, this.use)
    const key = `${this.use} ${profile} ${root.digest}`
    const known = this.remembered?.paths.get(key)
    if (known) return known
    const found = this.findPath(root, profile)
    if (found) this.remember(key, found)
    return found
  }

  private remember(key: string, path: KnownPath): void {
    this.remembered ??= { linked: this.link(), paths: new Map() }
    this.remembered.paths.set(key, path)
    this.known.chains.set(this.fingerprint, this.remembered)
  }

  private findPath({ certificate: root, digest }: IndexedAnchor, profile: Profile): KnownPath | undefined {
    const link = this.link()
    if (!link.ok) return undefined
    if (!this.searched.has(digest)) this.searched.set(digest, pathTo(link.certificates, root))
    const path = this.searched.get(digest)
    if (!path) return undefined
    return {
      certificates: path,
      issuer: issuerOf(link.certificates[0]),
      warnings: [
        ...(link.certificates.slice(1).some(isSelfIssued) ? [ROOT_SENT] : []),
        ...(profile !== 'pkix' && path.some(isNameRespelt) ? [NAME_RESPELT] : []),
      ],
      problem: findPathProblem(path, this.use) ?? findProfileProblem(path, profile),
      twins: path.flatMap((certificate, index) => twinDigest(certificate, path[index + 1]) ?? []),
      notBefore: Math.max(...path.map(({ notBefore }) => notBefore)),
      notAfter: Math.min(...path.map(({ notAfter }) => notAfter)),
      anchorNotAfter: root.notAfter,
    }
  }

  private link(): LinkedChain {
    this.linked ??= this.remembered?.linked ?? linkChain(this.chain)
    return this.linked
  }
}

/** Undefined for the anchor, which is the operator's own copy. */
function twinDigest(certificate: Certificate, issuer: Certificate | undefined): string | undefined {
  const twin = issuer && twinOf(certificate, issuer)
  return twin && sha256Hex(twin)
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

export function modeFor(mode: TrustAnchor['mode'], type: string): 'iso' | 'pkix' {
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
