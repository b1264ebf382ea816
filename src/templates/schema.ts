import { type TProperties, Type } from '@sinclair/typebox'
import { Text, VisibleText } from '../http/schema.ts'
import type { Language } from '../words/languages.ts'

const KEY_PATTERN = '^[a-z0-9_]{1,64}$'

/** The name of a tenant's own template; part of requests, paths and commands. */
export const TemplateKey = Type.String({ pattern: KEY_PATTERN })

export const isTemplateKey = (text: string): boolean => new RegExp(KEY_PATTERN).test(text)

export const TITLE_CHARS_MAX = 100
export const PURPOSE_CHARS_MAX = 300
export const TemplateTitle = VisibleText({ minLength: 1, maxLength: TITLE_CHARS_MAX })
export const TemplatePurpose = VisibleText({ minLength: 1, maxLength: PURPOSE_CHARS_MAX })

const Translation = Type.Object(
  { title: Type.Optional(TemplateTitle), purpose: Type.Optional(TemplatePurpose) },
  { additionalProperties: false },
)
/** Title and purpose in languages beside the shop's. */
export const TemplateTranslations = Type.Partial(
  Type.Object(
    {
      en: Translation,
      de: Translation,
      es: Translation,
      fr: Translation,
      it: Translation,
      nl: Translation,
      pl: Translation,
    } satisfies Record<Language, unknown>,
    { additionalProperties: false },
  ),
)

export const RULES_MAX = 50
const ALLOWED_MAX = 100
const CHARS_MAX = 256
const AGE_MAX = 120

const Exactly = <Members extends TProperties>(members: Members, description: string) =>
  Type.Object(members, { additionalProperties: false, description })
const ClaimName = Text({
  minLength: 1,
  maxLength: CHARS_MAX,
  description: 'A name of the merged claims; dots lead inside objects.',
  examples: ['age_over_18'],
})

export const IsRule = Exactly({ claim: ClaimName, is: Type.Boolean() }, 'The claim is exactly this boolean.')
export const OneOfRule = Exactly(
  {
    claim: ClaimName,
    one_of: Type.Array(Type.Union([Text({ maxLength: CHARS_MAX }), Type.Number(), Type.Boolean()]), {
      minItems: 1,
      maxItems: ALLOWED_MAX,
    }),
  },
  'The claim, or one element of it where it is a list, is among these values.',
)
export const AgeRule = Exactly(
  { claim: Type.Literal('birthdate'), age_at_least: Type.Integer({ minimum: 1, maximum: AGE_MAX }) },
  'The birth date shows this age in years, by the calendar in UTC.',
)
export const Rule = Type.Union([IsRule, OneOfRule, AgeRule], { $id: 'Rule' })

const Format = Type.Union([Type.Literal('dc+sd-jwt'), Type.Literal('mso_mdoc')])
export const Formats = (description: string) =>
  Type.Array(Format, { minItems: 1, maxItems: 2, uniqueItems: true, description, examples: [['mso_mdoc']] })

export const Template = Type.Object(
  {
    key: Text({ minLength: 1, maxLength: 64, description: 'Goes into `template` of a creation.', examples: ['age_over_18'] }),
    title: Type.String({ description: 'In English for built-in templates.' }),
    builtin: Type.Boolean(),
    formats: Formats('The forms in which its documents may be presented; a creation may ask for one of them.'),
    documents: Type.Array(Type.String(), { description: 'The types (vct or doctype) that may be presented.' }),
    claims: Type.Array(Type.String(), { description: 'The merged claims that it may ask for.' }),
    rules: Type.Array(Rule, {
      description:
        'What the claims must meet, else the session fails with claim_not_satisfied. Templates without rules of their own show ' +
        'the default: every age that is asked for must be reached.',
    }),
  },
  { additionalProperties: false, $id: 'Template' },
)
export type Template = typeof Template.static

export const TemplateList = Type.Object({ data: Type.Array(Template) }, { additionalProperties: false, $id: 'TemplateList' })
