// The profile of access certificates (ETSI TS 119 411-8), as far as wallets are known to look at it.
// Nothing is refused for it: profiles disagree in the field, on the key usage for instance.
import type { Certificate } from '../openid4vp/x509/x509.ts'

/** § 5.3: natural or legal person, normalised or qualified. */
const POLICY = /^0\.4\.0\.194118\.1\.[1-4]$/

const RULES = {
  no_identifier: ({ subjectAttributes }) => subjectAttributes.organizationIdentifier !== undefined,
  no_contact: ({ emails, uris }) => emails.length + uris.length > 0,
  no_policy: ({ policies }) => policies.some(policy => POLICY.test(policy)),
  no_signatures: ({ keyUsage }) =>
    !keyUsage || keyUsage.usages.some(usage => usage === 'digitalSignature' || usage === 'contentCommitment'),
} satisfies Record<string, (leaf: Certificate) => boolean>

export type BrokenRule = keyof typeof RULES

/** Rules of the profile that the certificate breaks. */
export const brokenRules = (leaf: Certificate): BrokenRule[] =>
  (Object.keys(RULES) as BrokenRule[]).filter(rule => !RULES[rule](leaf))
