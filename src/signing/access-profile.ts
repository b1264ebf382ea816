// The profile of access certificates (ETSI TS 119 411-8), as far as wallets are known to look at it.
// Nothing is refused for it: profiles disagree in the field, on the key usage for instance.
import type { Certificate } from '../openid4vp/x509.ts'

/** § 5.3: natural or legal person, normalised or qualified. */
const POLICY = /^0\.4\.0\.194118\.1\.[1-4]$/

type Rule = { broken: string; holds: (leaf: Certificate) => boolean }

const RULES: Rule[] = [
  {
    broken: 'no organisation identifier in the subject',
    holds: ({ subjectAttributes }) => subjectAttributes.organizationIdentifier !== undefined,
  },
  { broken: 'no contact in the alternative names', holds: ({ emails, uris }) => emails.length + uris.length > 0 },
  { broken: 'no policy 0.4.0.194118.1.x', holds: ({ policies }) => policies.some(policy => POLICY.test(policy)) },
  {
    broken: 'a key usage that does not allow signatures',
    holds: ({ keyUsage }) =>
      !keyUsage || keyUsage.usages.some(usage => usage === 'digitalSignature' || usage === 'contentCommitment'),
  },
]

/** What the certificate lacks; empty when it keeps to the profile. */
export const brokenRules = (leaf: Certificate): string[] => RULES.filter(({ holds }) => !holds(leaf)).map(({ broken }) => broken)
