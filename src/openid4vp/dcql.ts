// DCQL 1.0 (OpenID4VP 1.0 § 6 and § 7): the types, and the strict check of a query before it is
// signed and sent. Wallets ignore unknown members (§ 6), so they are accepted. A misspelt member is
// not: an ignored `claim` or `value` would ask for less than its author meant.
import { isObject, type Members } from './members.ts'

export const CREDENTIALS_MAX = 20
export const CLAIMS_MAX = 100
export const CLAIM_SETS_MAX = 20
export const CREDENTIAL_SETS_MAX = 10
export const OPTIONS_MAX = 50
export const PATH_DEPTH_MAX = 10
export const VALUES_MAX = 100
export const QUERY_VALUES_MAX = 10_000
export const VCT_VALUES_MAX = 50
export const AUTHORITIES_MAX = 20
export const AUTHORITY_VALUES_MAX = 100
export const ID_CHARS_MAX = 64
export const TEXT_CHARS_MAX = 1024
export const PURPOSE_CHARS_MAX = 300
const ECHO_CHARS_MAX = 64

const FORMATS = ['dc+sd-jwt', 'mso_mdoc']
/** Base64url without padding and without stray bits in the last character. */
export const KEY_IDENTIFIER = /^(?:[\w-]{4})*(?:[\w-][AQgw]|[\w-]{2}[AEIMQUYcgkosw048])?$/

const AUTHORITY_TYPES = ['aki', 'etsi_tl', 'openid_federation']

const QUERY_MEMBERS = ['credentials', 'credential_sets']
const CREDENTIAL_MEMBERS = [
  'id',
  'format',
  'meta',
  'multiple',
  'require_cryptographic_holder_binding',
  'trusted_authorities',
  'claims',
  'claim_sets',
]
const AUTHORITY_MEMBERS = ['type', 'values']
const CLAIM_MEMBERS = ['id', 'path', 'values', 'intent_to_retain']
const SET_MEMBERS = ['options', 'required', 'purpose']

export type DcqlQuery = {
  readonly credentials: readonly CredentialQuery[]
  readonly credential_sets?: readonly CredentialSet[]
}

export type CredentialQuery = {
  readonly id: string
  readonly multiple?: boolean
  readonly require_cryptographic_holder_binding?: boolean
  readonly trusted_authorities?: readonly TrustedAuthority[]
  readonly claims?: readonly ClaimsQuery[]
  readonly claim_sets?: readonly (readonly string[])[]
} & (
  | { readonly format: 'dc+sd-jwt'; readonly meta: { readonly vct_values: readonly string[] } }
  | { readonly format: 'mso_mdoc'; readonly meta: { readonly doctype_value: string } }
)

type TrustedAuthority = {
  readonly type: 'aki' | 'etsi_tl' | 'openid_federation'
  readonly values: readonly string[]
}

export type ClaimsQuery = {
  readonly id?: string
  readonly path: ClaimPath
  readonly values?: readonly (string | number | boolean)[]
  readonly intent_to_retain?: boolean
}

export type ClaimPath = readonly (string | number | null)[]

type CredentialSet = {
  readonly options: readonly (readonly string[])[]
  readonly required?: boolean
  /** Not DCQL 1.0: a member of draft 22 that some wallets still show to the holder. */
  readonly purpose?: string
}

/** `path` is relative to the query; empty for the query itself. */
export type DcqlProblem = { path: string; reason: string }

type Found = DcqlProblem | undefined

/** The first problem of a query; undefined if wallets accept it. Takes any JSON value and never throws. */
export function findDcqlProblem(query: unknown): DcqlProblem | undefined {
  if (!isObject(query)) return { path: '', reason: 'The query must be an object with a `credentials` array.' }
  return (
    findMisspelling(query, '', QUERY_MEMBERS) ??
    findCredentialsProblem(query.credentials, 'credentials') ??
    findCredentialSetsProblem(query.credential_sets, 'credential_sets', idsOf(query.credentials)) ??
    findTooManyValues(query as DcqlQuery)
  )
}

/** Each answer is compared with all of them. */
function findTooManyValues({ credentials }: DcqlQuery): Found {
  const values = credentials.flatMap(({ claims = [] }) => claims.map(claim => claim.values?.length ?? 0))
  const count = values.reduce((sum, each) => sum + each, 0)
  if (count <= QUERY_VALUES_MAX) return undefined
  return { path: '', reason: `A query may have ${QUERY_VALUES_MAX} values in all, and this one has ${count}; leave some out.` }
}

/** The first problem of a query for this service: it may be valid DCQL that no answer could complete here. */
export function findQueryProblem(query: unknown): DcqlProblem | undefined {
  return findDcqlProblem(query) ?? findUnprovenProblem(query as DcqlQuery) ?? findUnenforcedProblem(query as DcqlQuery)
}

/** The first entry of `trusted_authorities` that cannot be enforced; for templates saved when it was only a hint. */
export function findUnenforcedProblem({ credentials }: DcqlQuery): DcqlProblem | undefined {
  for (const [index, { trusted_authorities = [] }] of credentials.entries()) {
    const unenforced = trusted_authorities.findIndex(({ type }) => type !== 'aki')
    if (unenforced < 0) continue
    const path = `credentials[${index}].trusted_authorities[${unenforced}].type`
    return {
      path,
      reason:
        'Only "aki" is enforced here: name the key identifiers of the authorities, or leave `trusted_authorities` out and trust issuers with "vidimus trust add".',
    }
  }
}

function findUnprovenProblem({ credentials }: DcqlQuery): Found {
  const unproven = credentials.findIndex(credential => credential.require_cryptographic_holder_binding === false)
  if (unproven < 0) return undefined
  const path = `credentials[${unproven}].require_cryptographic_holder_binding`
  return { path, reason: 'The holder always has to prove that the credential is theirs; leave it out, or say true.' }
}

function findMisspelling(object: Members, path: string, known: readonly string[]): Found {
  const bySpelling = new Map(known.map(name => [spelling(name), name]))
  for (const member of Object.keys(object)) {
    const meant = bySpelling.get(spelling(member))
    if (meant !== undefined && !Object.hasOwn(object, meant)) {
      return { path, reason: `The member ${echo(member)} is unknown and wallets would skip it; write \`${meant}\`.` }
    }
  }
}

/** The same for `claim_sets`, `claimSets` and `claim-set`. */
function spelling(member: string): string {
  return member.toLowerCase().replace(/[_-]/g, '').replace(/s$/, '')
}

function findCredentialsProblem(credentials: unknown, path: string): Found {
  return (
    findListProblem(credentials, path, { items: 'credential queries', max: CREDENTIALS_MAX }, findCredentialProblem) ??
    findRepeatedId(credentials, path)
  )
}

function findCredentialProblem(credential: unknown, path: string): Found {
  if (!isObject(credential)) return { path, reason: 'A credential query must be an object with `id`, `format` and `meta`.' }
  const { id, format, meta, multiple, require_cryptographic_holder_binding, trusted_authorities, claims, claim_sets } = credential
  return (
    findMisspelling(credential, path, CREDENTIAL_MEMBERS) ??
    findIdProblem(id, `${path}.id`) ??
    findFormatProblem(format, `${path}.format`) ??
    (format === 'mso_mdoc' ? findMdocMetaProblem(meta, `${path}.meta`) : findSdJwtMetaProblem(meta, `${path}.meta`)) ??
    findFlagProblem(multiple, `${path}.multiple`) ??
    findFlagProblem(require_cryptographic_holder_binding, `${path}.require_cryptographic_holder_binding`) ??
    findAuthoritiesProblem(trusted_authorities, `${path}.trusted_authorities`) ??
    findClaimsProblem(claims, `${path}.claims`, { isMdoc: format === 'mso_mdoc', needsIds: claim_sets !== undefined }) ??
    findClaimSetsProblem(claim_sets, `${path}.claim_sets`, claims)
  )
}

// "Alphanumeric" of § 6.1 is read as ASCII, as the OpenID conformance suite reads it.
function findIdProblem(id: unknown, path: string): Found {
  if (typeof id === 'string' && id.length <= ID_CHARS_MAX && /^[A-Za-z0-9_-]+$/.test(id)) return undefined
  return { path, reason: `An id must be 1 to ${ID_CHARS_MAX} characters out of A-Z, a-z, 0-9, "_" and "-".` }
}

function findFormatProblem(format: unknown, path: string): Found {
  if (typeof format === 'string' && FORMATS.includes(format)) return undefined
  if (format === 'vc+sd-jwt') return { path, reason: 'The format "vc+sd-jwt" is a draft name; write "dc+sd-jwt".' }
  const given = typeof format === 'string' ? `, not ${echo(format)}` : ''
  return { path, reason: `The format must be "dc+sd-jwt" or "mso_mdoc", the only two supported${given}.` }
}

// § 6.1 lets an empty `meta` mean "any type", but § B.2.3 and § B.3.5 require the member, and without it any document passes.
function findMdocMetaProblem(meta: unknown, path: string): Found {
  if (!isObject(meta)) return { path, reason: 'The `meta` of an mso_mdoc query must be an object with `doctype_value`.' }
  return (
    findMisspelling(meta, path, ['doctype_value']) ??
    findTextProblem(meta.doctype_value, `${path}.doctype_value`, 'The document type, such as "org.iso.18013.5.1.mDL",')
  )
}

function findSdJwtMetaProblem(meta: unknown, path: string): Found {
  if (!isObject(meta)) return { path, reason: 'The `meta` of a dc+sd-jwt query must be an object with `vct_values`.' }
  return (
    findMisspelling(meta, path, ['vct_values']) ??
    findListProblem(meta.vct_values, `${path}.vct_values`, { items: 'credential types', max: VCT_VALUES_MAX }, (type, at) =>
      findTextProblem(type, at, 'A credential type, such as "urn:eudi:pid:1",'),
    )
  )
}

function findFlagProblem(flag: unknown, path: string): Found {
  if (flag === undefined || typeof flag === 'boolean') return undefined
  return { path, reason: 'The value must be true or false, without quotes.' }
}

function findAuthoritiesProblem(authorities: unknown, path: string): Found {
  if (authorities === undefined) return undefined
  return findListProblem(authorities, path, { items: 'trusted authorities', max: AUTHORITIES_MAX }, findAuthorityProblem)
}

function findAuthorityProblem(authority: unknown, path: string): Found {
  if (!isObject(authority)) return { path, reason: 'A trusted authority must be an object with `type` and `values`.' }
  const { type, values } = authority
  return (
    findMisspelling(authority, path, AUTHORITY_MEMBERS) ??
    findAuthorityTypeProblem(type, `${path}.type`) ??
    findListProblem(values, `${path}.values`, { items: 'identifiers', max: AUTHORITY_VALUES_MAX }, (value, at) =>
      type === 'aki' ? findKeyIdentifierProblem(value, at) : findTextProblem(value, at, 'An identifier'),
    )
  )
}

function findAuthorityTypeProblem(type: unknown, path: string): Found {
  if (typeof type === 'string' && AUTHORITY_TYPES.includes(type)) return undefined
  return { path, reason: 'The type must be "aki", "etsi_tl" or "openid_federation", the three that DCQL 1.0 defines.' }
}

function findKeyIdentifierProblem(value: unknown, path: string): Found {
  const isText = typeof value === 'string' && value.length > 0 && value.length <= TEXT_CHARS_MAX
  if (isText && KEY_IDENTIFIER.test(value)) return undefined
  return {
    path,
    reason: `An "aki" value must be a key identifier in base64url without padding, up to ${TEXT_CHARS_MAX} characters.`,
  }
}

function findClaimsProblem(claims: unknown, path: string, rules: { isMdoc: boolean; needsIds: boolean }): Found {
  if (claims === undefined) return undefined
  return (
    findListProblem(claims, path, { items: 'claims', max: CLAIMS_MAX }, (claim, at) => findClaimProblem(claim, at, rules)) ??
    findRepeatedId(claims, path) ??
    findRepeatedClaim(claims, path)
  )
}

function findClaimProblem(claim: unknown, path: string, rules: { isMdoc: boolean; needsIds: boolean }): Found {
  if (!isObject(claim)) return { path, reason: 'A claim must be an object with `path`.' }
  const { id, values, intent_to_retain } = claim
  return (
    findMisspelling(claim, path, CLAIM_MEMBERS) ??
    findClaimIdProblem(id, `${path}.id`, rules) ??
    (rules.isMdoc ? findMdocPathProblem(claim.path, `${path}.path`) : findSdJwtPathProblem(claim.path, `${path}.path`)) ??
    findValuesProblem(values, `${path}.values`) ??
    findFlagProblem(intent_to_retain, `${path}.intent_to_retain`)
  )
}

function findClaimIdProblem(id: unknown, path: string, rules: { needsIds: boolean }): Found {
  if (id !== undefined) return findIdProblem(id, path)
  if (rules.needsIds) return { path, reason: 'Every claim needs an id when there are `claim_sets`; add one.' }
}

function findMdocPathProblem(claimPath: unknown, path: string): Found {
  const isPair = Array.isArray(claimPath) && claimPath.length === 2 && claimPath.every(isText)
  if (isPair) return undefined
  return {
    path,
    reason: `An mso_mdoc path must be exactly two strings of 1 to ${TEXT_CHARS_MAX} characters: the namespace and the element.`,
  }
}

function findSdJwtPathProblem(claimPath: unknown, path: string): Found {
  return (
    findListProblem(claimPath, path, { items: 'path elements', max: PATH_DEPTH_MAX }, findPathElementProblem) ??
    findPathRootProblem(claimPath, path)
  )
}

function findPathElementProblem(element: unknown, path: string): Found {
  const isKey = typeof element === 'string' && element.length <= TEXT_CHARS_MAX
  const isIndex = isWholeNumber(element) && element >= 0
  if (isKey || isIndex || element === null) return undefined
  return {
    path,
    reason: `A path element must be a name of up to ${TEXT_CHARS_MAX} characters, a whole number from 0, or null for all.`,
  }
}

// The root of an SD-JWT VC is an object, and null or a number selects nothing in an object (§ 7.1.1).
function findPathRootProblem(claimPath: unknown, path: string): Found {
  if (Array.isArray(claimPath) && typeof claimPath[0] === 'string') return undefined
  return { path: `${path}[0]`, reason: 'A path must begin with the name of a claim, or no credential can match it.' }
}

function findValuesProblem(values: unknown, path: string): Found {
  if (values === undefined) return undefined
  return findListProblem(values, path, { items: 'values', max: VALUES_MAX }, findValueProblem)
}

function findValueProblem(value: unknown, path: string): Found {
  const isShortString = typeof value === 'string' && value.length <= TEXT_CHARS_MAX
  if (isShortString || isWholeNumber(value) || typeof value === 'boolean') return undefined
  return { path, reason: `A value must be a string of up to ${TEXT_CHARS_MAX} characters, a whole number, true or false.` }
}

function findRepeatedClaim(claims: unknown, path: string): Found {
  const repeated = repeatedIndex(membersOf(claims, 'path').map(claimPath => JSON.stringify(claimPath)))
  if (repeated === undefined) return undefined
  return { path: `${path}[${repeated}].path`, reason: 'An earlier claim has the same path; ask for each claim once.' }
}

// An empty inner set is refused as the OpenID conformance suite does; § 6.4.1 is silent, and leaving `claims` out says the same.
function findClaimSetsProblem(claimSets: unknown, path: string, claims: unknown): Found {
  if (claimSets === undefined) return undefined
  if (claims === undefined) return { path, reason: '`claim_sets` choose among `claims`; add `claims` or leave `claim_sets` out.' }
  const rules = { of: 'claim', known: idsOf(claims), max: CLAIMS_MAX }
  return findListProblem(claimSets, path, { items: 'claim sets', max: CLAIM_SETS_MAX }, (set, at) =>
    findReferencesProblem(set, at, rules),
  )
}

function findCredentialSetsProblem(sets: unknown, path: string, known: ReadonlySet<unknown>): Found {
  if (sets === undefined) return undefined
  return findListProblem(sets, path, { items: 'credential sets', max: CREDENTIAL_SETS_MAX }, (set, at) =>
    findCredentialSetProblem(set, at, known),
  )
}

function findCredentialSetProblem(set: unknown, path: string, known: ReadonlySet<unknown>): Found {
  if (!isObject(set)) return { path, reason: 'A credential set must be an object with `options`.' }
  const rules = { of: 'credential', known, max: CREDENTIALS_MAX }
  return (
    findMisspelling(set, path, SET_MEMBERS) ??
    findListProblem(set.options, `${path}.options`, { items: 'options', max: OPTIONS_MAX }, (option, at) =>
      findReferencesProblem(option, at, rules),
    ) ??
    findFlagProblem(set.required, `${path}.required`) ??
    findPurposeProblem(set.purpose, `${path}.purpose`)
  )
}

function findPurposeProblem(purpose: unknown, path: string): Found {
  if (purpose === undefined || (isText(purpose) && purpose.length <= PURPOSE_CHARS_MAX)) return undefined
  return { path, reason: `A purpose must be a string of 1 to ${PURPOSE_CHARS_MAX} characters, or be left out.` }
}

function findReferencesProblem(
  ids: unknown,
  path: string,
  rules: { of: string; known: ReadonlySet<unknown>; max: number },
): Found {
  return findListProblem(ids, path, { items: `${rules.of} ids`, max: rules.max }, (id, at) => {
    if (rules.known.has(id)) return undefined
    const given = typeof id === 'string' ? echo(id) : 'this'
    return { path: at, reason: `No ${rules.of} of this query has the id ${given}; name one that is there.` }
  })
}

function findListProblem(
  list: unknown,
  path: string,
  rules: { items: string; max: number },
  findItemProblem: (item: unknown, path: string) => Found,
): Found {
  if (!Array.isArray(list)) return { path, reason: `This must be an array of 1 to ${rules.max} ${rules.items}.` }
  if (list.length === 0 || list.length > rules.max) {
    return { path, reason: `This must be an array of 1 to ${rules.max} ${rules.items}, and it has ${list.length}.` }
  }
  for (const [index, item] of list.entries()) {
    const problem = findItemProblem(item, `${path}[${index}]`)
    if (problem) return problem
  }
}

function findTextProblem(value: unknown, path: string, subject: string): Found {
  if (isText(value)) return undefined
  return { path, reason: `${subject} must be a string of 1 to ${TEXT_CHARS_MAX} characters.` }
}

function findRepeatedId(items: unknown, path: string): Found {
  const ids = membersOf(items, 'id')
  const repeated = repeatedIndex(ids)
  if (repeated === undefined) return undefined
  return {
    path: `${path}[${repeated}].id`,
    reason: `The id ${echo(String(ids[repeated]))} is taken by an earlier one; choose another.`,
  }
}

/** The index of the first repeated value. An absent one (an optional id) repeats nothing. */
function repeatedIndex(values: readonly unknown[]): number | undefined {
  const index = values.findIndex((value, at) => value !== undefined && values.indexOf(value) < at)
  return index === -1 ? undefined : index
}

function idsOf(items: unknown): ReadonlySet<unknown> {
  return new Set(membersOf(items, 'id'))
}

function membersOf(items: unknown, member: string): unknown[] {
  return Array.isArray(items) ? items.map(item => (isObject(item) ? item[member] : undefined)) : []
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.length > 0 && value.length <= TEXT_CHARS_MAX
}

function isWholeNumber(value: unknown): value is number {
  return Number.isSafeInteger(value)
}

function echo(text: string): string {
  const quoted = JSON.stringify(text)
  return quoted.length <= ECHO_CHARS_MAX ? quoted : `${quoted.slice(0, ECHO_CHARS_MAX - 1).toWellFormed()}…`
}
