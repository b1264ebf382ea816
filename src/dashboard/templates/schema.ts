import { Type } from '@sinclair/typebox'
import { Text, Timestamp } from '../../http/schema.ts'
import { Environment, Exactly, ListOf, Nullable, OneOf } from '../../http/wire.ts'
import { STEPS_MAX } from '../../templates/build.ts'
import { DOCUMENTS } from '../../templates/catalogue.ts'
import { FORMATS } from '../../templates/forms.ts'
import {
  Template as ListedTemplate,
  Rule,
  TemplateKey,
  TemplatePurpose,
  TemplateTitle,
  TemplateTranslations,
} from '../../templates/schema.ts'

const Format = OneOf(...FORMATS)

/** One credential of a query, with the names of merged claims. */
const Asked = Exactly({
  credential: Type.String(),
  format: Format,
  types: Type.Array(Type.String()),
  /** Empty when the query names none: then the wallet sends everything that it cannot withhold. */
  claims: Type.Array(Type.String()),
})

/** A place where the query could ask for less. `claim` is the merged name. */
export const Hint = Exactly({
  code: OneOf('age_instead_of_birthdate', 'portrait', 'identifier', 'many_claims', 'whole_document'),
  credential: Type.String(),
  claim: Type.Optional(Type.String()),
})
export type Hint = typeof Hint.static

const Query = Type.Record(Type.String(), Type.Unknown())
const Profile = OneOf('haip', 'plain', 'eu-av')
export const Localized = Exactly({ en: Type.String(), de: Type.String() })

export const Template = Exactly({
  ...ListedTemplate.properties,
  /** Shown to the holder when a verification gives none. */
  purpose: Nullable(Type.String()),
  /** Null for the operator's default. */
  profile: Nullable(Profile),
  query: Query,
  localized: Exactly({ title: Localized, purpose: Nullable(Localized) }),
  translations: Nullable(TemplateTranslations),
  /** Null for the default. */
  saved_rules: Nullable(Type.Array(Rule)),
  asks: Type.Array(Asked),
  hints: Type.Array(Hint),
  /** The age in years that a built-in template proves. */
  age_over: Nullable(Type.Integer()),
  /** Names of the template in one form. */
  aliases: Type.Array(Exactly({ key: Type.String(), format: Format })),
  updated_at: Nullable(Timestamp),
})
export type Template = typeof Template.static
export const TemplateList = ListOf(Template)

export const TemplatePath = Type.Object({
  tenant: Type.String({ minLength: 1, maxLength: 64 }),
  key: TemplateKey,
})

export const SaveTemplate = Exactly({
  title: TemplateTitle,
  query: Query,
  /** Checked by templates/rules.ts, which gives the reason; null or absent for the default. */
  rules: Type.Optional(Type.Unknown()),
  purpose: Type.Optional(Nullable(TemplatePurpose)),
  translations: Type.Optional(Nullable(TemplateTranslations)),
  profile: Type.Optional(Nullable(Profile)),
  /** `updated_at` of the template that was edited, null for a new one; absent saves over anything. */
  seen_at: Type.Optional(Nullable(Timestamp)),
})
export type SaveTemplate = typeof SaveTemplate.static

const DocumentKey = OneOf(...DOCUMENTS)
const ClaimNames = (charsMax = 64) => Type.Array(Text({ minLength: 1, maxLength: charsMax }), { maxItems: 50, uniqueItems: true })

/** Documents and claims that the builder offers. */
export const Catalogue = Exactly({
  documents: Type.Array(
    Exactly({
      key: DocumentKey,
      /** Doctypes and vcts. */
      types: Type.Array(Type.String()),
      /** Merged names, without ages. */
      claims: Type.Array(Type.String()),
      /** True if the document can prove any age. */
      ages: Type.Boolean(),
      formats: Type.Array(Format),
    }),
  ),
})
export type Catalogue = typeof Catalogue.static

const Step = Exactly({
  documents: Type.Array(DocumentKey, { maxItems: DOCUMENTS.length, uniqueItems: true }),
  claims: ClaimNames(),
  /** The only format of a document that has both; null for either. */
  format: Nullable(Format),
})
export type Step = typeof Step.static

/** First the documents of one step, else those of the next. */
export const Choice = Exactly({ steps: Type.Array(Step, { minItems: 1, maxItems: STEPS_MAX }) })
export type Choice = typeof Choice.static

export const BuiltQuery = Exactly({
  /** Null while no chosen document has all chosen claims. */
  query: Nullable(Query),
  left_out: Type.Array(Exactly({ step: Type.Integer(), document: DocumentKey, claims: Type.Array(Type.String()) })),
})
export type BuiltQuery = typeof BuiltQuery.static

/** Tills and verifications that use a template. */
export const TemplateUse = Exactly({
  devices: Type.Array(Exactly({ id: Type.String(), name: Type.String(), environment: Environment })),
  /** Latest use in each environment, by verifications that still exist. */
  last_used_at: Exactly({ test: Nullable(Timestamp), live: Nullable(Timestamp) }),
})
export type TemplateUse = typeof TemplateUse.static

export const CheckTemplate = Exactly({ query: Type.Unknown(), rules: Type.Optional(Type.Unknown()) })
export type CheckTemplate = typeof CheckTemplate.static

const TemplateProblem = Exactly({ path: Type.String(), reason: Type.String() })

/** Each problem is the first one found; its path is relative to the query or the rules. */
export const TemplateCheck = Exactly({
  problem: Nullable(TemplateProblem),
  rules_problem: Nullable(TemplateProblem),
  effective_rules: Type.Array(Rule),
  asks: Type.Array(Asked),
  hints: Type.Array(Hint),
  /** The query as the builder expresses it; null when it cannot. */
  choice: Nullable(Choice),
})
export type TemplateCheck = typeof TemplateCheck.static
