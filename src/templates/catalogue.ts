// Documents, the forms they have in wallets, and the claims of each form: for the built-in
// templates and for the builder of own ones.
import type { ClaimPath, CredentialQuery, DcqlQuery } from '../openid4vp/dcql/dcql.ts'
import { mergedName } from '../openid4vp/merge-claims.ts'

export const MDL = { doctype: 'org.iso.18013.5.1.mDL', namespace: 'org.iso.18013.5.1' }
export const PID = { doctype: 'eu.europa.ec.eudi.pid.1', namespace: 'eu.europa.ec.eudi.pid.1' }
export const GERMAN_PID = { doctype: 'eu.europa.ec.eudi.pid.1', namespace: 'eu.europa.ec.eudi.pid.de.1' }
export const PROOF_OF_AGE = { doctype: 'eu.europa.ec.av.1', namespace: 'eu.europa.ec.av.1' }
export const GOOGLE_ID_PASS = { doctype: 'com.google.wallet.idcard.1', namespace: 'org.iso.18013.5.1' }
// Both spellings are in use.
export const PHOTO_ID = { doctype: 'org.iso.23220.photoID.1', namespace: 'org.iso.23220.1' }
export const PHOTO_ID_LOWER_CASE = { doctype: 'org.iso.23220.photoid.1', namespace: 'org.iso.23220.1' }
export const PHOTO_ID_ELEMENTS = ['family_name', 'given_name', 'birth_date', 'portrait', 'expiry_date', 'issuing_country']

// Wallets may answer the base type with a national one (OpenID4VP 1.0 § B.3.5) but need not, so each is named.
export const PID_VCTS = ['urn:eudi:pid:1', 'urn:eudi:pid:de:1', 'urn:eudi:pid:it:1', 'urn:eudi:pid:nl:1']
export const PID_VCTS_WITH_AGE = ['urn:eudi:pid:1', 'urn:eudi:pid:de:1']
export const PID_VCTS_WITH_ADDRESS = ['urn:eudi:pid:1', 'urn:eudi:pid:de:1', 'urn:eudi:pid:nl:1']

/** PID rulebook § 3.1.2. */
const PID_PATHS: readonly ClaimPath[] = [
  ['family_name'],
  ['given_name'],
  ['birthdate'],
  ['place_of_birth'],
  ['nationalities', null],
  ['picture'],
  ['sex'],
  ['birth_family_name'],
  ['birth_given_name'],
  ['address', 'formatted'],
  ['address', 'street_address'],
  ['address', 'house_number'],
  ['address', 'postal_code'],
  ['address', 'locality'],
  ['address', 'region'],
  ['address', 'country'],
  ['email'],
  ['phone_number'],
  ['personal_administrative_number'],
  ['document_number'],
  ['date_of_issuance'],
  ['date_of_expiry'],
  ['issuing_authority'],
  ['issuing_country'],
]

/** PID rulebook § 4.1.1. */
const PID_ELEMENTS = [
  'family_name',
  'given_name',
  'birth_date',
  'place_of_birth',
  'nationality',
  'portrait',
  'sex',
  'family_name_birth',
  'given_name_birth',
  'resident_address',
  'resident_street',
  'resident_house_number',
  'resident_postal_code',
  'resident_city',
  'resident_state',
  'resident_country',
  'email_address',
  'mobile_phone_number',
  'personal_administrative_number',
  'document_number',
  'issuance_date',
  'expiry_date',
  'issuing_authority',
  'issuing_country',
]

/** ISO/IEC 18013-5 § 7.2.1. */
const MDL_ELEMENTS = [
  'family_name',
  'given_name',
  'birth_date',
  'nationality',
  'portrait',
  'sex',
  'driving_privileges',
  'resident_address',
  'resident_postal_code',
  'resident_city',
  'resident_state',
  'resident_country',
  'document_number',
  'issue_date',
  'expiry_date',
  'issuing_authority',
  'issuing_country',
  'un_distinguishing_sign',
]

export const DOCUMENTS = ['proof_of_age', 'pid', 'mdl', 'photo_id', 'id_pass'] as const
export type DocumentKey = (typeof DOCUMENTS)[number]

/** One of the credential queries that ask for a document. */
export type Form = {
  /** The id of its credential query. */
  id: string
  document: DocumentKey
  /** The types it may have, given the names of the requested claims. */
  types: (claims: readonly string[]) => readonly string[]
  format: CredentialQuery['format']
  /** Paths by merged name. */
  paths: ReadonlyMap<string, ClaimPath>
  /** Undefined where the document has no ages. */
  ageAt?: (age: number) => ClaimPath
  /** Used only for queries with ages, or only for those without. */
  only?: 'ages' | 'no ages'
}

type MdocOptions = Pick<Form, 'only'> & { ages?: { namespace: string } }

const mdocForm = (
  id: string,
  document: DocumentKey,
  { doctype, namespace }: { doctype: string; namespace: string },
  elements: readonly string[],
  { ages, only }: MdocOptions = {},
): Form => ({
  id,
  document,
  types: () => [doctype],
  format: 'mso_mdoc',
  paths: named(
    'mso_mdoc',
    elements.map(element => [namespace, element]),
  ),
  ...(ages && { ageAt: age => [ages.namespace, `age_over_${age}`] }),
  ...(only && { only }),
})

const named = (format: Form['format'], paths: readonly ClaimPath[]): Form['paths'] =>
  new Map(paths.map(path => [mergedName(format, path), path]))

/** Least data first: wallets are offered them in this order. */
export const FORMS: readonly Form[] = [
  mdocForm('av', 'proof_of_age', PROOF_OF_AGE, [], { ages: PROOF_OF_AGE }),
  {
    id: 'pid_sd',
    document: 'pid',
    types: claims => PID_VCTS.filter(vct => claims.every(claim => vctsWith(claim).includes(vct))),
    format: 'dc+sd-jwt',
    paths: named('dc+sd-jwt', PID_PATHS),
    ageAt: age => ['age_equal_or_over', String(age)],
  },
  mdocForm('pid_mdoc', 'pid', PID, PID_ELEMENTS, { only: 'no ages' }),
  mdocForm('pid_de', 'pid', PID, PID_ELEMENTS, { ages: GERMAN_PID, only: 'ages' }),
  mdocForm('mdl', 'mdl', MDL, MDL_ELEMENTS, { ages: MDL }),
  mdocForm('photoid', 'photo_id', PHOTO_ID, PHOTO_ID_ELEMENTS, { ages: PHOTO_ID }),
  mdocForm('photoid_lc', 'photo_id', PHOTO_ID_LOWER_CASE, PHOTO_ID_ELEMENTS, { ages: PHOTO_ID_LOWER_CASE }),
  mdocForm('idpass', 'id_pass', GOOGLE_ID_PASS, PHOTO_ID_ELEMENTS),
  // Older PIDs have the age among the other elements.
  mdocForm('pid_old', 'pid', PID, PID_ELEMENTS, { ages: PID, only: 'ages' }),
]

function vctsWith(claim: string): readonly string[] {
  if (claim.startsWith('age_over_')) return PID_VCTS_WITH_AGE
  return claim.startsWith('address.') ? PID_VCTS_WITH_ADDRESS : PID_VCTS
}

/** The merged claims of a document but ages, in the order of its first form that has them. */
export const claimsOf = (document: DocumentKey): string[] => [
  ...new Set(FORMS.filter(form => form.document === document).flatMap(({ paths }) => [...paths.keys()])),
]

export const formatsOfDocument = (document: DocumentKey): Form['format'][] => [
  ...new Set(FORMS.filter(form => form.document === document).map(({ format }) => format)),
]

export const hasAges = (document: DocumentKey): boolean =>
  FORMS.some(form => form.document === document && form.ageAt !== undefined)

export function oneOf(...credentials: CredentialQuery[]): DcqlQuery {
  return { credentials, credential_sets: [{ options: credentials.map(({ id }) => [id]) }] }
}

export function mdoc(id: string, document: { doctype: string; namespace: string }, elements: readonly string[]): CredentialQuery {
  return {
    id,
    format: 'mso_mdoc',
    meta: { doctype_value: document.doctype },
    claims: elements.map(element => ({ path: [document.namespace, element], intent_to_retain: false })),
  }
}

export function sdJwt(id: string, vcts: readonly string[], paths: readonly ClaimPath[]): CredentialQuery {
  return { id, format: 'dc+sd-jwt', meta: { vct_values: vcts }, claims: paths.map(path => ({ path })) }
}
