// The steps of going live, each from facts. The sentences are on the page; commands are the same in every language.
import { X509Certificate } from 'node:crypto'
import type { Environment } from '../../access/scopes.ts'
import { sha256Hex } from '../../base/hash.ts'
import { isoUtc } from '../../base/time.ts'
import type { CheckName } from '../../doctor/check.ts'
import type { Found } from '../../doctor/examine.ts'
import { EXPIRY_WARNING_DAYS, lifeOf, type SigningState } from '../../signing/certificate.ts'
import type { DocumentKind, GoLive } from '../../tenants/go-live.ts'
import type { BlockRow } from '../../trust/blocks.ts'
import type { SourceView } from '../../trust/lists/source.ts'
import type { readAnchors } from '../../trust/settings.ts'
import { endOf, sourceState } from '../../trust/state.ts'
import { KINDS, needsOf } from './documents.ts'
import type { RegistrationFacts } from './registration.ts'
import { STEPS, type Step, type StepName } from './schema.ts'

/** A list's server may be away for hours. */
const FAILING_MS = 86_400_000
/** How many the sentence names. */
const CLAUSES_MAX = 5
const WARNING_MS = EXPIRY_WARNING_DAYS * 86_400_000

type Anchor = Awaited<ReturnType<typeof readAnchors>>[number]

export type Facts = GoLive & {
  tenantId: string
  publicUrl: string
  /** The public name leads to this machine only. */
  isLocal: boolean
  now: number
  /** Doctor's, of those that were made. */
  check: (name: CheckName) => Found
  /** Clauses of the EU profile that must hold, and do not. */
  failing: readonly string[]
  anchors: readonly Anchor[]
  sources: readonly SourceView[]
  blocks: readonly BlockRow[]
  templates: readonly { key: string; types: readonly string[] }[]
  /** Undefined before the first start. */
  signing: SigningState | undefined
  registration: RegistrationFacts
  /** Names of live keys and tills. */
  askers: readonly string[]
  /** Null keeps results until somebody erases them. */
  retentionDays: number | null
  retentionChosenAt: number | null
}

type Result = Pick<Step, 'state' | 'reason'> & Partial<Step>

const HOW: Record<StepName, (facts: Facts) => Result> = {
  address,
  identity,
  registration,
  issuers_test: facts => issuers(facts, 'test'),
  first_test: facts => firstSession(facts, 'test'),
  issuers_live: facts => issuers(facts, 'live'),
  eu_profile: euProfile,
  keys,
  first_live: facts => firstSession(facts, 'live'),
  renewals,
  retention,
}

export const stepsOf = (facts: Facts): Step[] =>
  STEPS.map(step => ({
    step,
    documents: [],
    names: [],
    at: null,
    finding: null,
    command: null,
    preset: null,
    ...HOW[step](facts),
  }))

function address({ publicUrl, isLocal, check }: Facts): Result {
  const command = 'vidimus doctor'
  const [url, tls] = [check('public_url'), check('tls')]
  const broken = [url, tls].find(({ status }) => status === 'problem')
  const state = broken ? 'problem' : 'to_do'
  if (isLocal) return { state, reason: 'address_local', names: [publicUrl], command }
  if (!publicUrl.startsWith('https:')) return { state, reason: 'address_plain', names: [publicUrl], command }
  // A private address is fine where customers are in the same network, so a warning about it is only shown.
  const unsound = broken ?? (tls.status === 'warning' ? tls : undefined)
  if (unsound) return { state, reason: 'address_unsound', names: [publicUrl], finding: sayable(unsound), command }
  return { state: 'done', reason: 'reached', names: [publicUrl], finding: url.status === 'ok' ? null : sayable(url) }
}

const sayable = ({ code, values }: Found) => ({ code, values })

/** The EU age app asks nobody for a certificate of an authority. */
function identity({ documents, signing, check, now }: Facts): Result {
  if (documents.every(kind => kind === 'eu_age')) return { state: 'not_needed', reason: 'identity_not_needed' }
  const request = 'vidimus signing csr --new-key'
  if (!signing || lifeOf(signing, now) === 'ended')
    return { state: 'problem', reason: 'identity_unsound', finding: sayable(check('signing_certificate')), command: request }
  const { authority, issuer, notAfter, next, pendingSince } = signing
  if (authority === null) return { state: 'done', reason: 'identity_valid', names: [issuer], at: isoUtc(notAfter) }
  if (next) return { state: 'waiting', reason: 'identity_scheduled', names: [next.issuer], at: isoUtc(next.startsAt) }
  if (pendingSince === null) return { state: 'to_do', reason: 'identity_self_made', command: request }
  const command = 'vidimus signing import --chain CHAIN.pem'
  return { state: 'waiting', reason: 'identity_requested', at: isoUtc(pendingSince), command }
}

/** Wallets of the EU show what a shop registered; the age app and driving licences know no such paper. */
function registration({ documents, registration: { state, beyond } }: Facts): Result {
  if (!documents.includes('eu_wallet')) return { state: 'not_needed', reason: 'registration_not_needed' }
  const command = 'vidimus registration add FILE'
  if (state === 'none') return { state: 'to_do', reason: 'registration_missing', command }
  if (state === 'unsound') return { state: 'problem', reason: 'registration_unsound', command }
  if (beyond.length > 0) return { state: 'to_do', reason: 'registration_beyond', names: beyond, command }
  return { state: 'done', reason: 'registered' }
}

function issuers(facts: Facts, environment: Environment): Result {
  const here = facts.anchors.filter(anchor => anchor.environment === environment && isUsable(anchor, facts))
  const ended = new Set(facts.sources.filter(source => sourceState(source, facts.now) === 'ended').map(({ id }) => id))
  const counting = here.filter(({ sourceId }) => sourceId === null || !ended.has(sourceId))
  const missing = needsOf(facts, counting).filter(({ isMet }) => !isMet)
  const [first] = missing
  if (!first) return { state: 'done', reason: 'issuers_named', documents: facts.documents }
  // Lists that have ended and would cover everything: a new issue of one of them is the remedy.
  const lapsed = facts.sources.filter(({ id }) => ended.has(id) && here.some(({ sourceId }) => sourceId === id))
  if (lapsed.length > 0 && needsOf(facts, here).every(({ isMet }) => isMet)) {
    const command = `vidimus trust source refresh ${lapsed[0]!.id}`
    return { state: 'problem', reason: 'issuers_ended', names: lapsed.map(({ label }) => label), command }
  }
  return {
    state: 'to_do',
    reason: 'issuers_missing',
    documents: [...new Set(missing.map(({ kind }) => kind))],
    command: addingCommand(first, environment),
    preset: KINDS[first.kind].presets[environment] ?? null,
  }
}

function isUsable({ environment, certificate, use }: Anchor, { blocks, now }: Facts): boolean {
  if (use !== null && use !== 'both' && use !== 'documents') return false
  const { validToDate, raw } = new X509Certificate(certificate)
  const digest = sha256Hex(raw)
  const isBlocked = blocks.some(block => block.environment === environment && block.fingerprint === digest)
  return !isBlocked && validToDate.getTime() > now
}

function addingCommand({ kind, type }: { kind: DocumentKind; type: string | undefined }, environment: Environment): string {
  const preset = KINDS[kind].presets[environment]
  if (preset !== undefined) return `vidimus trust source add --preset ${preset} --env ${environment}`
  return `vidimus trust add FILE.pem --env ${environment}${type === undefined ? '' : ` --for ${type}`}`
}

/** Judged by the bytes of the shop's own requests. */
function euProfile({ documents, failing, tenantId }: Facts): Result {
  if (!documents.includes('eu_wallet')) return { state: 'not_needed', reason: 'eu_profile_not_needed' }
  const command = `vidimus doctor --profile eu --tenant ${tenantId}`
  if (failing.length > 0) return { state: 'to_do', reason: 'eu_profile_failing', names: failing.slice(0, CLAUSES_MAX), command }
  return { state: 'done', reason: 'eu_profile_holds' }
}

function firstSession({ documents, firstTestAt, firstLiveAt, publicUrl }: Facts, environment: Environment): Result {
  const at = environment === 'test' ? firstTestAt : firstLiveAt
  if (at !== null) return { state: 'done', reason: environment === 'test' ? 'tested' : 'went_live', at: isoUtc(at) }
  const template = KINDS[documents[0] ?? 'other'].template
  return {
    state: 'to_do',
    reason: environment === 'test' ? 'not_tested' : 'not_live',
    documents,
    command: `curl ${publicUrl}/v1/verifications -H 'Authorization: Bearer vk_${environment}_…' -H 'Content-Type: application/json' -d '{"template":"${template}"}'`,
  }
}

function keys({ askers, tenantId }: Facts): Result {
  if (askers.length > 0) return { state: 'done', reason: 'may_ask', names: askers.slice(0, 3) }
  return { state: 'to_do', reason: 'no_key', command: `vidimus key create --tenant ${tenantId} --env live` }
}

/** Asked once: personal data must not stay for ever because nobody thought of it. */
function retention({ retentionDays, retentionChosenAt, tenantId }: Facts): Result {
  if (retentionDays !== null) return { state: 'done', reason: 'kept_days', names: [String(retentionDays)] }
  if (retentionChosenAt !== null) return { state: 'done', reason: 'kept_until_erased' }
  return { state: 'to_do', reason: 'retention_open', command: `vidimus tenant set ${tenantId} --retention-days 30` }
}

type Ending = { name: string; at: number }

/** Done while nothing ends within a month that the service does not renew itself. */
function renewals(facts: Facts): Result {
  const command = 'vidimus doctor'
  if (!facts.anchors.some(({ environment }) => environment === 'live')) return { state: 'waiting', reason: 'renewals_later' }
  const [first] = endingsOf(facts).toSorted((a, b) => a.at - b.at)
  const failing = facts.sources.find(
    ({ environment, failingSince }) => environment === 'live' && failingSince !== null && facts.now - failingSince >= FAILING_MS,
  )
  if (first && first.at < facts.now + WARNING_MS) {
    const hasEnded = first.at <= facts.now
    const [state, reason] = hasEnded ? (['problem', 'has_ended'] as const) : (['to_do', 'ends_soon'] as const)
    return { state, reason, names: [first.name], at: isoUtc(first.at), command }
  }
  if (failing) {
    const command = `vidimus trust source refresh ${failing.id}`
    return { state: 'problem', reason: 'list_failing', names: [failing.label], at: isoUtc(failing.failingSince!), command }
  }
  return { state: 'done', reason: 'renewals_fine', command }
}

/** A list with an address renews itself until its next issue is due. */
const endingsOf = ({ anchors, sources, signing, registration, now }: Facts): Ending[] => [
  ...anchors
    .filter(({ environment, sourceId }) => environment === 'live' && sourceId === null)
    .map(({ label, certificate }) => ({ name: label, at: new X509Certificate(certificate).validToDate.getTime() })),
  ...sources
    .filter(source => source.environment === 'live' && (source.location === null || sourceState(source, now) !== 'fresh'))
    .map(source => ({ name: source.label, at: endOf(source) })),
  ...(signing ? [{ name: signing.subject, at: signing.notAfter }] : []),
  ...(registration.ending ? [registration.ending] : []),
]
