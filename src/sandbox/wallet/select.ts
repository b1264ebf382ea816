// DCQL on the wallet's side (OpenID4VP 1.0 § 6.4): the credentials that answer a query, and the claims to show.
import type { ClaimPath, ClaimsQuery, CredentialQuery, DcqlQuery } from '../../openid4vp/dcql/dcql.ts'
import type { Credential, Place } from '../credential.ts'
import type { Json } from '../json.ts'

export type Selection = {
  /** The id of the credential query. */
  id: string
  credential: Credential
  /** The claims to show; names and positions, no wildcards. */
  places: Place[]
}

/** Undefined if these credentials cannot answer the query. */
export function selectCredentials(query: DcqlQuery, credentials: readonly Credential[]): Selection[] | undefined {
  const answers = new Map(query.credentials.flatMap(one => answerTo(one, credentials) ?? []).map(answer => [answer.id, answer]))
  const ids = query.credential_sets ? idsFromSets(query.credential_sets, answers) : query.credentials.map(({ id }) => id)
  if (!ids?.every(id => answers.has(id))) return undefined
  return [...new Set(ids)].map(id => answers.get(id)!)
}

function answerTo(query: CredentialQuery, credentials: readonly Credential[]): Selection | undefined {
  for (const credential of credentials) {
    if (!isOfType(credential, query) || !isFromAuthority(credential, query)) continue
    const places = placesFor(query, credential)
    if (places) return { id: query.id, credential, places }
  }
}

/** The first complete option of each set; an optional set may stay open. */
function idsFromSets(
  sets: NonNullable<DcqlQuery['credential_sets']>,
  answers: ReadonlyMap<string, Selection>,
): string[] | undefined {
  const chosen: string[] = []
  for (const { options, required } of sets) {
    const option = options.find(ids => ids.every(id => answers.has(id)))
    if (!option && required !== false) return undefined
    chosen.push(...(option ?? []))
  }
  return chosen
}

function isOfType({ format, type }: Credential, query: CredentialQuery): boolean {
  if (format !== query.format) return false
  return query.format === 'mso_mdoc' ? query.meta.doctype_value === type : query.meta.vct_values.includes(type)
}

function isFromAuthority({ authorityKeyIds }: Credential, { trusted_authorities: authorities }: CredentialQuery): boolean {
  return !authorities || authorities.some(({ type, values }) => type === 'aki' && authorityKeyIds.some(id => values.includes(id)))
}

function placesFor({ claims, claim_sets: claimSets }: CredentialQuery, credential: Credential): Place[] | undefined {
  if (!claims) return []
  const sets = claimSets?.map(ids => ids.map(id => claims.find(claim => claim.id === id)!)) ?? [claims]
  for (const set of sets) {
    const found = set.map(claim => placesOf(claim, credential))
    if (found.every(places => places.length > 0)) return found.flat()
  }
}

function placesOf({ path, values }: ClaimsQuery, { claims }: Credential): Place[] {
  return follow(claims, path, [])
    .filter(({ value }) => !values || values.some(wanted => wanted === value))
    .map(({ at }) => at)
}

/** OpenID4VP 1.0 § 7.1.1. The two steps of an mdoc path (§ 7.2) work the same way. */
function follow(value: Json, [step, ...rest]: ClaimPath, at: Place): { at: Place; value: Json }[] {
  if (step === undefined) return [{ at, value }]
  if (Array.isArray(value)) {
    const elements = [...(value as readonly Json[]).entries()].filter(([index]) => step === null || step === index)
    return elements.flatMap(([index, element]) => follow(element, rest, [...at, index]))
  }
  const isMember = typeof step === 'string' && typeof value === 'object' && value !== null && Object.hasOwn(value, step)
  return isMember ? follow((value as { readonly [name: string]: Json })[step]!, rest, [...at, step]) : []
}
