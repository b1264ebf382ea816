// Read this first: the judgement of a wallet's presentations, in the order of its checks. Invalid input never throws: every check
// records a finding, and the outcome is derived from the findings alone.
import { sha256Hex } from '../base/hash.ts'
import type { Expected, ReadCredential } from './credential.ts'
import { answeringIds } from './dcql/credential-sets.ts'
import type { DcqlQuery } from './dcql/dcql.ts'
import { checkAgainstQuery, Matching, type PresentationMatch } from './dcql/match.ts'
import type { Presented } from './exchange/response.ts'
import { FAILURES, type Failure, Findings, type RecordedFinding } from './finding.ts'
import { MdocReader } from './mdoc/mdoc.ts'
import { mergeClaims, repeatedNames } from './merge-claims.ts'
import { findBrokenRules, type Rule } from './rules.ts'
import { SdJwtReader } from './sd-jwt/sd-jwt.ts'
import type { StatusChecker } from './status/list.ts'
import type { AnchorIndex } from './trust/anchor-index.ts'
import type { CrlChecker } from './trust/crl-check.ts'
import { SignerCertificates } from './trust/signer-certificate.ts'
import { crlPolicyOf, IssuerTrust, type Trust, type TrustAnchor } from './trust/trust.ts'
import type { NextTurn } from './turns.ts'
import { CertificateDigests } from './x509/certificate-digest.ts'

type Judgement = {
  query: DcqlQuery
  presentations: readonly Presented[]
  expected: Expected
  anchors: AnchorIndex
  environment: 'test' | 'live'
  status: StatusChecker
  crls: CrlChecker
  now: () => number
  /** Conditions on the merged claims. */
  rules: readonly Rule[]
  /** Age in years that a built-in template returns as its only answer, once its rules hold. */
  ageOver?: number
  /** Of an answer whose documents were already compared with the query. */
  matching?: Matching
}

export type JudgedCredential = {
  /** The id of the credential query that it answers. */
  id: string
  format: 'dc+sd-jwt' | 'mso_mdoc'
  type: string
  /** The requested claims only, under their own names; empty unless signature, trust and holder binding hold. */
  claims: Record<string, unknown>
  issuer: { common_name?: string; country?: string }
  trusted: boolean
  signatureValid: boolean
  holderBindingValid: boolean
  /** The anchor that it is trusted by. */
  anchor?: TrustAnchor
  /** As in ReadCredential; undefined if it could not be read. */
  signed?: string | Uint8Array
  /** As in ReadCredential. */
  proof?: 'mac'
  findings: readonly RecordedFinding[]
}

export type Verdict = { credentials: JudgedCredential[] } & (
  | { status: 'completed'; claims: Record<string, unknown> }
  | { status: 'failed'; failure: Failure }
)

export type Verifier = { verify(judgement: Judgement): Promise<Verdict> }

/** Owns the caches that outlive a presentation: certificates, headers and paths of issuers. */
export function createVerifier(nextTurn: NextTurn): Verifier {
  const digests = new CertificateDigests()
  const signers = new SignerCertificates(digests)
  const readers = { 'dc+sd-jwt': new SdJwtReader(signers), mso_mdoc: new MdocReader(signers) }
  const parts = { readers, trust: new IssuerTrust(digests), nextTurn }
  return { verify: judgement => verifyPresentations(parts, judgement) }
}

type Parts = { readers: { 'dc+sd-jwt': SdJwtReader; mso_mdoc: MdocReader }; trust: IssuerTrust; nextTurn: NextTurn }

async function verifyPresentations(parts: Parts, judgement: Judgement): Promise<Verdict> {
  const { query, rules, ageOver } = judgement
  const judgedAlone = await judgeAll(parts, judgement)
  const credentials = withRepetitions(judgedAlone, judgement.now())
  // A birth date that was requested only to prove the age is not passed on, whatever the outcome.
  const withoutProofOfAge = (all: JudgedCredential[]) => (ageOver === undefined ? all : all.map(dropBirthdate))

  // Every presented credential has to be valid, also those that are not needed.
  const failure = firstFailure(credentials)
  const answering = answeringIds(query, new Set(credentials.map(({ id }) => id)))
  if (failure || !answering)
    return { status: 'failed', failure: failure ?? 'query_not_satisfied', credentials: withoutProofOfAge(credentials) }
  const merged = inQueryOrder(
    query,
    credentials.filter(({ id }) => answering.has(id)),
  )
  const claims = mergeClaims(merged)
  const kept = withoutProofOfAge(withRepeatedClaims(credentials, merged, judgement.now()))
  // A single credential equals the merged claims.
  const each = credentials.length > 1 ? credentials.map(credential => mergeClaims([credential])) : []
  const broken = await findBrokenRules(rules, claims, each, judgement.expected.now, parts.nextTurn)
  if (broken.length > 0)
    return { status: 'failed', failure: 'claim_not_satisfied', credentials: kept.map(withBrokenRules(broken, judgement.now())) }
  if (ageOver === undefined) return { status: 'completed', claims, credentials: kept }
  const { birthdate: _, ...rest } = claims
  return { status: 'completed', claims: { ...rest, [`age_over_${ageOver}`]: true }, credentials: kept }
}

/** So much is read at once. */
const TOGETHER_CHARS_MAX = 64 * 1024
/** What a large presentation may take: of several answers that arrive together, one goes on in each turn. */
const LARGE_MS = 5

/** Together, since their signatures are verified on other threads. Large ones begin in turn with other requests. */
async function judgeAll(parts: Parts, judgement: Judgement): Promise<JudgedCredential[]> {
  const { presentations, matching = new Matching(parts.nextTurn) } = judgement
  const readings = new Readings(parts, judgement, matching)
  const judge = (presented: Presented) => judgeCredential(readings, presented)
  if (presentations.reduce((sum, { presentation }) => sum + presentation.length, 0) <= TOGETHER_CHARS_MAX)
    return await Promise.all(presentations.map(judge))
  // One begins after the other, but they wait for the network together.
  let turn = parts.nextTurn(LARGE_MS)
  return await Promise.all(
    presentations.map(presented => {
      const judged = turn.then(() => judge(presented))
      turn = turn.then(() => parts.nextTurn(LARGE_MS))
      return judged
    }),
  )
}

/**
 * `multiple` asks for several credentials (OpenID4VP 1.0 § 6.1), and one that comes twice is not two. A warning only: copies that
 * the issuer signed separately cannot be told from those of other people, so a shop that counts has to compare the claims anyway.
 */
function withRepetitions(credentials: JudgedCredential[], at: number): JudgedCredential[] {
  if (credentials.length < 2) return credentials
  const seen = new Set<string>()
  const digests = new Map<string | Uint8Array, string>()
  const digestOf = (signed: string | Uint8Array) => {
    const digest = digests.get(signed) ?? sha256Hex(signed)
    digests.set(signed, digest)
    return digest
  }
  return credentials.map(credential => {
    const { id, signed, findings } = credential
    const isNew = signed === undefined || seen.size < seen.add(`${id} ${digestOf(signed)}`).size
    if (isNew) return credential
    const detail = 'The same document was presented more than once for one part of the query.'
    return { ...credential, findings: [...findings, { check: 'query', status: 'warning', detail, at }] }
  })
}

/**
 * Claims take precedence in the order of the query, not of the answer. Nothing is taken from a
 * query with `multiple`: its credentials may belong to several people.
 */
function inQueryOrder({ credentials: asked }: DcqlQuery, credentials: readonly JudgedCredential[]): JudgedCredential[] {
  return asked.flatMap(({ id, multiple }) => (multiple ? [] : credentials.filter(credential => credential.id === id)))
}

/** Adds a warning to each credential with a claim that was taken from an earlier one. */
function withRepeatedClaims(
  credentials: JudgedCredential[],
  merged: readonly JudgedCredential[],
  at: number,
): JudgedCredential[] {
  if (merged.length < 2) return credentials
  const repeated = new Map(repeatedNames(merged).map((names, index) => [merged[index], names]))
  return credentials.map(credential => {
    const names = repeated.get(credential) ?? []
    if (names.length === 0) return credential
    const detail = `Another document, which the query names earlier, has these claims as well, and they are taken from that one: ${names.join(', ')}.`
    return { ...credential, findings: [...credential.findings, { check: 'merge', status: 'warning', detail, at }] }
  })
}

type Reading = { findings: Findings; trust: Trust; credential?: ReadCredential; match?: PresentationMatch }

/** One presentation may answer several queries, and is read once. */
class Readings {
  private readonly known = new Map<string, Map<string, Promise<Reading>>>()

  constructor(
    private readonly parts: Parts,
    private readonly judgement: Judgement,
    private readonly matching: Matching,
  ) {}

  of({ query, presentation }: Presented): Promise<Reading> {
    if (this.judgement.presentations.length === 1) return this.read({ query, presentation })
    const kind = `${query.format} ${query.require_cryptographic_holder_binding}`
    const ofKind = this.known.get(kind) ?? new Map<string, Promise<Reading>>()
    this.known.set(kind, ofKind)
    const reading = ofKind.get(presentation) ?? this.read({ query, presentation })
    ofKind.set(presentation, reading)
    return reading
  }

  /** All but the query. */
  private async read({ query, presentation }: Presented): Promise<Reading> {
    const { expected, anchors, environment, status, crls, now } = this.judgement
    const findings = new Findings(now)
    const holderBindingRequired = query.require_cryptographic_holder_binding ?? true

    // Form, issuer signature, digests, validity, and the holder's proof of possession for this session.
    const reader = this.parts.readers[query.format]
    const credential = await reader.read(findings, presentation, expected, holderBindingRequired)
    if (!credential) return { findings, trust: { issuer: {}, anchor: undefined, path: [] } }

    const { chain, type, format } = credential
    const toTrust = { chain, type, anchors, environment, now: expected.now, steadyNow: now() }
    const trust = this.parts.trust.check(findings, toTrust, format)
    const { issuer, anchor, path } = trust

    checkIssuingPlace(findings, credential, issuer.country, path[0]?.subjectAttributes.state)

    // Status is checked for otherwise valid credentials only: the issuer chose the addresses that are fetched (TSL § 8.3).
    const session = expected.nonce
    if (anchor && findings.failures.length === 0)
      await crls.check(findings, path, crlPolicyOf(anchor, credential.type), { session })
    if (findings.failures.length === 0) {
      await status.check(findings, credential.status, { format, anchors, environment, anchor, path, crls, type, session })
    }
    return { findings, trust, credential, match: this.matching.of(credential) }
  }
}

async function judgeCredential(readings: Readings, presented: Presented): Promise<JudgedCredential> {
  const { query } = presented
  const { findings: shared, trust, credential, match } = await readings.of(presented)
  const findings = shared.copy()
  const proof = proofOf(findings)
  // Anybody can send the rest, with any claims: it is not worth the comparison.
  const isProven = proof.trusted && proof.holderBindingValid
  const claims = isProven && match ? await checkAgainstQuery(findings, query, match, trust.path) : {}
  return {
    id: query.id,
    format: query.format,
    type: credential?.type ?? '',
    claims,
    issuer: trust.issuer,
    ...proof,
    ...(proof.trusted && trust.anchor && { anchor: trust.anchor }),
    ...(credential && { signed: credential.signed, proof: credential.proof }),
    findings: findings.all,
  }
}

function proofOf(findings: Findings): Pick<JudgedCredential, 'trusted' | 'signatureValid' | 'holderBindingValid'> {
  const signatureValid = findings.holds('issuer_signature') && findings.holds('digests')
  return {
    // Anybody can copy a chain: it proves nothing without a valid signature.
    trusted: signatureValid && findings.holds('issuer_chain'),
    signatureValid,
    holderBindingValid: findings.holds('holder_binding'),
  }
}

const MDL = { type: 'org.iso.18013.5.1.mDL', namespace: 'org.iso.18013.5.1' }

/**
 * A driving licence must name the country and the state of its signer (ISO/IEC 18013-5 § 9.3.1).
 * Other types have no such rule.
 */
function checkIssuingPlace(
  findings: Findings,
  { type, claims }: ReadCredential,
  country: string | undefined,
  state: string | undefined,
): void {
  if (type !== MDL.type) return
  const { issuing_country, issuing_jurisdiction } = (claims[MDL.namespace] ?? {}) as Record<string, unknown>
  const differ = (stated: unknown, certified: string | undefined) => stated !== undefined && stated !== certified
  if (differ(issuing_country, country))
    findings.fail('issuer_chain', 'issuer_untrusted', 'The licence names another country than the certificate of its issuer.')
  // The state is optional in certificates.
  if (state !== undefined && differ(issuing_jurisdiction, state))
    findings.fail('issuer_chain', 'issuer_untrusted', 'The licence names another state than the certificate of its issuer.')
}

/** The first reason of any credential, in the order of FAILURES. A check that was never made is a reason too. */
function firstFailure(credentials: readonly JudgedCredential[]): Failure | undefined {
  const failures = new Set<Failure>()
  for (const { findings, signatureValid, holderBindingValid, trusted } of credentials) {
    for (const { failure } of findings) if (failure) failures.add(failure)
    if (!signatureValid) failures.add('signature_invalid')
    if (!holderBindingValid) failures.add('holder_binding_invalid')
    if (!trusted) failures.add('issuer_untrusted')
  }
  return FAILURES.find(failure => failures.has(failure))
}

const withBrokenRules =
  (details: readonly string[], at: number) =>
  (credential: JudgedCredential): JudgedCredential => {
    const failed = { check: 'rule', status: 'fail', at, failure: 'claim_not_satisfied' } as const
    return { ...credential, findings: [...credential.findings, ...details.map(detail => ({ ...failed, detail }))] }
  }

function dropBirthdate(credential: JudgedCredential): JudgedCredential {
  if (credential.format === 'dc+sd-jwt') {
    const { birthdate: _, ...claims } = credential.claims
    return { ...credential, claims }
  }
  const namespaces = Object.entries(credential.claims).map(([namespace, elements]) => {
    const { birth_date: __, ...rest } = elements as Record<string, unknown>
    return [namespace, rest]
  })
  return { ...credential, claims: Object.fromEntries(namespaces) }
}
