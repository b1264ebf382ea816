// DCQL on the verifier's side: does the answer match the query? The wallet's own matching is never
// relied on (OpenID4VP 1.0 § 14.9).
import type { ReadCredential } from './credential.ts'
import type { ClaimPath, ClaimsQuery, CredentialQuery, DcqlQuery } from './dcql.ts'
import type { Findings } from './finding.ts'
import { isObject, setMember } from './members.ts'
import type { Certificate } from './x509.ts'

type Claims = Record<string, unknown>

/**
 * Records one finding on `query`: the type, the authority, and every claim of the query or of one of its claim sets. `path` is
 * the validated path: other certificates in the presentation could be made by anybody.
 */
export function checkAgainstQuery(
  findings: Findings,
  query: CredentialQuery,
  credential: ReadCredential,
  path: Authorities,
): void {
  const problem = findMismatch(query, credential, path)
  if (problem) findings.fail('query', 'query_not_satisfied', problem)
  else findings.pass('query')
}

type Presented = Pick<ReadCredential, 'format' | 'type' | 'claims'>
type Authorities = readonly Pick<Certificate, 'authorityKeyIdentifier'>[]

export const findMismatch = (query: CredentialQuery, credential: Presented, path: Authorities): string | undefined =>
  findClaimMismatch(query, credential) ?? findAuthorityMismatch(query, path)

function findClaimMismatch(query: CredentialQuery, { format, type, claims }: Presented): string | undefined {
  if (format !== query.format) return `A credential of format ${query.format} was asked for, another format came.`
  // Exact match: a subtype could be proven with type metadata from the network only (§ B.3.5).
  const wanted = query.format === 'mso_mdoc' ? [query.meta.doctype_value] : query.meta.vct_values
  if (!wanted.includes(type)) return 'The credential is of another type than was asked for.'
  const { claims: asked = [], claim_sets: sets } = query
  if (!sets) return firstUnmet(asked, claims)
  // The wallet should take the first set it can answer, but any complete one is accepted (§ 6.4.1).
  const byId = (ids: readonly string[]) => asked.filter(({ id }) => id !== undefined && ids.includes(id))
  return sets.some(ids => firstUnmet(byId(ids), claims) === undefined)
    ? undefined
    : 'No set of the claims that were asked for is complete.'
}

/** § 6.1.1: one value of one entry is enough. An unknown type matches nothing. */
function findAuthorityMismatch({ trusted_authorities: authorities }: CredentialQuery, path: Authorities): string | undefined {
  if (authorities === undefined) return undefined
  const wanted = authorities.flatMap(({ type, values }) => (type === 'aki' ? values : []))
  const isMatch = path.some(
    ({ authorityKeyIdentifier: key }) => key !== undefined && wanted.includes(Buffer.from(key).toString('base64url')),
  )
  return isMatch ? undefined : 'The credential is not of one of the authorities that were asked for.'
}

function firstUnmet(asked: readonly ClaimsQuery[], claims: Claims): string | undefined {
  const unmet = asked.find(claim => !isMet(claim, claims))
  if (!unmet) return undefined
  const name = unmet.path.map(step => step ?? '*').join('.')
  return selected(unmet.path, claims)
    ? `The claim ${name} has another value than was asked for.`
    : `The claim ${name} is missing.`
}

function isMet({ path, values }: ClaimsQuery, claims: Claims): boolean {
  const found = selected(path, claims)
  return found !== undefined && (values === undefined || found.some(value => values.some(wanted => wanted === value)))
}

function selected(path: ClaimPath, claims: Claims): unknown[] | undefined {
  const found = selectPath(claims, path, 'any')
  if (found) return found
  const presented = presentedPath(path, claims)
  return presented === path ? undefined : selectPath(claims, presented, 'any')
}

/**
 * The values that a claims path selects (§ 7.1.1), or undefined. With `any`, a number selects every
 * element that the rest of the path matches: undisclosed elements are removed, so the requested one
 * may have a lower index (RFC 9901 § 7.1).
 */
export function selectPath(claims: unknown, path: ClaimPath, index: 'exact' | 'any'): unknown[] | undefined {
  let values = [claims]
  let isAnyElement = false
  for (const step of path) {
    const next: unknown[] = []
    for (const value of values) {
      if (typeof step === 'string' ? isObject(value) : Array.isArray(value)) take(value as Claims & unknown[], step, index, next)
      else if (!isAnyElement) return undefined
    }
    values = next
    isAnyElement ||= typeof step === 'number' && index === 'any'
  }
  return values.length > 0 ? values : undefined
}

function take(value: Claims & unknown[], step: ClaimPath[number], index: 'exact' | 'any', taken: unknown[]): void {
  if (typeof step === 'string') {
    if (Object.hasOwn(value, step)) taken.push(value[step])
  } else if (step === null || index === 'any') for (const element of value) taken.push(element)
  else if (step < value.length) taken.push(value[step])
}

/**
 * The path that answers the query. If the requested age is missing, the nearest higher one that is
 * true answers it (ISO/IEC 18013-5 § 7.2.5).
 */
function presentedPath(path: ClaimPath, claims: Claims): ClaimPath {
  const asked = ageOf(path)
  if (asked === undefined || selectPath(claims, path, 'any')) return path
  const parent = selectPath(claims, path.slice(0, -1), 'any')?.[0]
  if (!isObject(parent)) return path
  const higher = Object.keys(parent)
    .filter(name => (ageOf([...path.slice(0, -1), name]) ?? 0) > asked && parent[name] === true)
    .sort((a, b) => (ageOf([...path.slice(0, -1), a]) ?? 0) - (ageOf([...path.slice(0, -1), b]) ?? 0))[0]
  return higher === undefined ? path : [...path.slice(0, -1), higher]
}

/** 18 of `age_over_18` (mdoc) or of `age_equal_or_over.18` (SD-JWT PID). */
export function ageOf(path: ClaimPath): number | undefined {
  const last = path.at(-1)
  if (typeof last !== 'string') return undefined
  const prefix = path.at(-2) === 'age_equal_or_over' ? '' : 'age_over_'
  const digits = last.startsWith(prefix) ? last.slice(prefix.length) : ''
  return /^\d{1,3}$/.test(digits) ? Number(digits) : undefined
}

/** The requested claims only. Further claims of the wallet are neither passed on nor stored. */
export function requestedClaims(query: CredentialQuery, claims: Claims): Claims {
  const paths = (query.claims ?? []).map(({ path }) => presentedPath(path, claims))
  return paths.length > 0 ? (subset(claims, paths, 0) as Claims) : {}
}

/** `depth`: number of path steps that lead to the value. */
function subset(value: unknown, paths: ClaimPath[], depth: number): unknown {
  if (paths.some(path => path.length === depth)) return value
  if (Array.isArray(value)) {
    const further = paths.filter(path => typeof path[depth] !== 'string')
    return further.length > 0 ? value.map(element => subset(element, further, depth + 1)).filter(kept => kept !== undefined) : []
  }
  if (!isObject(value)) return undefined
  const kept: Claims = {}
  for (const path of paths) {
    const step = path[depth]
    if (typeof step !== 'string' || !Object.hasOwn(value, step) || Object.hasOwn(kept, step)) continue
    const further = paths.filter(other => other[depth] === step)
    const inner = subset(value[step], further, depth + 1)
    if (inner !== undefined) setMember(kept, step, inner)
  }
  return kept
}

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

/**
 * The query without formats that the wallet cannot present. Unchanged if nothing would be left:
 * then the wallet's own refusal is the answer.
 */
export function withoutFormats(query: DcqlQuery, supported: ReadonlySet<string>): DcqlQuery {
  const credentials = query.credentials.filter(({ format }) => supported.has(format))
  const kept = new Set(credentials.map(({ id }) => id))
  const sets = query.credential_sets
    ?.map(set => ({ ...set, options: set.options.filter(option => option.every(id => kept.has(id))) }))
    .filter(({ options, required = true }) => options.length > 0 || required)
  const isAnswerable = sets ? sets.every(({ options }) => options.length > 0) : credentials.length === query.credentials.length
  if (!isAnswerable || credentials.length === 0 || sets?.length === 0) return query
  const { credential_sets: _, ...rest } = query
  return { ...rest, credentials, ...(sets && { credential_sets: sets }) }
}
