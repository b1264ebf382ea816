// Checks whether the issuer revoked or suspended the credential. Whole lists are fetched and kept,
// so that the issuer does not learn which entry is looked up (Token Status List § 12). Fails closed:
// if the status cannot be determined, it is `status_unknown`, which is neither "valid" nor "revoked".

import { Lru } from '../../base/lru.ts'
import { CERTIFICATE_BYTES_MAX, CLOCK_SKEW_MS, type ReadCredential, type StatusReference } from '../credential.ts'
import { Findings } from '../finding.ts'
import type { AnchorIndex } from '../trust/anchor-index.ts'
import type { CrlChecker } from '../trust/crl-check.ts'
import { DRIVING_LICENCE } from '../trust/judged-chain.ts'
import { crlPolicyOf, IssuerTrust, type TrustAnchor } from '../trust/trust.ts'
import { isSame } from '../x509/certification-path.ts'
import { type Certificate, describeCertificate } from '../x509/x509.ts'
import { statusAt } from './bits.ts'
import { hasIdentifier, IDENTIFIERS_BYTES_MAX, type IdentifierToken, readIdentifierList } from './identifier-list.ts'
import { readStatusCwt, readStatusJwt, StatusFault, type StatusToken } from './token.ts'

/**
 * The caller guards the destination, follows redirects, and limits time and size. `reason` is a clause for the merchant, such as "it did not answer within
 * 5 seconds"; `remedy` is a sentence that replaces "Try again later."
 */
export type FetchStatus = (
  uri: string,
  options: { accept: string; bytesMax: number; isLocal: boolean },
) => Promise<{ ok: true; contentType: string; body: Uint8Array } | { ok: false; reason: string; remedy?: string }>

export type StatusContext = {
  format: 'dc+sd-jwt' | 'mso_mdoc'
  anchors: AnchorIndex
  environment: 'test' | 'live'
  /** The anchor of the credential. */
  anchor: TrustAnchor | undefined
  /** The path to it: its certificates were checked for revocation. */
  path: readonly Certificate[]
  crls: CrlChecker
  type: string
}

export type StatusChecker = {
  check(findings: Findings, references: ReadCredential['status'], context: StatusContext): Promise<void>
  /** Addresses of the lists that were used lately. */
  known(): string[]
}

type StatusOptions = {
  /** True for the service's own lists, which use plain http in development. */
  allowHttp?: (uri: string) => boolean
  /** True for a list of a developer's test wallet on this machine: it is read, over http too, with a warning. */
  isLocal?: (uri: string, environment: StatusContext['environment']) => boolean
  /** Reads large lists of identifiers in a thread. */
  readIdentifiers?: typeof readIdentifierList
}

export const STATUS_BODY_BYTES_MAX = 2 * 1024 * 1024

const LISTS_MAX = 200
const LISTS_BYTES_MAX = 64 * 1024 * 1024
const SECOND_MS = 1000
const KEPT_MS_MIN = 60 * SECOND_MS
const KEPT_MS_MAX = 24 * 3600 * SECOND_MS
/** Default: long enough to spare the issuer, short enough to notice a revocation. */
const KEPT_MS_DEFAULT = 15 * 60 * SECOND_MS
/** An unreachable host is not asked again for each credential. */
const FAULT_KEPT_MS = 10 * SECOND_MS

const JWT_TYPE = 'application/statuslist+jwt'
const CWT_TYPE = 'application/statuslist+cwt'
const IDENTIFIERS_TYPE = 'application/identifierlist+cwt'
// SD-JWT VC draft 13 § 3.2.2.2 allows the JWT form only; mdocs use both.
const WANTED = {
  'dc+sd-jwt': { accept: JWT_TYPE, bytesMax: STATUS_BODY_BYTES_MAX },
  mso_mdoc: { accept: `${CWT_TYPE}, ${JWT_TYPE};q=0.9`, bytesMax: STATUS_BODY_BYTES_MAX },
  identifiers: { accept: IDENTIFIERS_TYPE, bytesMax: IDENTIFIERS_BYTES_MAX },
}

const LIST = "its issuer's status list"
const RISK = 'so it may be revoked'
const OTHER_SIGNER =
  "The issuer's status list is not signed below the certificate that the document names for it, so the credential may be revoked."
const UNREADABLE_SIGNER =
  'The certificate that the document names for its status list cannot be read, so the credential may be revoked.'
const NOT_ONE_BIT = "The issuer's status list has more than one bit for each licence, which ISO/IEC 18013-5 does not allow."
const LOCAL = 'The status list was read from this machine. That happens in test sessions under "vidimus serve --dev" only.'

const VALID = 0
const INVALID = 1
const SUSPENDED = 2

/** Local lists have keys of their own: a live session must not use one. */
type Place = { uri: string; wanted: keyof typeof WANTED; isLocal: boolean }

const keyOf = ({ uri, wanted, isLocal }: Place): string => `${wanted}${isLocal ? '+local' : ''} ${uri}`

type Token = StatusToken | IdentifierToken
type Fetched = { until: number; token: Token } | { until: number; fault: string }

export function createStatusChecker(fetchStatus: FetchStatus, now: () => number, options: StatusOptions = {}): StatusChecker {
  const lists = new StatusLists(fetchStatus, now, options)
  const trust = new IssuerTrust()

  async function checkOne(findings: Findings, reference: StatusReference, context: Trusted): Promise<void> {
    const { uri } = reference
    const unknown = (detail: string) => failUnknown(findings, detail)
    const isLocal = options.isLocal?.(uri, context.environment) === true
    if (!isLocal && !isFetchable(uri, options)) {
      return unknown("The issuer's status list is not at an https address, so the credential may be revoked.")
    }

    const place: Place = { uri, wanted: 'id' in reference ? 'identifiers' : context.format, isLocal }
    const fetched = await lists.get(place)
    if ('fault' in fetched) return unknown(fetched.fault)
    const { token } = fetched
    const refused = (detail: string) => {
      lists.expireSoon(place)
      unknown(detail)
    }
    const signer = signerOf(reference, context)
    if (!signer) return refused(UNREADABLE_SIGNER)
    const { type, environment, path, crls } = context
    const verdict = trust.judge({ chain: token.chain, type, environment, now: now(), steadyNow: now(), ...signer }, 'status')
    if (!verdict.ok) return refused(reference.certificate ? OTHER_SIGNER : verdict.detail)
    if (!isSamePath(verdict.path, path)) {
      await crls.check(findings, verdict.path, crlPolicyOf(verdict.anchor, type), 'status')
      if (findings.failures.length > 0) return lists.expireSoon(place)
    }
    if (isLocal) findings.warn('status', LOCAL)
    judgeEntry(findings, reference, token, type)
  }

  return {
    async check(findings, references, context) {
      if (references === undefined) return findings.pass('status')
      if (references === 'unsupported') {
        return failUnknown(findings, 'The credential can be revoked in a way that cannot be checked here, so it may be revoked.')
      }
      const { anchor } = context
      // Only trusted issuers can make the service fetch an address.
      if (!anchor) return findings.skip('status', 'Not checked, because the issuer is not trusted.')
      const checks = await Promise.all(
        references.map(async reference => {
          const found = new Findings(now)
          await checkOne(found, reference, { ...context, anchor })
          return found
        }),
      )
      findings.all.push(...checks.flatMap(({ all }) => all))
      if (checks.every(({ failures }) => failures.length === 0)) findings.pass('status')
    },
    known: () => lists.known(),
  }
}

const failUnknown = (findings: Findings, detail: string) => findings.fail('status', 'status_unknown', detail)

type Trusted = StatusContext & { anchor: TrustAnchor }

/**
 * Who may sign the list (ISO/IEC 18013-5, second edition, § 12.3.6.2): with `certificate`, whoever leads to it, for this
 * document only. Undefined if it cannot be read.
 */
function signerOf({ certificate }: StatusReference, { anchor, anchors }: Trusted) {
  if (!certificate) return { anchors, own: anchor }
  const isReadable = certificate.length <= CERTIFICATE_BYTES_MAX && describeCertificate(certificate) !== undefined
  const own: TrustAnchor = { ...anchor, certificate, trustedFor: null, use: 'both', list: undefined }
  return isReadable ? { anchors: anchors.only(own), own } : undefined
}

function isFetchable(uri: string, { allowHttp }: StatusOptions): boolean {
  const protocol = URL.parse(uri)?.protocol
  return protocol === 'https:' || (protocol === 'http:' && allowHttp?.(uri) === true)
}

const isSamePath = (path: readonly Certificate[], other: readonly Certificate[]): boolean =>
  path.length === other.length && path.every(({ der }, index) => isSame(der, other[index]!.der))

function judgeEntry(findings: Findings, reference: StatusReference, { list }: Token, type: string): void {
  if ('id' in reference) {
    if ('digests' in list && hasIdentifier(list, reference.id)) judgeStatus(findings, INVALID)
  } else if ('bits' in list) {
    if (list.bits !== 1 && type === DRIVING_LICENCE) findings.warn('status', NOT_ONE_BIT)
    judgeStatus(findings, statusAt(list, reference.index))
  }
}

// Token Status List § 7.1: other values are reserved or specific to the issuer.
function judgeStatus(findings: Findings, status: number | undefined): void {
  if (status === VALID) return
  if (status === INVALID) findings.fail('status', 'credential_revoked', 'The issuer has revoked this credential.')
  else if (status === SUSPENDED)
    findings.fail('status', 'credential_revoked', 'The issuer has suspended this credential for now.')
  else if (status === undefined) failUnknown(findings, `The credential is not on ${LIST}, ${RISK}.`)
  else failUnknown(findings, `The issuer gives this credential a status without a known meaning, ${RISK}.`)
}

/** Kept as long as their issuers allow; one fetch at a time for each. */
class StatusLists {
  private readonly kept = new Lru<Fetched>({
    countMax: LISTS_MAX,
    weightMax: LISTS_BYTES_MAX,
    weigh: fetched => ('token' in fetched ? bytesOf(fetched.token) : 0),
  })
  private readonly underWay = new Map<string, Promise<Fetched>>()

  constructor(
    private readonly fetchStatus: FetchStatus,
    private readonly now: () => number,
    private readonly options: StatusOptions,
  ) {}

  async get(place: Place): Promise<Fetched> {
    const key = keyOf(place)
    const kept = this.kept.get(key)
    if (kept && this.now() < kept.until) return kept
    const underWay = this.underWay.get(key) ?? this.refresh(key, place)
    this.underWay.set(key, underWay)
    return underWay
  }

  known(): string[] {
    return this.kept.keys().map(key => key.slice(key.indexOf(' ') + 1))
  }

  /** The issuer may replace a wrongly signed list before it expires. */
  expireSoon(place: Place): void {
    const key = keyOf(place)
    const kept = this.kept.get(key)
    if (kept) this.kept.set(key, { ...kept, until: Math.min(kept.until, this.now() + FAULT_KEPT_MS) })
  }

  private async refresh(key: string, place: Place): Promise<Fetched> {
    try {
      const fetched = await this.fetch(place)
      this.kept.set(key, fetched)
      return fetched
    } finally {
      this.underWay.delete(key)
    }
  }

  private async fetch({ uri, wanted, isLocal }: Place): Promise<Fetched> {
    try {
      const answer = await this.fetchStatus(uri, { ...WANTED[wanted], isLocal })
      const token = await readBody(answer, wanted, this.options.readIdentifiers)
      const now = this.now()
      const fault = findTokenFault(token, uri, now)
      return fault === undefined ? { until: keptUntil(token, now), token } : this.fault(fault)
    } catch (error) {
      // An unexpected error of the fetch: still no list.
      return this.fault(error instanceof StatusFault ? error.message : unreachable('it could not be reached'))
    }
  }

  private fault(fault: string): Fetched {
    return { until: this.now() + FAULT_KEPT_MS, fault }
  }
}

const bytesOf = ({ list }: Token): number => ('bits' in list ? list.bytes : list.digests).length

async function readBody(
  answer: Awaited<ReturnType<FetchStatus>>,
  wanted: Place['wanted'],
  readIdentifiers = readIdentifierList,
): Promise<Token> {
  if (!answer.ok) throw new StatusFault(unreachable(answer.reason, answer.remedy))
  if (answer.body.length > WANTED[wanted].bytesMax) throw new StatusFault(unreachable('it is too large'))
  const type = answer.contentType.split(';', 1)[0]?.trim().toLowerCase()
  if (wanted === 'identifiers') {
    if (type === IDENTIFIERS_TYPE) return readIdentifiers(answer.body)
  } else {
    if (type === JWT_TYPE) return readStatusJwt(Buffer.from(answer.body).toString('latin1').trim())
    if (type === CWT_TYPE && wanted === 'mso_mdoc') return readStatusCwt(answer.body)
  }
  throw new StatusFault("What is at the address of the issuer's status list is not one, so the credential may be revoked.")
}

function unreachable(reason: string, remedy = 'Try again later.'): string {
  return `The issuer's status list could not be fetched: ${reason}. ${remedy}`
}

/** Token Status List § 8.3. */
export function findTokenFault(token: Token, uri: string, now: number): string | undefined {
  if (token.uri !== uri) return "The issuer's status list is made for another address, so the credential may be revoked."
  if (token.expiresAt !== undefined && token.expiresAt <= now) return "The issuer's status list has expired. Try again later."
  if (token.countsFrom > now + CLOCK_SKEW_MS)
    return "The issuer's status list is dated in the future: check the clock of this server."
  return undefined
}

/** Limited on both sides, and never after the expiry of the list. */
export function keptUntil({ ttlMs = KEPT_MS_DEFAULT, expiresAt = Number.POSITIVE_INFINITY }: Token, now: number): number {
  return Math.min(expiresAt, now + Math.min(Math.max(ttlMs, KEPT_MS_MIN), KEPT_MS_MAX))
}
