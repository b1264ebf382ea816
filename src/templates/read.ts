import type { Reading } from '../ground.ts'
import type { DcqlQuery } from '../openid4vp/dcql/dcql.ts'
import type { Profile } from '../openid4vp/exchange/request-object.ts'
import type { Rule } from '../openid4vp/rules.ts'
import { inFormat, type Localized, type Translations, titleIn } from '../words/templates.ts'
import { BUILTIN_TEMPLATES } from './builtin.ts'
import { ALIASES, type Alias } from './forms.ts'
import { listTemplates, type TemplateRow } from './store.ts'

/** A built-in template, or one of the tenant's own. */
export type KnownTemplate = {
  key: string
  isBuiltin: boolean
  /** In the shop's language; in English for a built-in one. */
  plain: { title: string; purpose: string | null }
  title: Localized
  purpose: Localized | null
  translations: Translations | null
  /** Null: the operator's choice. */
  profile: Profile | null
  query: DcqlQuery
  /** The saved rules; null for the default. */
  rules: readonly Rule[] | null
  ageOver: number | null
  updatedAt: number | null
  /** Names of the template in one form. */
  aliases: readonly Alias[]
  /** The template that this is an alias of. */
  aliasOf: string | null
}

/** Built-in templates first. */
export async function readTemplates({ db }: Pick<Reading, 'db'>, tenantId: string): Promise<KnownTemplate[]> {
  const rows = await listTemplates(db, tenantId)
  const taken = new Set(rows.map(({ key }) => key))
  const builtin = BUILTIN.map(each => ({ ...each, aliases: each.aliases.filter(({ key }) => !taken.has(key)) }))
  return [...builtin, ...rows.map(own)]
}

/** Every name that a creation may give: after each template its aliases. */
export const withAliases = (templates: readonly KnownTemplate[]): KnownTemplate[] =>
  templates.flatMap(template => [
    template,
    ...template.aliases.map(({ key, format, query }) => {
      const title = inFormat(template.title, format)
      return {
        ...template,
        key,
        query,
        plain: { ...template.plain, title: title.en },
        title,
        aliases: [],
        aliasOf: template.key,
      }
    }),
  ])

export const BUILTIN: readonly KnownTemplate[] = [...BUILTIN_TEMPLATES.values()].map(
  ({ key, title, purpose, profile, query, ageOver }) => ({
    key,
    isBuiltin: true,
    plain: { title: title.en, purpose: purpose.en },
    title,
    purpose,
    translations: null,
    profile: profile === 'haip' ? null : profile,
    query,
    rules: null,
    ageOver: ageOver ?? null,
    updatedAt: null,
    aliases: [...ALIASES.values()].filter(({ template }) => template.key === key),
    aliasOf: null,
  }),
)

const own = ({ key, title, query, profile, rules, purpose, translations, updatedAt }: TemplateRow): KnownTemplate => ({
  key,
  isBuiltin: false,
  plain: { title, purpose },
  title: titleIn(title, translations),
  purpose: purpose === null ? null : { en: translations?.en?.purpose ?? purpose, de: translations?.de?.purpose ?? purpose },
  translations,
  profile,
  query,
  rules,
  ageOver: null,
  updatedAt,
  aliases: [],
  aliasOf: null,
})
