// The strict check of a DCQL query before it is signed and sent: its shape, then what a shape cannot say. Wallets ignore unknown
// members (OpenID4VP 1.0 § 6), so they are accepted. A misspelt member is not: an ignored `claim` or `value` would ask for less
// than its author meant.
import type { Static, TSchema } from '@sinclair/typebox'
import { Errors } from '@sinclair/typebox/errors'
import { isObject } from '../../base/members.ts'
import { Credential, credentialLike, echo, isKeyIdentifier, Query } from './schema.ts'

const QUERY_VALUES_MAX = 10_000

type Frozen<Value> = Value extends readonly (infer Item)[]
  ? readonly Frozen<Item>[]
  : Value extends object
    ? { readonly [Name in keyof Value]: Frozen<Value[Name]> }
    : Value

export type DcqlQuery = Frozen<Static<typeof Query>>
export type CredentialQuery = DcqlQuery['credentials'][number]
export type ClaimsQuery = NonNullable<CredentialQuery['claims']>[number]
export type ClaimPath = ClaimsQuery['path']
type TrustedAuthority = NonNullable<CredentialQuery['trusted_authorities']>[number]

/** `path` is relative to the query; empty for the query itself. */
export type DcqlProblem = { path: string; reason: string }

type Found = DcqlProblem | undefined

/** The first problem of a query for this service: it may be valid DCQL that no answer could complete here. */
export function findQueryProblem(query: unknown): DcqlProblem | undefined {
  return findDcqlProblem(query) ?? first((query as DcqlQuery).credentials, 'credentials', findUnenforcedProblem)
}

/** The first problem of a query; undefined if wallets accept it. Takes any JSON value and never throws. */
export function findDcqlProblem(query: unknown): DcqlProblem | undefined {
  return findMisspelling(Query, query, '') ?? findShapeProblem(Query, query, '') ?? findMeaningProblem(query as DcqlQuery)
}

function findMisspelling(schema: TSchema, value: unknown, path: string): Found {
  if (Array.isArray(value)) return schema.items && first(value, path, (item, at) => findMisspelling(schema.items, item, at))
  if (!isObject(value)) return undefined
  const { properties = {} }: TSchema = schema === Credential ? credentialLike(value) : schema
  const bySpelling = new Map(Object.keys(properties).map(name => [spelling(name), name]))
  for (const member of Object.keys(value)) {
    const meant = bySpelling.get(spelling(member))
    if (meant !== undefined && !Object.hasOwn(value, meant))
      return { path, reason: `The member ${echo(member)} is unknown and wallets would skip it; write \`${meant}\`.` }
  }
  for (const [name, part] of Object.entries<TSchema>(properties)) {
    const problem = findMisspelling(part, value[name], path ? `${path}.${name}` : name)
    if (problem) return problem
  }
}

/** The same for `claim_sets`, `claimSets` and `claim-set`. */
function spelling(member: string): string {
  return member.toLowerCase().replace(/[_-]/g, '').replace(/s$/, '')
}

function findShapeProblem(schema: TSchema, value: unknown, base: string): Found {
  const error = Errors(schema, value).First()
  if (!error) return undefined
  const path =
    base +
    error.path
      .replace(/\/(\d+)/g, '[$1]')
      .replaceAll('/', '.')
      .slice(base ? 0 : 1)
  if (error.schema === Credential) return findCredentialShapeProblem(error.value, path)
  const { reason, isOfList } = error.schema
  return {
    path: isOfList ? path.slice(0, path.lastIndexOf('[')) : path,
    reason: typeof reason === 'function' ? reason(error.value) : reason,
  }
}

/** An unsupported format first: what else a credential query must have depends on its format. */
function findCredentialShapeProblem(value: unknown, path: string): Found {
  const schema = credentialLike(value)
  const format = isObject(value) ? value.format : undefined
  return (
    (format === undefined ? undefined : findShapeProblem(schema.properties.format, format, `${path}.format`)) ??
    findShapeProblem(schema, value, path)
  )
}

function findMeaningProblem({ credentials, credential_sets }: DcqlQuery): Found {
  return (
    first(credentials, 'credentials', findCredentialProblem) ??
    findRepeatedId(credentials, 'credentials') ??
    first(credential_sets, 'credential_sets', ({ options }, path) =>
      findUnknownId(options, `${path}.options`, 'credential', credentials),
    ) ??
    findTooManyValues(credentials)
  )
}

function findCredentialProblem({ format, trusted_authorities, claims, claim_sets }: CredentialQuery, path: string): Found {
  if (claim_sets && !claims)
    return { path: `${path}.claim_sets`, reason: '`claim_sets` choose among `claims`; add `claims` or leave `claim_sets` out.' }
  return (
    first(trusted_authorities, `${path}.trusted_authorities`, findKeyIdentifierProblem) ??
    first(claims, `${path}.claims`, (claim, at) => findClaimProblem(claim, at, format, claim_sets !== undefined)) ??
    findRepeatedId(claims, `${path}.claims`) ??
    findRepeatedPath(claims, `${path}.claims`) ??
    findUnknownId(claim_sets, `${path}.claim_sets`, 'claim', claims)
  )
}

function findKeyIdentifierProblem({ type, values }: TrustedAuthority, path: string): Found {
  if (type !== 'aki') return undefined
  const reason = 'An "aki" value must be a key identifier in base64url without padding, up to 1024 characters.'
  return first(values, `${path}.values`, (value, at) => (isKeyIdentifier(value) ? undefined : { path: at, reason }))
}

function findClaimProblem({ id, path: steps }: ClaimsQuery, path: string, format: string, needsId: boolean): Found {
  if (needsId && id === undefined)
    return { path: `${path}.id`, reason: 'Every claim needs an id when there are `claim_sets`; add one.' }
  // The root of an SD-JWT VC is an object, and null or a number selects nothing in an object (§ 7.1.1).
  if (format === 'dc+sd-jwt' && typeof steps[0] !== 'string')
    return { path: `${path}.path[0]`, reason: 'A path must begin with the name of a claim, or no credential can match it.' }
}

function findRepeatedPath(claims: readonly ClaimsQuery[] = [], path: string): Found {
  const repeated = repeatedIndex(claims.map(claim => JSON.stringify(claim.path)))
  if (repeated < 0) return undefined
  return { path: `${path}[${repeated}].path`, reason: 'An earlier claim has the same path; ask for each claim once.' }
}

type WithId = { readonly id?: string }

function findRepeatedId(items: readonly WithId[] = [], path: string): Found {
  const repeated = repeatedIndex(items.map(({ id }) => id))
  if (repeated < 0) return undefined
  const id = echo(items[repeated]!.id!)
  return { path: `${path}[${repeated}].id`, reason: `The id ${id} is taken by an earlier one; choose another.` }
}

/** Absent values (optional ids) repeat nothing. */
const repeatedIndex = (values: readonly unknown[]): number =>
  values.findIndex((value, at) => value !== undefined && values.indexOf(value) < at)

type IdLists = readonly (readonly string[])[]

function findUnknownId(lists: IdLists | undefined, path: string, thing: string, items: readonly WithId[] = []): Found {
  const known = new Set(items.map(({ id }) => id))
  return first(lists, path, (ids, of) =>
    first(ids, of, (id, at) => {
      if (known.has(id)) return undefined
      return { path: at, reason: `No ${thing} of this query has the id ${echo(id)}; name one that is there.` }
    }),
  )
}

/** Each answer is compared with all of them. */
function findTooManyValues(credentials: readonly CredentialQuery[]): Found {
  const values = credentials.flatMap(({ claims = [] }) => claims.map(claim => claim.values?.length ?? 0))
  const count = values.reduce((sum, each) => sum + each, 0)
  if (count <= QUERY_VALUES_MAX) return undefined
  return { path: '', reason: `A query may have ${QUERY_VALUES_MAX} values in all, and this one has ${count}; leave some out.` }
}

function findUnenforcedProblem(credential: CredentialQuery, path: string): Found {
  if (credential.require_cryptographic_holder_binding === false)
    return {
      path: `${path}.require_cryptographic_holder_binding`,
      reason: 'The holder always has to prove that the credential is theirs; leave it out, or say true.',
    }
  const reason =
    'Only "aki" is enforced here: name the key identifiers of the authorities, or leave `trusted_authorities` out and trust issuers with "vidimus trust add".'
  return first(credential.trusted_authorities, `${path}.trusted_authorities`, ({ type }, at) =>
    type === 'aki' ? undefined : { path: `${at}.type`, reason },
  )
}

function first<Item>(items: readonly Item[] = [], path: string, find: (item: Item, path: string) => Found): Found {
  for (const [index, item] of items.entries()) {
    const problem = find(item, `${path}[${index}]`)
    if (problem) return problem
  }
}
