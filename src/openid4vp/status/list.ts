// Checks whether the issuer revoked or suspended the credential. Whole lists are fetched and kept,
// so that the issuer does not learn the index (Token Status List § 12). Fails closed: if the status
// cannot be determined, it is `status_unknown`, which is neither "valid" nor "revoked".

import { Lru } from '../../base/lru.ts'
import { CLOCK_SKEW_MS, type StatusReference } from '../credential.ts'
import type { Findings } from '../finding.ts'
import type { AnchorIndex } from '../trust/anchor-index.ts'
import type { CrlChecker } from '../trust/crl-check.ts'
import { crlPolicyOf, IssuerTrust, type TrustAnchor } from '../trust/trust.ts'
import { isSame } from '../x509/certification-path.ts'
import type { Certificate } from '../x509/x509.ts'
import { statusAt } from './bits.ts'
import { readStatusCwt, readStatusJwt, StatusFault, type StatusToken } from './token.ts'

/**
 * The caller guards the destination, follows redirects, and limits time and size
 * (STATUS_BODY_BYTES_MAX). `reason` is a clause for the merchant, such as "it did not answer within
 * 5 seconds"; `remedy` is a sentence that replaces "Try again later."
 */
export type FetchStatus = (
  uri: string,
  accept: string,
  isLocal: boolean,
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
  check(findings: Findings, reference: StatusReference | 'unsupported' | undefined, context: StatusContext): Promise<void>
  /** Addresses of the lists that were used lately. */
  known(): string[]
}

type StatusOptions = {
  /** True for the service's own lists, which use plain http in development. */
  allowHttp?: (uri: string) => boolean
  /** True for a list of a developer's test wallet on this machine: it is read, over http too, with a warning. */
  isLocal?: (uri: string, environment: StatusContext['environment']) => boolean
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
// SD-JWT VC draft 13 § 3.2.2.2 allows the JWT form only; mdocs use both.
const ACCEPT = { 'dc+sd-jwt': JWT_TYPE, mso_mdoc: `${CWT_TYPE}, ${JWT_TYPE};q=0.9` }

const LIST = "its issuer's status list"
const RISK = 'so it may be revoked'
const LOCAL = 'The status list was read from this machine. That happens in test sessions under "vidimus serve --dev" only.'

const VALID = 0
const INVALID = 1
const SUSPENDED = 2

/** Local lists have keys of their own: a live session must not use one. */
type Place = { uri: string; format: StatusContext['format']; isLocal: boolean }

const keyOf = ({ uri, format, isLocal }: Place): string => `${format}${isLocal ? '+local' : ''} ${uri}`

type Fetched = { until: number; token: StatusToken } | { until: number; fault: string }

export function createStatusChecker(fetchStatus: FetchStatus, now: () => number, options: StatusOptions = {}): StatusChecker {
  const lists = new StatusLists(fetchStatus, now)
  const trust = new IssuerTrust()

  return {
    async check(findings, reference, context) {
      if (reference === undefined) return findings.pass('status')
      const unknown = (detail: string) => findings.fail('status', 'status_unknown', detail)
      if (reference === 'unsupported') {
        return unknown('The credential can be revoked in a way that cannot be checked here, so it may be revoked.')
      }
      // Only trusted issuers can make the service fetch an address.
      if (!context.anchor) return findings.skip('status', 'Not checked, because the issuer is not trusted.')
      const isLocal = options.isLocal?.(reference.uri, context.environment) === true
      if (!isLocal && !isFetchable(reference.uri, options)) {
        return unknown("The issuer's status list is not at an https address, so the credential may be revoked.")
      }

      const place = { uri: reference.uri, format: context.format, isLocal }
      const fetched = await lists.get(place)
      if ('fault' in fetched) return unknown(fetched.fault)
      const { type, anchors, environment } = context
      const { chain } = fetched.token
      const toTrust = { chain, type, anchors, environment, now: now(), steadyNow: now(), own: context.anchor }
      const verdict = trust.judge(toTrust, 'status')
      if (!verdict.ok) {
        lists.expireSoon(place)
        return unknown(verdict.detail)
      }
      if (!isSamePath(verdict.path, context.path)) {
        await context.crls.check(findings, verdict.path, crlPolicyOf(verdict.anchor, type), 'status')
        if (findings.failures.length > 0) return lists.expireSoon(place)
      }
      if (isLocal) findings.warn('status', LOCAL)
      judgeStatus(findings, statusAt(fetched.token.list, reference.index))
    },
    known: () => lists.known(),
  }
}

function isFetchable(uri: string, { allowHttp }: StatusOptions): boolean {
  const protocol = URL.parse(uri)?.protocol
  return protocol === 'https:' || (protocol === 'http:' && allowHttp?.(uri) === true)
}

const isSamePath = (path: readonly Certificate[], other: readonly Certificate[]): boolean =>
  path.length === other.length && path.every(({ der }, index) => isSame(der, other[index]!.der))

// Token Status List § 7.1: other values are reserved or specific to the issuer.
function judgeStatus(findings: Findings, status: number | undefined): void {
  if (status === VALID) findings.pass('status')
  else if (status === INVALID) findings.fail('status', 'credential_revoked', 'The issuer has revoked this credential.')
  else if (status === SUSPENDED)
    findings.fail('status', 'credential_revoked', 'The issuer has suspended this credential for now.')
  else if (status === undefined) findings.fail('status', 'status_unknown', `The credential is not on ${LIST}, ${RISK}.`)
  else findings.fail('status', 'status_unknown', `The issuer gives this credential a status without a known meaning, ${RISK}.`)
}

/** Kept as long as their issuers allow; one fetch at a time for each. */
class StatusLists {
  private readonly kept = new Lru<Fetched>({
    countMax: LISTS_MAX,
    weightMax: LISTS_BYTES_MAX,
    weigh: fetched => ('token' in fetched ? fetched.token.list.bytes.length : 0),
  })
  private readonly underWay = new Map<string, Promise<Fetched>>()

  constructor(
    private readonly fetchStatus: FetchStatus,
    private readonly now: () => number,
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

  private async fetch({ uri, format, isLocal }: Place): Promise<Fetched> {
    try {
      const token = await readBody(await this.fetchStatus(uri, ACCEPT[format], isLocal), format)
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

async function readBody(answer: Awaited<ReturnType<FetchStatus>>, format: StatusContext['format']): Promise<StatusToken> {
  if (!answer.ok) throw new StatusFault(unreachable(answer.reason, answer.remedy))
  if (answer.body.length > STATUS_BODY_BYTES_MAX) throw new StatusFault(unreachable('it is too large'))
  const type = answer.contentType.split(';', 1)[0]?.trim().toLowerCase()
  if (type === JWT_TYPE) return readStatusJwt(Buffer.from(answer.body).toString('latin1').trim())
  if (type === CWT_TYPE && format === 'mso_mdoc') return readStatusCwt(answer.body)
  throw new StatusFault("What is at the address of the issuer's status list is not one, so the credential may be revoked.")
}

function unreachable(reason: string, remedy = 'Try again later.'): string {
  return `The issuer's status list could not be fetched: ${reason}. ${remedy}`
}

/** Token Status List § 8.3. */
export function findTokenFault(token: StatusToken, uri: string, now: number): string | undefined {
  if (token.uri !== uri) return "The issuer's status list is made for another address, so the credential may be revoked."
  if (token.expiresAt !== undefined && token.expiresAt <= now) return "The issuer's status list has expired. Try again later."
  if (token.countsFrom > now + CLOCK_SKEW_MS)
    return "The issuer's status list is dated in the future: check the clock of this server."
  return undefined
}

/** Limited on both sides, and never after the expiry of the list. */
export function keptUntil({ ttlMs = KEPT_MS_DEFAULT, expiresAt = Number.POSITIVE_INFINITY }: StatusToken, now: number): number {
  return Math.min(expiresAt, now + Math.min(Math.max(ttlMs, KEPT_MS_MIN), KEPT_MS_MAX))
}
