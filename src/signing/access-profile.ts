// The profile of access certificates (ETSI TS 119 411-8), as far as wallets are known to look at it.
// Nothing is refused for it: profiles disagree in the field, on the key usage for instance.
import type { Certificate } from '../openid4vp/x509.ts'

/** § 5.3: natural or legal person, normalised or qualified. */
const POLICY = /^0\.4\.0\.194118\.1\.[1-4]$/

/** A clause in both languages. */
type Broken = Readonly<Record<'en' | 'de', string>>

type Rule = { broken: Broken; holds: (leaf: Certificate) => boolean }

const RULES: Rule[] = [
  {
    broken: { en: 'no organisation identifier in the subject', de: 'keine Kennung der Organisation im Inhaber' },
    holds: ({ subjectAttributes }) => subjectAttributes.organizationIdentifier !== undefined,
  },
  {
    broken: { en: 'no contact in the alternative names', de: 'kein Kontakt in den alternativen Namen' },
    holds: ({ emails, uris }) => emails.length + uris.length > 0,
  },
  {
    broken: { en: 'no policy 0.4.0.194118.1.x', de: 'keine Richtlinie 0.4.0.194118.1.x' },
    holds: ({ policies }) => policies.some(policy => POLICY.test(policy)),
  },
  {
    broken: { en: 'a key usage that does not allow signatures', de: 'ein Schlüsselzweck, der keine Signaturen erlaubt' },
    holds: ({ keyUsage }) =>
      !keyUsage || keyUsage.usages.some(usage => usage === 'digitalSignature' || usage === 'contentCommitment'),
  },
]

/** Rules of the profile that the certificate breaks. */
export const brokenRules = (leaf: Certificate): Broken[] => RULES.filter(({ holds }) => !holds(leaf)).map(({ broken }) => broken)
