import type { Reading } from '../ground.ts'
import type { DcqlQuery } from '../openid4vp/dcql/dcql.ts'
import type { Profile } from '../openid4vp/exchange/request-object.ts'
import type { Rule } from '../openid4vp/rules.ts'
import type { Localized } from '../words/templates.ts'
import { BUILTIN_TEMPLATES } from './builtin.ts'
import { listTemplates, type TemplateRow } from './store.ts'

/** A built-in template, or one of the tenant's own. */
export type KnownTemplate = {
  key: string
  isBuiltin: boolean
  title: Localized
  purpose: Localized | null
  /** Null: the operator's choice. */
  profile: Profile | null
  query: DcqlQuery
  /** The saved rules; null for the default. */
  rules: readonly Rule[] | null
  ageOver: number | null
  updatedAt: number | null
}

/** Built-in templates first. */
export async function readTemplates({ db }: Reading, tenantId: string): Promise<KnownTemplate[]> {
  return [...BUILTIN, ...(await listTemplates(db, tenantId)).map(own)]
}

export const BUILTIN: readonly KnownTemplate[] = [...BUILTIN_TEMPLATES.values()].map(
  ({ key, title, purpose, profile, query, ageOver }) => ({
    key,
    isBuiltin: true,
    title,
    purpose,
    profile: profile === 'haip' ? null : profile,
    query,
    rules: null,
    ageOver: ageOver ?? null,
    updatedAt: null,
  }),
)

const own = ({ key, title, query, profile, rules, purpose, updatedAt }: TemplateRow): KnownTemplate => ({
  key,
  isBuiltin: false,
  title: { en: title, de: title },
  purpose: purpose === null ? null : { en: purpose, de: purpose },
  profile,
  query,
  rules,
  ageOver: null,
  updatedAt,
})
