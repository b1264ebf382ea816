// The profile of access certificates (ETSI TS 119 411-8), as far as wallets are known to look at it.
// Nothing is refused for it: profiles disagree in the field, on the key usage for instance.
import { X509Certificate } from 'node:crypto'
import type { Certificate } from '../openid4vp/x509/x509.ts'

/** § 5.3: natural or legal person, normalised or qualified. */
const POLICY = /^0\.4\.0\.194118\.1\.[1-4]$/

/** One that lives no longer needs no way to be revoked. */
const SHORT_MS = 7 * 86_400_000

const RULES = {
  no_identifier: ({ subjectAttributes }) => subjectAttributes.organizationIdentifier !== undefined,
  no_contact: ({ emails, uris }) => emails.length + uris.length > 0,
  no_policy: ({ policies }) => policies.some(policy => POLICY.test(policy)),
  no_signatures: ({ keyUsage }) =>
    !keyUsage || keyUsage.usages.some(usage => usage === 'digitalSignature' || usage === 'contentCommitment'),
  is_authority: ({ basicConstraints }) => basicConstraints?.ca !== true,
  no_name: ({ subjectAttributes: { organization, commonName } }) => (organization ?? commonName) !== undefined,
  no_revocation: ({ crlUris = [], der, notBefore, notAfter }) =>
    crlUris.length > 0 || notAfter - notBefore <= SHORT_MS || /^OCSP - URI:/m.test(new X509Certificate(der).infoAccess ?? ''),
} satisfies Record<string, (leaf: Certificate) => boolean>

export type BrokenRule = keyof typeof RULES

/** Rules of the profile that the certificate breaks. */
export const brokenRules = (leaf: Certificate): BrokenRule[] =>
  (Object.keys(RULES) as BrokenRule[]).filter(rule => !RULES[rule](leaf))
