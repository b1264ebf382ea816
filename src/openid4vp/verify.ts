// Read this first: the judgement of a wallet's presentations, in the order of its checks. Invalid input never throws: every check
// records a finding, and the outcome is derived from the findings alone.
import { sha256Hex } from '../hash.ts'
import type { AnchorIndex } from './anchor-index.ts'
import { CertificateDigests } from './certificate-digest.ts'
import type { Expected, ReadCredential } from './credential.ts'
import type { CrlChecker } from './crl-check.ts'
import type { DcqlQuery } from './dcql.ts'
import { answeringIds, checkAgainstQuery, requestedClaims } from './dcql-match.ts'
import { FAILURES, type Failure, Findings, type RecordedFinding } from './finding.ts'
import { MdocReader } from './mdoc.ts'
import { mergeClaims, repeatedNames } from './merge-claims.ts'
import type { Presented } from './response.ts'
import { findBrokenRules, type Rule } from './rules.ts'
import { SdJwtReader } from './sd-jwt.ts'
import { SignerCertificates } from './signer-certificate.ts'
import type { StatusChecker } from './status-list.ts'
import { crlPolicyOf, IssuerTrust, type TrustAnchor } from './trust.ts'

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
  findings: readonly RecordedFinding[]
}

export type Verdict = { credentials: JudgedCredential[] } & (
  | { status: 'completed'; claims: Record<string, unknown> }
  | { status: 'failed'; failure: Failure }
)

export type Verifier = { verify(judgement: Judgement): Promise<Verdict> }

/** Owns the caches that outlive a presentation: certificates, headers and paths of issuers. */
export function createVerifier(): Verifier {
  const digests = new CertificateDigests()
  const signers = new SignerCertificates(digests)
  const readers = { 'dc+sd-jwt': new SdJwtReader(signers), mso_mdoc: new MdocReader(signers) }
  const parts = { readers, trust: new IssuerTrust(digests) }
  return { verify: judgement => verifyPresentations(parts, judgement) }
}

type Parts = { readers: { 'dc+sd-jwt': SdJwtReader; mso_mdoc: MdocReader }; trust: IssuerTrust }

async function verifyPresentations(parts: Parts, judgement: Judgement): Promise<Verdict> {
  const { query, presentations, rules, ageOver } = judgement
  const judgedAlone = await Promise.all(presentations.map(presented => judgeCredential(parts, judgement, presented)))
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
  const broken = findBrokenRules(rules, claims, each, judgement.expected.now)
  if (broken.length > 0)
    return { status: 'failed', failure: 'claim_not_satisfied', credentials: kept.map(withBrokenRules(broken, judgement.now())) }
  if (ageOver === undefined) return { status: 'completed', claims, credentials: kept }
  const { birthdate: _, ...rest } = claims
  return { status: 'completed', claims: { ...rest, [`age_over_${ageOver}`]: true }, credentials: kept }
}

/**
 * `multiple` asks for several credentials (OpenID4VP 1.0 § 6.1), and one that comes twice is not two. A warning only: copies that
 * the issuer signed separately cannot be told from those of other people, so a shop that counts has to compare the claims anyway.
 */
function withRepetitions(credentials: JudgedCredential[], at: number): JudgedCredential[] {
  if (credentials.length < 2) return credentials
  const seen = new Set<string>()
  return credentials.map(credential => {
    const { id, signed, findings } = credential
    const isNew = signed === undefined || seen.size < seen.add(`${id} ${sha256Hex(signed)}`).size
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

async function judgeCredential(
  { readers, trust }: Parts,
  { expected, anchors, environment, status, crls, now }: Judgement,
  { query, presentation }: Presented,
): Promise<JudgedCredential> {
  const findings = new Findings(now)
  const holderBindingRequired = query.require_cryptographic_holder_binding ?? true

  // Form, issuer signature, digests, validity, and the holder's proof of possession for this session.
  const credential = await readers[query.format].read(findings, presentation, expected, holderBindingRequired)
  if (!credential) return judged(query.id, query.format, findings)

  const { chain, type, format } = credential
  const toTrust = { chain, type, anchors, environment, now: expected.now, steadyNow: now() }
  const { issuer, anchor, path } = trust.check(findings, toTrust, format)

  checkIssuingPlace(findings, credential, issuer.country, path[0]?.subjectAttributes.state)

  // Status is checked for otherwise valid credentials only: the issuer chose the addresses that are fetched (TSL § 8.3).
  if (anchor && findings.failures.length === 0) await crls.check(findings, path, crlPolicyOf(anchor, credential.type))
  if (findings.failures.length === 0) {
    await status.check(findings, credential.status, { format, anchors, environment, anchor, path, crls, type })
  }

  checkAgainstQuery(findings, query, credential, path)
  const shown = { ...credential, claims: requestedClaims(query, credential.claims) }
  return judged(query.id, query.format, findings, shown, { issuer, anchor })
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

function judged(
  id: string,
  format: JudgedCredential['format'],
  findings: Findings,
  credential?: ReadCredential,
  { issuer, anchor }: Pick<JudgedCredential, 'issuer'> & { anchor?: TrustAnchor | undefined } = { issuer: {} },
): JudgedCredential {
  const signatureValid = findings.holds('issuer_signature') && findings.holds('digests')
  const holderBindingValid = findings.holds('holder_binding')
  // Anybody can copy a chain: it proves nothing without a valid signature.
  const trusted = signatureValid && findings.holds('issuer_chain')
  const isProven = trusted && holderBindingValid
  return {
    id,
    format,
    type: credential?.type ?? '',
    claims: isProven && credential ? credential.claims : {},
    issuer,
    trusted,
    signatureValid,
    holderBindingValid,
    ...(trusted && anchor && { anchor }),
    ...(credential && { signed: credential.signed }),
    findings: findings.all,
  }
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
