// The builder: documents and claims become a query, and a query becomes them again where each of its documents is enough alone.
import { canonicalJson } from '../base/hash.ts'
import type { ClaimPath, CredentialQuery, DcqlQuery } from '../openid4vp/dcql/dcql.ts'
import { ageOf } from '../openid4vp/dcql/match.ts'
import { mergedName } from '../openid4vp/merge-claims.ts'
import type { Format } from '../words/templates.ts'
import { DOCUMENTS, type DocumentKey, FORMS, type Form, formatsOfDocument, oneOf } from './catalogue.ts'

/** Documents to accept, and the merged claims to ask each of them for. */
export type Step = {
  documents: DocumentKey[]
  claims: string[]
  /** The only format of a document that has both; null for either. */
  format: Format | null
}

/** First the documents of one step, else those of the next. */
export type Choice = { steps: Step[] }

export const STEPS_MAX = 10

export type BuiltQuery = {
  /** Null while no chosen document has all chosen claims. */
  query: DcqlQuery | null
  /** Chosen documents that are not asked for, and the chosen claims that they cannot have. */
  leftOut: { step: number; document: DocumentKey; claims: string[] }[]
}

/** Every document of a step has all its claims: whatever is presented, none is missing. */
export function buildQuery({ steps }: Choice): BuiltQuery {
  const credentials = withOwnIds(steps.flatMap(credentialsOf))
  return {
    query: credentials.length === 0 ? null : oneOf(...credentials),
    leftOut: steps.flatMap((step, index) => leftOutOf(step).map(each => ({ step: index, ...each }))),
  }
}

function credentialsOf(step: Step): CredentialQuery[] {
  const { claims } = step
  const fitting = claims.length === 0 ? [] : formsFor(step).filter(form => missingIn(form, claims).length === 0)
  return fitting.map(form => queryOf(form, claims))
}

/** Those of the chosen documents. */
function formsFor({ documents, claims, format }: Step): Form[] {
  const kind = claims.some(isAge) ? 'ages' : 'no ages'
  return FORMS.filter(
    form =>
      documents.includes(form.document) &&
      (form.only ?? kind) === kind &&
      (format === null || form.format === format || !formatsOfDocument(form.document).includes(format)),
  )
}

/** A later step may ask the same document for something else. */
function withOwnIds(credentials: readonly CredentialQuery[]): CredentialQuery[] {
  const taken = new Map<string, number>()
  return credentials.map(credential => {
    const { id } = credential
    const count = (taken.get(id) ?? 0) + 1
    taken.set(id, count)
    return count === 1 ? credential : { ...credential, id: `${id}_${count}` }
  })
}

function leftOutOf(step: Step): { document: DocumentKey; claims: string[] }[] {
  const { documents, claims } = step
  const forms = formsFor(step)
  return DOCUMENTS.filter(document => documents.includes(document)).flatMap(document => {
    const own = forms.filter(form => form.document === document)
    const best = own.map(form => missingIn(form, claims)).toSorted((a, b) => a.length - b.length)[0] ?? claims
    return best.length === 0 ? [] : [{ document, claims: best }]
  })
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

/** The claims in the order in which they were chosen. */
function queryOf(form: Form, claims: readonly string[]): CredentialQuery {
  const { id, format } = form
  const types = form.types(claims)
  const paths = claims.map(claim => pathOf(form, claim)!)
  return format === 'mso_mdoc'
    ? {
        id,
        format,
        meta: { doctype_value: types[0]! },
        claims: paths.map(path => ({ path, intent_to_retain: false })),
      }
    : { id, format, meta: { vct_values: types }, claims: paths.map(path => ({ path })) }
}

/** Undefined for a query that the builder cannot express. */
export function readChoice(query: DcqlQuery): Choice | undefined {
  const asked = inTurn(query)
  const steps: Step[] = []
  for (let at = 0; asked && at < asked.length; ) {
    const next = steps.length < STEPS_MAX && longestStep(asked.slice(at, at + FORMS.length))
    if (!next) return undefined
    steps.push(next.step)
    at += next.length
  }
  return asked && { steps }
}

/** The credentials in the order in which wallets are offered them. Undefined if more than one is needed, or none. */
function inTurn({ credentials, credential_sets: sets, ...rest }: DcqlQuery): CredentialQuery[] | undefined {
  if (Object.keys(rest).length > 0) return undefined
  if (!sets) return credentials.length === 1 ? [...credentials] : undefined
  const [set, second] = sets
  if (!set || second || Object.keys(set).some(member => member !== 'options')) return undefined
  const ids = set.options.map(option => (option.length === 1 ? option[0] : undefined))
  const found = ids.flatMap(id => credentials.find(credential => credential.id === id) ?? [])
  return found.length === ids.length && new Set(found).size === credentials.length && found.length === credentials.length
    ? found
    : undefined
}

function longestStep(asked: readonly CredentialQuery[]): { step: Step; length: number } | undefined {
  for (let length = asked.length; length > 0; length--) {
    const step = stepOf(asked.slice(0, length))
    if (step) return { step, length }
  }
}

const FORMATS_OF_STEP = [null, 'dc+sd-jwt', 'mso_mdoc'] as const

/** The step that builds exactly these. */
function stepOf(asked: readonly CredentialQuery[]): Step | undefined {
  const documents = DOCUMENTS.filter(document => asked.some(credential => isOf(credential, document)))
  const claims = mergedClaims(asked[0])
  const wanted = meaningOf(asked)
  const format = FORMATS_OF_STEP.find(each => meaningOf(credentialsOf({ documents, claims, format: each })) === wanted)
  return format === undefined ? undefined : { documents, claims, format }
}

const mergedClaims = (query: CredentialQuery | undefined): string[] => [
  ...new Set((query?.claims ?? []).map(({ path }) => mergedName(query!.format, path))),
]

const isOf = (credential: CredentialQuery, document: DocumentKey): boolean =>
  FORMS.some(
    form =>
      form.document === document &&
      form.format === credential.format &&
      typesOf(credential).every(type => form.types([]).includes(type)),
  )

export const typesOf = (query: CredentialQuery): readonly string[] =>
  query.format === 'mso_mdoc' ? [query.meta.doctype_value] : query.meta.vct_values

/** Equal for those that differ in ids, and in the order of claims and types, only. */
const meaningOf = (credentials: readonly CredentialQuery[]): string => canonicalJson(credentials.map(credentialMeaning))

function credentialMeaning(query: CredentialQuery): string {
  const { id, meta, claims = [], ...rest } = query
  return canonicalJson({
    ...rest,
    meta: { ...meta, ...(query.format === 'dc+sd-jwt' && { vct_values: [...query.meta.vct_values].sort() }) },
    claims: claims.map(({ intent_to_retain = false, ...claim }) => canonicalJson({ ...claim, intent_to_retain })).sort(),
  })
}
