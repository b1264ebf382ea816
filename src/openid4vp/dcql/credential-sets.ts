// Which parts of a query have to be answered, and which of them a wallet can answer.
import type { ClaimsQuery, CredentialQuery, DcqlQuery } from './dcql.ts'

/**
 * The ids of the credentials that answer the query (§ 6.4.2): the first complete option of each
 * set. Undefined when something is missing. Further credentials may belong to another person, so
 * nothing is taken from them.
 */
export function answeringIds(
  { credentials, credential_sets: sets }: DcqlQuery,
  answered: ReadonlySet<string>,
): ReadonlySet<string> | undefined {
  const isComplete = (ids: readonly string[]) => ids.every(id => answered.has(id))
  const answering = new Set<string>()
  for (const { required = true, options: choices } of sets ?? [{ options: [credentials.map(({ id }) => id)] }]) {
    const chosen = choices.find(isComplete)
    if (!chosen && required) return undefined
    for (const id of chosen ?? []) answering.add(id)
  }
  // An empty answer matches if all sets are optional, but it is not a verification.
  return answering.size > 0 ? answering : undefined
}

/** The claims of each set; one set of all claims where the query has no sets. */
export function claimSetsOf({ claims = [], claim_sets: sets }: CredentialQuery): readonly (readonly ClaimsQuery[])[] {
  const byId = new Map(claims.map(claim => [claim.id, claim]))
  return sets?.map(ids => ids.flatMap(id => byId.get(id) ?? [])) ?? [claims]
}

/** The query without other formats; undefined if it cannot be answered then. */
export function narrowed(query: DcqlQuery, formats: ReadonlySet<string>): DcqlQuery | undefined {
  const credentials = query.credentials.filter(({ format }) => formats.has(format))
  const kept = new Set(credentials.map(({ id }) => id))
  const sets = query.credential_sets
    ?.map(set => ({ ...set, options: set.options.filter(option => option.every(id => kept.has(id))) }))
    .filter(({ options, required = true }) => options.length > 0 || required)
  const isAnswerable = sets ? sets.every(({ options }) => options.length > 0) : credentials.length === query.credentials.length
  if (!isAnswerable || credentials.length === 0 || sets?.length === 0) return undefined
  const { credential_sets: _, ...rest } = query
  return { ...rest, credentials, ...(sets && { credential_sets: sets }) }
}

/**
 * The query without formats that the wallet cannot present. Unchanged if nothing would be left:
 * then the wallet's own refusal is the answer.
 */
export const withoutFormats = (query: DcqlQuery, supported: ReadonlySet<string>): DcqlQuery => narrowed(query, supported) ?? query
