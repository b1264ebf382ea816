// The builder: documents and claims become a query, and a query becomes them again where it asks
// every accepted document for the same claims and for nothing else.
import { canonicalJson } from '../base/hash.ts'
import type { ClaimPath, CredentialQuery, DcqlQuery } from '../openid4vp/dcql/dcql.ts'
import { ageOf } from '../openid4vp/dcql/match.ts'
import { mergedName } from '../openid4vp/merge-claims.ts'
import { DOCUMENTS, type DocumentKey, FORMS, type Form, oneOf } from './catalogue.ts'

/** The documents to accept, and the merged claims to ask each of them for. */
export type Choice = { documents: DocumentKey[]; claims: string[] }

export type BuiltQuery = {
  /** Null while no chosen document has all chosen claims. */
  query: DcqlQuery | null
  /** Chosen documents that are not asked for, and the chosen claims that they cannot have. */
  leftOut: { document: DocumentKey; claims: string[] }[]
}

/** Every document of the query has all claims: whatever is presented, none is missing. */
export function buildQuery({ documents, claims }: Choice): BuiltQuery {
  const hasAges = claims.some(isAge)
  const forms = FORMS.filter(({ only }) => only === undefined || (only === 'ages') === hasAges)
  const fitting = claims.length === 0 ? [] : forms.filter(form => missingIn(form, claims).length === 0)
  const credentials = fitting.filter(({ document }) => documents.includes(document)).map(form => queryOf(form, claims))
  return {
    query: credentials.length === 0 ? null : oneOf(...credentials),
    leftOut: DOCUMENTS.filter(document => documents.includes(document)).flatMap(document => {
      const own = forms.filter(form => form.document === document)
      const best = own.map(form => missingIn(form, claims)).toSorted((a, b) => a.length - b.length)[0] ?? claims
      return best.length === 0 ? [] : [{ document, claims: best }]
    }),
  }
}

const isAge = (claim: string): boolean => ageOf([claim]) !== undefined

/** A form without any type has none of the claims together. */
function missingIn(form: Form, claims: readonly string[]): string[] {
  const missing = claims.filter(claim => pathOf(form, claim) === undefined)
  return missing.length === 0 && form.types(claims).length === 0 ? [...claims] : missing
}

function pathOf({ paths, ageAt }: Form, claim: string): ClaimPath | undefined {
  const age = ageOf([claim])
  return age === undefined ? paths.get(claim) : ageAt?.(age)
}

function queryOf(form: Form, claims: readonly string[]): CredentialQuery {
  const { id, format } = form
  const types = form.types(claims)
  const paths = inOrder(form, claims).map(claim => pathOf(form, claim)!)
  return format === 'mso_mdoc'
    ? {
        id,
        format,
        meta: { doctype_value: types[0]! },
        claims: paths.map(path => ({ path, intent_to_retain: false })),
      }
    : { id, format, meta: { vct_values: types }, claims: paths.map(path => ({ path })) }
}

/** Ages first, then as the document has them. */
function inOrder({ paths }: Form, claims: readonly string[]): string[] {
  const names = [...paths.keys()]
  return [...claims.filter(isAge), ...names.filter(name => claims.includes(name))]
}

/** Undefined for a query that the builder cannot express. */
export function readChoice(query: DcqlQuery): Choice | undefined {
  const [first] = query.credentials
  if (!first || !isOneOfAll(query)) return undefined
  const documents = DOCUMENTS.filter(document => query.credentials.some(credential => isOf(credential, document)))
  const claims = [...new Set((first.claims ?? []).map(({ path }) => mergedName(first.format, path)))]
  const { query: again } = buildQuery({ documents, claims })
  return again && meaningOf(again) === meaningOf(query) ? { documents, claims } : undefined
}

/** Any one of the credentials is enough. */
function isOneOfAll({ credentials, credential_sets: sets, ...rest }: DcqlQuery): boolean {
  if (Object.keys(rest).length > 0) return false
  if (!sets) return credentials.length === 1
  const [set, second] = sets
  const options = set?.options.map(option => (option.length === 1 ? option[0] : undefined)) ?? []
  if (!set || second || Object.keys(set).some(member => member !== 'options')) return false
  return options.length === credentials.length && credentials.every(({ id }) => options.includes(id))
}

const isOf = (credential: CredentialQuery, document: DocumentKey): boolean =>
  FORMS.some(
    form =>
      form.document === document &&
      form.format === credential.format &&
      typesOf(credential).every(type => form.types([]).includes(type)),
  )

export const typesOf = (query: CredentialQuery): readonly string[] =>
  query.format === 'mso_mdoc' ? [query.meta.doctype_value] : query.meta.vct_values

/** Equal for queries that differ in ids and in order only. */
const meaningOf = ({ credentials }: DcqlQuery): string => canonicalJson(credentials.map(credentialMeaning).toSorted())

function credentialMeaning(query: CredentialQuery): string {
  const { id, meta, claims = [], ...rest } = query
  return canonicalJson({
    ...rest,
    meta: { ...meta, ...(query.format === 'dc+sd-jwt' && { vct_values: [...query.meta.vct_values].sort() }) },
    claims: claims.map(({ intent_to_retain = false, ...claim }) => canonicalJson({ ...claim, intent_to_retain })).sort(),
  })
}
