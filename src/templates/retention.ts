// What a wallet tells its holder before anything is shown: whether a document's data will be kept (ISO/IEC 18013-5 § 8.3.2.1.2.1,
// `intent_to_retain`). It is so for more than a day after the end; an age or an answer alone says nothing that is kept of a document.
import type { ClaimsQuery, CredentialQuery, DcqlQuery } from '../openid4vp/dcql/dcql.ts'
import { PORTRAITS } from './builtin.ts'
import { builtinOf, type Made } from './resolve.ts'

const DAYS_SHORT = 1
const AGE = /^age_over_\d+$|^age_equal_or_over$/

/** An own template keeps what was claimed. */
const retentionOf = (session: Made) => builtinOf(session)?.retention ?? 'claims'

/** False for a template whose claims are never kept, in no shop. */
export const mayBeRetained = (session: Made): boolean => retentionOf(session) !== 'outcome'

/** `days` that the shop keeps its sessions; null for ever. Replaces what the template says of it. */
export function withIntentToRetain(query: DcqlQuery, session: Made, days: number | null): DcqlQuery {
  const isLong = mayBeRetained(session) && (days === null || days > DAYS_SHORT)
  const keepsPortraits = retentionOf(session) === 'claims'
  const isRetained = ({ path }: ClaimsQuery): boolean => {
    const name = String(path.at(-1))
    return isLong && !AGE.test(name) && (keepsPortraits || !PORTRAITS.includes(name))
  }
  const told = (claim: ClaimsQuery): ClaimsQuery =>
    isRetained(claim) === (claim.intent_to_retain ?? false) ? claim : { ...claim, intent_to_retain: isRetained(claim) }
  const credentials = query.credentials.map(credential =>
    credential.format === 'mso_mdoc' && credential.claims
      ? ({ ...credential, claims: credential.claims.map(told) } as CredentialQuery)
      : credential,
  )
  return { ...query, credentials }
}
