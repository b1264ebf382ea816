// Read this first: the whole judgement of a wallet's presentations, in the order of its checks. It never throws for what a wallet sent; every
// check leaves a finding, and the outcome is derived from the findings alone.
import type { Expected, ReadCredential } from './credential.ts'
import type { CrlChecker } from './crl-check.ts'
import type { DcqlQuery } from './dcql.ts'
import { answeringIds, checkAgainstQuery, requestedClaims } from './dcql-match.ts'
import { FAILURES, type Failure, Findings, type RecordedFinding } from './finding.ts'
import { readMdoc } from './mdoc.ts'
import { decideAge, mergeClaims } from './merge-claims.ts'
import type { Presented } from './response.ts'
import { readSdJwt } from './sd-jwt.ts'
import type { StatusChecker } from './status-list.ts'
import { checkTrust, crlPolicyOf, type TrustAnchor } from './trust.ts'

export type Judgement = {
  query: DcqlQuery
  presentations: readonly Presented[]
  expected: Expected
  anchors: readonly TrustAnchor[]
  environment: 'test' | 'live'
  status: StatusChecker
  crls: CrlChecker
  now: () => number
  /** Years that the claims must prove; a built-in age template's rule. */
  ageOver?: number
}

export type JudgedCredential = {
  /** The id of the credential query it answers. */
  id: string
  format: 'dc+sd-jwt' | 'mso_mdoc'
  type: string
  /** Only what was asked for, under the credential's own names. */
  claims: Record<string, unknown>
  issuer: { common_name?: string; country?: string }
  trusted: boolean
  signatureValid: boolean
  holderBindingValid: boolean
  findings: readonly RecordedFinding[]
}

export type Verdict = { credentials: JudgedCredential[] } & (
  | { status: 'completed'; claims: Record<string, unknown> }
  | { status: 'failed'; failure: Failure }
)

export async function verifyPresentations(judgement: Judgement): Promise<Verdict> {
  const { query, presentations, ageOver } = judgement
  const credentials = await Promise.all(presentations.map(presented => judgeCredential(judgement, presented)))
  // A birth date that was asked for only to tell the age is not handed on, whatever the outcome.
  const kept = ageOver === undefined ? credentials : credentials.map(dropBirthdate)

  // Every presented credential has to be good, also those that are not needed.
  const failure = firstFailure(credentials)
  const answering = answeringIds(query, new Set(credentials.map(({ id }) => id)))
  if (failure || !answering) return { status: 'failed', failure: failure ?? 'query_not_satisfied', credentials: kept }
  const claims = mergeClaims(credentials.filter(({ id }) => answering.has(id)))
  if (ageOver === undefined) return { status: 'completed', claims, credentials: kept }
  const { birthdate: _, ...rest } = claims
  const problem = findAgeProblem(judgement, ageOver, claims, credentials)
  if (problem === undefined) return { status: 'completed', claims: { ...rest, [`age_over_${ageOver}`]: true }, credentials: kept }
  return { status: 'failed', failure: 'claim_not_satisfied', credentials: kept.map(withFinding(problem, judgement.now())) }
}

async function judgeCredential(
  { expected, anchors, environment, status, crls, now }: Judgement,
  { query, presentation }: Presented,
): Promise<JudgedCredential> {
  const findings = new Findings(now)
  const holderBindingRequired = query.require_cryptographic_holder_binding ?? true

  // Form, issuer's signature, digests, validity, and the holder's proof of possession for this very session.
  const read = query.format === 'dc+sd-jwt' ? readSdJwt : readMdoc
  const credential = await read(findings, presentation, expected, holderBindingRequired)
  if (!credential) return judged(query.id, query.format, findings)

  const { chain, type, format } = credential
  const { issuer, anchor, path } = checkTrust(findings, { chain, type, anchors, environment, now: expected.now }, format)

  checkIssuingPlace(findings, credential, issuer.country, path[0]?.subjectAttributes.state)

  // Only a credential that is otherwise good is looked up: lists are fetched from addresses that its issuer chose (TSL § 8.3).
  if (anchor && findings.failures.length === 0) await crls.check(findings, path, crlPolicyOf(anchor, credential.type))
  if (findings.failures.length === 0) {
    await status.check(findings, credential.status, { format, anchors, environment, anchor, type })
  }

  checkAgainstQuery(findings, query, credential)
  return judged(query.id, query.format, findings, { ...credential, claims: requestedClaims(query, credential.claims) }, issuer)
}

const MDL = { type: 'org.iso.18013.5.1.mDL', namespace: 'org.iso.18013.5.1' }

/** A driving licence is of the country, and of the state, whose authority signed it (ISO/IEC 18013-5 § 9.3.1). Others have no such rule. */
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
  // Not every certificate names one.
  if (state !== undefined && differ(issuing_jurisdiction, state))
    findings.fail('issuer_chain', 'issuer_untrusted', 'The licence names another state than the certificate of its issuer.')
}

function judged(
  id: string,
  format: JudgedCredential['format'],
  findings: Findings,
  credential?: ReadCredential,
  issuer: JudgedCredential['issuer'] = {},
): JudgedCredential {
  return {
    id,
    format,
    type: credential?.type ?? '',
    claims: credential?.claims ?? {},
    issuer,
    trusted: findings.holds('issuer_chain'),
    signatureValid: findings.holds('issuer_signature') && findings.holds('digests'),
    holderBindingValid: findings.holds('holder_binding'),
    findings: findings.all,
  }
}

/** The first reason that applies to any of the credentials, in the order of FAILURES; a check that was never made is a reason too. */
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

/** The age is decided here, not by the wallet. It must be proven by what answers the query, and denied by nothing that came. */
function findAgeProblem(
  { expected }: Judgement,
  years: number,
  claims: Record<string, unknown>,
  credentials: readonly JudgedCredential[],
): string | undefined {
  // One alone has said it all already.
  const others = credentials.length > 1 ? credentials.map(credential => mergeClaims([credential])) : []
  const decisions = [claims, ...others].map(each => decideAge(each, years, expected.now))
  if (decisions.some(decision => decision?.isOddlyTyped)) return `age_over_${years} is not a boolean, so it proves nothing.`
  if (decisions[0]?.over && decisions.every(decision => decision?.over !== false)) return undefined
  return `The holder is not shown to be ${years} or over.`
}

const withFinding =
  (detail: string, at: number) =>
  (credential: JudgedCredential): JudgedCredential => {
    const finding = { check: 'claims', status: 'fail', detail, at, failure: 'claim_not_satisfied' } as const
    return { ...credential, findings: [...credential.findings, finding] }
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
