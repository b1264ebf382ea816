import type { CredentialResult } from '../../../verifications/schema.ts'
import { Badge } from '../../kit/badge.tsx'
import { Icon } from '../../kit/icons.tsx'
import { useClaimWords } from '../../shared/claims.ts'
import { issuerName } from './verdict.tsx'
import { useVerificationWords } from './words.ts'

/** Each presented document with its issuer and its three main checks. */
export function CredentialCards({ credentials }: { credentials: readonly CredentialResult[] }) {
  const words = useVerificationWords()
  if (credentials.length === 0) return null
  return (
    <section class="stack tight">
      <h3>{words.documents}</h3>
      {credentials.map((credential, i) => (
        <CredentialCard key={i} credential={credential} />
      ))}
    </section>
  )
}

function CredentialCard({ credential }: { credential: CredentialResult }) {
  const words = useVerificationWords()
  const { document } = useClaimWords()
  const { doctype_or_vct, format, issuer, signature_valid, trusted, holder_binding_valid, findings } = credential
  const isSandbox = findings.some(({ check, status }) => check === 'environment' && status === 'warning')
  return (
    <article class="credential box">
      <header class="row start">
        <Icon name="document" />
        <div class="breaks">
          <h4>{doctype_or_vct ? document(doctype_or_vct) : words.unreadDocument}</h4>
          <p class="secondary">{issuerName(issuer) || words.unknownIssuer}</p>
          <p class="hint">
            {words.formats[format]}
            {doctype_or_vct && (
              <>
                {' · '}
                <code>{doctype_or_vct}</code>
              </>
            )}
          </p>
        </div>
        {isSandbox && <Badge icon="info">{words.sandboxIssuer}</Badge>}
      </header>
      <ul class="holds grid dense">
        <Holds is={signature_valid} words={words.signature} />
        <Holds is={trusted} words={words.trusted} />
        <Holds is={holder_binding_valid} words={words.binding} />
      </ul>
    </article>
  )
}

function Holds({ is, words }: { is: boolean; words: { true: string; false: string } }) {
  return (
    <li class={`line tight ${is ? 'ok' : 'no'}`}>
      <Icon name={is ? 'tick' : 'cross'} />
      {is ? words.true : words.false}
    </li>
  )
}
