import { isoUtc } from '../time.ts'
import { askedBy, hintsFor } from './minimise.ts'
import type { KnownTemplate } from './read.ts'
import { effectiveRules } from './rules.ts'
import type { Template } from './schema.ts'

/** For callers of the API: what may be asked for. */
export function presentTemplate({ key, title, isBuiltin, query, rules }: KnownTemplate): Template {
  const asked = askedBy(query)
  return {
    key,
    title: title.en,
    builtin: isBuiltin,
    documents: [...new Set(asked.flatMap(({ types }) => types))],
    claims: [...new Set(asked.flatMap(({ claims }) => claims))],
    rules: [...effectiveRules(query, rules)],
  }
}

/** For its editor: as it was saved, with what follows from it. */
export const presentSavedTemplate = (template: KnownTemplate) => ({
  key: template.key,
  is_builtin: template.isBuiltin,
  title: template.title,
  purpose: template.purpose,
  profile: template.profile,
  query: { ...template.query },
  rules: template.rules && [...template.rules],
  effective_rules: [...effectiveRules(template.query, template.rules)],
  asks: askedBy(template.query),
  hints: hintsFor(template.query),
  age_over: template.ageOver,
  updated_at: template.updatedAt === null ? null : isoUtc(template.updatedAt),
})
