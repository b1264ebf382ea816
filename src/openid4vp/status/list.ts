// Checks whether the issuer revoked or suspended the credential. Whole lists are fetched and kept,
// so that the issuer does not learn which entry is looked up (Token Status List § 12). Fails closed:
// if the status cannot be determined, it is `status_unknown`, which is neither "valid" nor "revoked".

import { minuteOf, staleListDetail } from '../../base/stale-list.ts'
import { CERTIFICATE_BYTES_MAX, type ReadCredential, type StatusReference } from '../credential.ts'
import { Findings } from '../finding.ts'
import type { AnchorIndex } from '../trust/anchor-index.ts'
import type { CrlChecker } from '../trust/crl-check.ts'
import { DRIVING_LICENCE } from '../trust/judged-chain.ts'
import { asOf, type Found, type ListBytes, ListCache, type Shelf } from '../trust/list-cache.ts'
import { crlPolicyOf, IssuerTrust, type TrustAnchor } from '../trust/trust.ts'
import { isSame } from '../x509/certification-path.ts'
import { type Certificate, describeCertificate } from '../x509/x509.ts'
import { statusAt } from './bits.ts'
import { hasIdentifier } from './identifier-list.ts'
import { type FetchStatus, type ReadIdentifiers, readAnswer, readKept, type Token, unreachable, WANTED } from './read-list.ts'
import { StatusFault } from './token.ts'

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
  /** Tells one session from another. */
  session: string
}

export type StatusChecker = {
  check(findings: Findings, references: ReadCredential['status'], context: StatusContext): Promise<void>
  /** Addresses of the lists that were used lately. */
  known(): string[]
  /** Age of the oldest list that was used lately. */
  oldestMs(): number
}

type StatusOptions = {
  /** True for the service's own lists, which use plain http in development. */
  allowHttp?: (uri: string) => boolean
  /** True for a list of a developer's test wallet on this machine: it is read, over http too, with a warning. */
  isLocal?: (uri: string, environment: StatusContext['environment']) => boolean
  /** Reads large lists of identifiers in a thread. */
  readIdentifiers?: ReadIdentifiers
  shelf?: Shelf
  /** How old a list may be that counts where no newer one can be had. */
  maxAgeMs?: number
  onStale?: (list: ListBytes) => void
}

const HOUR_MS = 3_600_000

const LISTS_MAX = 200
const LISTS_BYTES_MAX = 64 * 1024 * 1024

const LIST = "its issuer's status list"
const RISK = 'so it may be revoked'
const OTHER_SIGNER =
  "The issuer's status list is not signed below the certificate that the document names for it, so the credential may be revoked."
const UNREADABLE_SIGNER =
  'The certificate that the document names for its status list cannot be read, so the credential may be revoked.'
const NOT_ONE_BIT = "The issuer's status list has more than one bit for each licence, which ISO/IEC 18013-5 does not allow."
const ODDLY_TYPED =
  'The type of the issuer\'s status list is not written "application/statuslist+cwt", which other readers may refuse.'
const LOCAL = 'The status list was read from this machine. That happens in test sessions under "vidimus serve --dev" only.'

const VALID = 0
const INVALID = 1
const SUSPENDED = 2

/** Local lists have keys of their own: a live session must not use one. */
type Place = { uri: string; wanted: keyof typeof WANTED; isLocal: boolean }

const keyOf = ({ uri, wanted, isLocal }: Place): string => `${wanted}${isLocal ? '+local' : ''} ${uri}`

export function createStatusChecker(fetchStatus: FetchStatus, now: () => number, options: StatusOptions = {}): StatusChecker {
  const { shelf, maxAgeMs = 0, readIdentifiers } = options
  const trust = new IssuerTrust()
  const lists = new ListCache<Token>({
    now,
    countMax: LISTS_MAX,
    weightMax: LISTS_BYTES_MAX,
    weigh: ({ list }) => ('bits' in list ? list.bytes : list.digests).length,
    isFault: error => error instanceof StatusFault,
    faultOf: reason => new StatusFault(unreachable(reason)),
  })

  async function listAt(place: Place): Promise<Found<Token>> {
    const { uri, wanted, isLocal } = place
    return await lists.get(keyOf(place), {
      async stored() {
        const list = isLocal ? undefined : await shelf?.find(uri, WANTED[wanted].media)
        // One that has ended, or counts no more for another reason, is as good as none.
        return list && (await readKept(list, { uri, now: now(), readIdentifiers }).catch(() => undefined))
      },
      async fetch() {
        const answer = await fetchStatus(uri, { ...WANTED[wanted], isLocal })
        return await readAnswer(answer, WANTED[wanted], { uri, now: now(), readIdentifiers })
      },
    })
  }

  async function checkOne(findings: Findings, reference: StatusReference, context: Trusted): Promise<void> {
    const { uri } = reference
    const unknown = (detail: string) => failUnknown(findings, detail)
    const isLocal = options.isLocal?.(uri, context.environment) === true
    if (!isLocal && !isFetchable(uri, options)) {
      return unknown("The issuer's status list is not at an https address, so the credential may be revoked.")
    }

    const place: Place = { uri, wanted: 'id' in reference ? 'identifiers' : context.format, isLocal }
    const found = await listAt(place).catch((fault: StatusFault) => fault)
    if (found instanceof StatusFault) return unknown(found.message)
    const { list, parsed: token, fault } = found
    const refused = (detail: string) => {
      lists.reject(keyOf(place))
      unknown(detail)
    }
    const signer = signerOf(reference, context)
    if (!signer) return refused(UNREADABLE_SIGNER)
    const { type, environment, path, crls, session } = context
    const verdict = trust.judge({ chain: token.chain, type, environment, now: now(), steadyNow: now(), ...signer }, 'status')
    if (!verdict.ok) return refused(reference.certificate ? OTHER_SIGNER : verdict.detail)
    if (!isSamePath(verdict.path, path)) {
      await crls.check(findings, verdict.path, crlPolicyOf(verdict.anchor, type), { signer: 'status', session })
      if (findings.failures.length > 0) return lists.reject(keyOf(place))
    }
    if (isLocal) findings.warn('status', LOCAL)
    else await shelf?.use(list, session)
    const status = statusIn(token, reference)
    const isOld = fault !== undefined && now() - asOf(list) > maxAgeMs
    // What was revoked stays so (ISO/IEC 18013-5, second edition, § 12.3.6.1).
    if (status !== INVALID && fault && (isOld || maxAgeMs === 0)) return unknown(tooOld(list, maxAgeMs, fault))
    if (fault && !isOld) {
      options.onStale?.(list)
      findings.warn('status', staleListDetail(asOf(list)), {
        asOf: asOf(list),
        from: list.from,
      })
    }
    if ('bits' in token.list && token.list.bits !== 1 && type === DRIVING_LICENCE) findings.warn('status', NOT_ONE_BIT)
    if ('isOddlyTyped' in token && token.isOddlyTyped) findings.warn('status', ODDLY_TYPED)
    judgeStatus(findings, status)
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
    known: () => lists.keys().map(key => key.slice(key.indexOf(' ') + 1)),
    oldestMs: () => lists.oldestMs(),
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

function tooOld(list: ListBytes, maxAgeMs: number, { message }: Error): string {
  if (maxAgeMs === 0) return message
  return `The issuer's list could not be fetched, and the one of ${minuteOf(asOf(list))} is older than this service allows (${maxAgeMs / HOUR_MS} h).`
}

function statusIn({ list }: Token, reference: StatusReference): number | undefined {
  if ('index' in reference) return 'bits' in list ? statusAt(list, reference.index) : undefined
  // A list of another kind says nothing about an identifier.
  if (!('digests' in list)) return undefined
  return hasIdentifier(list, reference.id) ? INVALID : VALID
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
