// The built-in templates. Options are ordered, least data first; no `values`, because matching by
// value may reveal the answer and is only best effort: ages are decided on the server, by the
// default rules. No `claim_sets`: wallets' support for them is patchy.
import type { DcqlQuery } from '../openid4vp/dcql/dcql.ts'
import type { Profile } from '../openid4vp/exchange/request-object.ts'
import { type Localized, TEMPLATE_WORDS } from '../words/templates.ts'
import {
  GERMAN_PID,
  GOOGLE_ID_PASS,
  MDL,
  mdoc,
  oneOf,
  PHOTO_ID,
  PHOTO_ID_ELEMENTS,
  PHOTO_ID_LOWER_CASE,
  PID,
  PID_VCTS,
  PID_VCTS_WITH_ADDRESS,
  PID_VCTS_WITH_AGE,
  PROOF_OF_AGE,
  sdJwt,
} from './catalogue.ts'

/**
 * The part of a result to keep after the check: only that it passed, the claims, or the claims
 * without the portrait, which is compared with a face and then deleted.
 */
type Retention = 'outcome' | 'claims' | 'claims_without_portrait'

/** Photos of a face, by their names in documents of either form. */
export const PORTRAITS = ['portrait', 'picture']

export type Template = {
  readonly key: keyof typeof TEMPLATE_WORDS
  readonly title: Localized
  readonly purpose: Localized
  readonly profile: Profile
  readonly query: DcqlQuery
  /** The age in years that is the only claim of a result: a birth date is not passed on. Such templates ask for no other age. */
  readonly ageOver?: number
  readonly retention: Retention
}

type Draft = Omit<Template, 'title' | 'purpose' | 'profile'> & { profile?: Profile }

export const BUILTIN_TEMPLATES: ReadonlyMap<string, Template> = catalogue([
  ageOver(16),
  ageOver(18),
  ageOver(21),
  ageOver(65),
  {
    key: 'eu_av_age_18',
    profile: 'eu-av',
    query: oneOf(mdoc('proof_of_age', PROOF_OF_AGE, ['age_over_18'])),
    ageOver: 18,
    retention: 'outcome',
  },
  {
    key: 'age_over_18_photo',
    query: oneOf(
      mdoc('mdl', MDL, ['age_over_18', 'portrait']),
      mdoc('photoid', PHOTO_ID, ['age_over_18', 'portrait']),
      mdoc('photoid_lc', PHOTO_ID_LOWER_CASE, ['age_over_18', 'portrait']),
      sdJwt('pid_sd', PID_VCTS_WITH_AGE, [['age_equal_or_over', '18'], ['picture']]),
    ),
    ageOver: 18,
    retention: 'outcome',
  },
  {
    key: 'age_over_18_or_birthdate',
    query: oneOf(
      mdoc('av', PROOF_OF_AGE, ['age_over_18']),
      sdJwt('pid_sd', PID_VCTS_WITH_AGE, [['age_equal_or_over', '18']]),
      mdoc('mdl', MDL, ['age_over_18']),
      sdJwt('dob_sd', PID_VCTS, [['birthdate']]),
      mdoc('dob_mdoc', PID, ['birth_date']),
    ),
    ageOver: 18,
    retention: 'outcome',
  },
  {
    key: 'identity_basic',
    query: oneOf(
      sdJwt('pid_sd', PID_VCTS, [['family_name'], ['given_name'], ['birthdate']]),
      mdoc('pid_mdoc', PID, ['family_name', 'given_name', 'birth_date']),
      mdoc('mdl', MDL, ['family_name', 'given_name', 'birth_date']),
    ),
    retention: 'claims',
  },
  {
    // The mandatory set of CIR (EU) 2024/2977 without the portrait, and who issued it.
    key: 'pid_mandatory',
    query: oneOf(
      sdJwt('pid_sd', PID_VCTS, [
        ['family_name'],
        ['given_name'],
        ['birthdate'],
        ['place_of_birth'],
        ['nationalities', null],
        ['issuing_authority'],
        ['issuing_country'],
      ]),
      mdoc('pid_mdoc', PID, [
        'family_name',
        'given_name',
        'birth_date',
        'place_of_birth',
        'nationality',
        'issuing_authority',
        'issuing_country',
      ]),
    ),
    retention: 'claims',
  },
  {
    key: 'address',
    query: oneOf(
      sdJwt('pid_sd', PID_VCTS_WITH_ADDRESS, [
        ['family_name'],
        ['given_name'],
        ['address', 'street_address'],
        ['address', 'postal_code'],
        ['address', 'locality'],
        ['address', 'country'],
      ]),
      mdoc('pid_mdoc', PID, [
        'family_name',
        'given_name',
        'resident_street',
        'resident_postal_code',
        'resident_city',
        'resident_country',
      ]),
      mdoc('mdl', MDL, [
        'family_name',
        'given_name',
        'resident_address',
        'resident_postal_code',
        'resident_city',
        'resident_country',
      ]),
    ),
    retention: 'claims',
  },
  {
    key: 'country',
    query: oneOf(
      sdJwt('pid_sd', PID_VCTS, [['nationalities', null]]),
      mdoc('pid_mdoc', PID, ['nationality']),
      mdoc('mdl', MDL, ['issuing_country']),
    ),
    retention: 'claims',
  },
  {
    // mDL only: the EU mDL rulebook forbids one as an SD-JWT VC.
    key: 'driving_licence',
    query: oneOf(
      mdoc('mdl', MDL, [
        'family_name',
        'given_name',
        'birth_date',
        'issue_date',
        'expiry_date',
        'issuing_country',
        'issuing_authority',
        'document_number',
        'portrait',
        'driving_privileges',
        'un_distinguishing_sign',
      ]),
    ),
    retention: 'claims_without_portrait',
  },
  {
    key: 'may_drive',
    query: oneOf(mdoc('mdl', MDL, ['driving_privileges', 'expiry_date', 'portrait'])),
    retention: 'claims_without_portrait',
  },
  {
    key: 'photo_id',
    query: oneOf(
      mdoc('photoid', PHOTO_ID, PHOTO_ID_ELEMENTS),
      mdoc('photoid_lc', PHOTO_ID_LOWER_CASE, PHOTO_ID_ELEMENTS),
      mdoc('idpass', GOOGLE_ID_PASS, PHOTO_ID_ELEMENTS),
      sdJwt('pid_sd', PID_VCTS, [['family_name'], ['given_name'], ['birthdate'], ['picture'], ['issuing_country']]),
    ),
    retention: 'claims_without_portrait',
  },
])

function ageOver(age: 16 | 18 | 21 | 65): Draft {
  const element = `age_over_${age}` as const
  return {
    key: element,
    query: oneOf(
      mdoc('av', PROOF_OF_AGE, [element]),
      sdJwt('pid_sd', PID_VCTS_WITH_AGE, [['age_equal_or_over', String(age)]]),
      mdoc('pid_de', GERMAN_PID, [element]),
      mdoc('mdl', MDL, [element]),
      mdoc('photoid', PHOTO_ID, [element]),
      mdoc('photoid_lc', PHOTO_ID_LOWER_CASE, [element]),
      mdoc('pid_old', PID, [element]),
    ),
    ageOver: age,
    retention: 'outcome',
  }
}

/** With its words; the profile is HAIP where none is named. */
function catalogue(drafts: readonly Draft[]): ReadonlyMap<string, Template> {
  const templates = drafts.map(draft => ({ profile: 'haip' as const, ...draft, ...TEMPLATE_WORDS[draft.key] }))
  return new Map(templates.map(template => [template.key, deepFreeze(template)]))
}

function deepFreeze<T extends object>(value: T): T {
  for (const child of Object.values(value)) if (typeof child === 'object' && child !== null) deepFreeze(child)
  return Object.freeze(value)
}
