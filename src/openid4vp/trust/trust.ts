// Judges whether the operator trusts the issuer for this type of credential. The certificates of
// the credential must lead to a configured anchor: by RFC 5280 alone (`pkix`), or by the
// certificate profile of ISO/IEC 18013-5 as well (`iso`). With `auto` the type of the document
// decides. An anchor that a list names counts until the list ends.

import type { ReadCredential } from '../credential.ts'
import type { Findings } from '../finding.ts'
import { CertificateDigests } from '../x509/certificate-digest.ts'
import type { TrustUse } from '../x509/key-purposes.ts'
import type { Certificate } from '../x509/x509.ts'
import type { AnchorIndex, IndexedAnchor } from './anchor-index.ts'
import type { CrlPolicy } from './crl-check.ts'
import { type Issuer, JudgedChain, type KnownPath, KnownPaths, modeFor } from './judged-chain.ts'
import { type AnchorList, covers, isForDocuments, type TrustAnchor } from './trust-anchor.ts'

export type { Issuer } from './judged-chain.ts'
export { covers, type TrustAnchor } from './trust-anchor.ts'

type ChainToTrust = {
  /** DER, leaf first. */
  chain: readonly Uint8Array[]
  type: string
  anchors: AnchorIndex
  /** The environment of the anchors: for the command that adds one. */
  environment: Environment
  /** Milliseconds; for the dates of certificates. */
  now: number
  /** Never goes back; for the end of lists. */
  steadyNow: number
  /** Of a status list: the anchor that the credential's own chain ends in. */
  own?: TrustAnchor
}

type Environment = 'test' | 'live'

type Trusted = { ok: true; issuer: Issuer; anchor: TrustAnchor; path: readonly Certificate[]; warnings: readonly string[] }
type TrustVerdict = Trusted | { ok: false; issuer: Issuer; detail: string }

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

  judge({ chain, type, anchors, environment, now, steadyNow, own }: ChainToTrust, use: TrustUse): TrustVerdict {
    const ownDigest = own && this.known.digests.of(own.certificate)
    const judged = new JudgedChain(this.known, chain, type, use)
    const untrusted = (detail: string): TrustVerdict => ({ ok: false, issuer: judged.issuer, detail })
    const signsFor = (root: IndexedAnchor) => vouches(root, type, use, ownDigest)
    const blocked = judged.digests.find(digest => anchors.isBlocked(digest))
    if (blocked !== undefined) return untrusted(describeBlock(blocked, environment))
    if (anchors.isEmpty) {
      return untrusted(
        `No issuers are trusted yet: add the root certificate of each issuer that you accept with ${howToAdd(environment)}.`,
      )
    }

    const reachable = judged.reachable(anchors)
    const problems: string[] = []
    let outdated: Trusted | undefined
    for (const root of reachable) {
      const { anchor, digest } = root
      const path = signsFor(root) ? judged.pathTo(root) : undefined
      if (!path) continue
      const blockedInPath = [digest, ...path.twins].find(each => anchors.isBlocked(each))
      const problem =
        (blockedInPath === undefined ? undefined : describeBlock(blockedInPath, environment)) ??
        path.problem ??
        findDateProblem(path, now) ??
        findListEnd(anchor.list, steadyNow)
      if (problem) {
        problems.push(problem)
        continue
      }
      const warnings = [...path.warnings, ...staleness(anchor.list, steadyNow)]
      const trusted: Trusted = { ok: true, issuer: path.issuer, anchor, path: path.certificates, warnings }
      // Another anchor, or another list, may say the same and be current.
      if (warnings.length === path.warnings.length) return trusted
      outdated ??= trusted
    }
    if (outdated) return outdated
    if (use === 'status') {
      const others = reachable.filter(root => !signsFor(root))
      return untrusted(explainStatusSigner(judged, { type, reachable: others, environment }))
    }
    return untrusted(problems[0] ?? judged.brokenLink ?? explainUntrusted(judged, { type, anchors, reachable, environment }))
  }
}

/** One that vouches for documents signs the status lists of its own, and of nobody else: a rival could clear what was revoked. */
function vouches({ anchor, digest }: IndexedAnchor, type: string, use: TrustUse, ownDigest: string | undefined): boolean {
  const isForUse =
    use === 'status' ? anchor.use === 'status' || (anchor.use === 'both' && digest === ownDigest) : isForDocuments(anchor)
  return isForUse && covers(anchor.trustedFor, type)
}

const describeBlock = (digest: string, environment: Environment): string =>
  `You have blocked a certificate of this issuer: 'vidimus trust unblock ${digest} --env ${environment}' ends that.`

// RFC 5280 § 4.1.2.5: both instants are inside.
function findDateProblem({ notBefore, notAfter, anchorNotAfter }: KnownPath, now: number): string | undefined {
  if (now > anchorNotAfter) return 'The certificate that you trust this issuer by has expired: add its successor.'
  if (now > notAfter) return 'A certificate of the issuer has expired.'
  return now < notBefore ? 'A certificate of the issuer is not valid yet.' : undefined
}

function findListEnd(list: AnchorList | undefined, now: number): string | undefined {
  if (!list || now < list.endsAt) return undefined
  const refresh = `'vidimus trust source refresh ${list.id}'`
  return `The list that names this issuer (${list.label}) ended on ${timeOf(list.endsAt)}: get a newer one with ${refresh}.`
}

const staleness = (list: AnchorList | undefined, now: number): string[] =>
  list && now >= list.nextUpdate ? [`The list that names this issuer has been out of date since ${timeOf(list.nextUpdate)}.`] : []

const timeOf = (ms: number): string => new Date(ms).toISOString().replace('.000Z', 'Z')

export const crlPolicyOf = ({ crl, mode }: TrustAnchor, type: string): CrlPolicy =>
  crl ?? (modeFor(mode, type) === 'iso' ? 'require' : 'warn')

const howToAdd = (environment: Environment): string => `'vidimus trust add FILE.pem --env ${environment}'`

type Untrusted = Pick<ChainToTrust, 'type' | 'anchors' | 'environment'> & { reachable: readonly IndexedAnchor[] }

/** Looks only at anchors that the chain may lead to: anybody can send untrusted chains. */
function explainUntrusted(judged: JudgedChain, { type, anchors, reachable, environment }: Untrusted): string {
  const add = howToAdd(environment)
  const leading = reachable.filter(root => judged.pathTo(root)).map(({ anchor }) => anchor)
  const listed = leading.find(anchor => !isForDocuments(anchor) && covers(anchor.trustedFor, type))
  if (listed) return describeListed(listed)
  if (leading.some(isForDocuments)) {
    return `The issuer is trusted, but for another type of credential: trust it for this one too with ${add}.`
  }
  if (!anchors.hasIssuersFor(type)) return `No issuer is trusted for this type of credential yet: add one with ${add}.`
  if (judged.isSelfSigned) {
    return `The issuer's certificate is signed by itself: if you accept this issuer, add that very certificate with ${add}.`
  }
  return `The issuer is not one that you trust: if you accept it, add its root certificate with ${add}.`
}

const UNSURE = 'so the credential may be revoked'

/** `reachable`: anchors that may not sign the list. The signer is named only where one of them proves who it is. */
function explainStatusSigner(judged: JudgedChain, { type, reachable, environment }: Omit<Untrusted, 'anchors'>): string {
  const leading = reachable.filter(({ anchor }) => covers(anchor.trustedFor, type)).find(root => judged.pathTo(root))
  if (!leading || !isForDocuments(leading.anchor))
    return `The issuer's status list is signed by someone you do not trust, ${UNSURE}.`
  const { label, use } = leading.anchor
  const name = judged.issuer.common_name
  const signer = name && name !== label ? `${name} (below ${label})` : label
  const why = use === 'documents' ? 'whom you trust for documents only' : 'who may sign the lists of its own documents only'
  return `The issuer's status list is signed by ${signer}, ${why}, ${UNSURE}. If it signs for this issuer too: ${howToAdd(environment)} with --use status.`
}

function describeListed({ use, label, list, since }: TrustAnchor): string {
  const name = list?.label ?? label
  if (use === 'status')
    return list
      ? `${name} names this issuer for status lists only, not for documents.`
      : `You trust ${name} for status lists only, not for documents.`
  return since === undefined ? `${name} has withdrawn this issuer.` : `${name} has withdrawn this issuer since ${timeOf(since)}.`
}
