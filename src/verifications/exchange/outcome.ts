import { isoUtc } from '../../base/time.ts'
import type { Failure } from '../../openid4vp/finding.ts'
import type { TrustAnchor } from '../../openid4vp/trust/trust.ts'
import type { JudgedCredential, Verdict } from '../../openid4vp/verify.ts'
import type { CredentialResult } from '../schema.ts'
import type { TrustedBy } from '../timeline.ts'
import type { Outcome } from './answer.ts'

const MESSAGES: Record<Failure | 'wallet_declined' | 'wallet_error', string> = {
  wallet_declined: 'The holder chose not to share, or the wallet has no matching document.',
  wallet_error: 'The wallet could not answer the request.',
  presentation_malformed: 'What the wallet sent is not a well-formed presentation.',
  signature_invalid: "The issuer's signature does not cover what was presented.",
  holder_binding_invalid: 'The wallet did not prove, for this very request, that the document is its own.',
  issuer_untrusted: 'The document could be read, but its issuer is not trusted.',
  credential_expired: 'The document has expired.',
  credential_not_yet_valid: 'The document is not valid yet.',
  credential_revoked: 'The issuer has revoked or suspended the document.',
  issuer_status_unknown: "Whether the certificate of the document's issuer was revoked could not be found out.",
  status_unknown: 'Whether the document was revoked could not be found out.',
  query_not_satisfied: 'What was presented does not hold all that was asked for.',
  claim_not_satisfied: 'The document is good, but it does not prove what was asked.',
}

export function outcomeOf(verdict: Verdict, detail?: string): Outcome {
  const credentials = verdict.credentials.map(credentialResult)
  const findings = verdict.credentials.map(({ id, findings: checks, anchor }) => {
    const used = checks.find(({ list }) => list)?.list
    return {
      credential: id,
      checks,
      ...(anchor && { trust: trustedBy(anchor) }),
      ...(used && { status: { as_of: isoUtc(used.asOf), from: used.from } }),
    }
  })
  const proven = verdict.credentials.some(({ proof }) => proof === 'mac') ? { proof: 'mac' as const } : {}
  if (verdict.status === 'completed')
    return { status: 'completed', result: { claims: verdict.claims, credentials }, findings, ...proven }
  const error = { code: verdict.failure, message: detail ?? MESSAGES[verdict.failure] }
  return { status: 'failed', result: { credentials, error }, findings, ...proven }
}

const trustedBy = ({ id, list }: TrustAnchor): TrustedBy => ({
  anchor: id,
  ...(list && { source: list.id, sequence: list.sequence ?? undefined, issued_at: isoUtc(list.issuedAt) }),
})

/** Wallets do not tell a refusal from a missing document, on purpose (OpenID4VP 1.0 § 8.5). */
export function refusedByWallet(walletCode: string): Outcome {
  const code = walletCode === 'access_denied' ? 'wallet_declined' : 'wallet_error'
  const message = code === 'wallet_declined' ? MESSAGES.wallet_declined : `${MESSAGES.wallet_error} (${walletCode})`
  return { status: 'failed', result: { error: { code, message } }, findings: [] }
}

const credentialResult = (credential: JudgedCredential): CredentialResult => ({
  format: credential.format,
  doctype_or_vct: credential.type,
  claims: credential.claims,
  issuer: credential.issuer,
  trusted: credential.trusted,
  signature_valid: credential.signatureValid,
  holder_binding_valid: credential.holderBindingValid,
  findings: credential.findings
    .filter(({ status }) => status !== 'pass')
    .map(({ check, status, detail }) => ({ check, status, ...(detail !== undefined && { detail }) })),
})
