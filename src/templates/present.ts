import { isoUtc } from '../base/time.ts'
import { formatsOf } from './forms.ts'
import { askedBy, hintsFor } from './minimise.ts'
import type { KnownTemplate } from './read.ts'
import { effectiveRules } from './rules.ts'

/** `title`, `purpose` and `rules` as the API has them; `localized`, `translations`, `saved_rules` and `aliases` are for the dashboard. */
export function presentTemplate(template: KnownTemplate) {
  const { key, isBuiltin, plain, title, purpose, translations, profile, query, rules, ageOver, updatedAt, aliases } = template
  const asks = askedBy(query)
  return {
    key,
    title: plain.title,
    builtin: isBuiltin,
    formats: formatsOf(query),
    documents: [...new Set(asks.flatMap(({ types }) => types))],
    claims: [...new Set(asks.flatMap(({ claims }) => claims))],
    rules: [...effectiveRules(query, rules)],
    purpose: plain.purpose,
    profile,
    query: { ...query },
    localized: { title, purpose },
    translations,
    saved_rules: rules && [...rules],
    asks,
    hints: hintsFor(query),
    age_over: ageOver,
    aliases: aliases.map(alias => ({ key: alias.key, format: alias.format })),
    updated_at: updatedAt === null ? null : isoUtc(updatedAt),
  }
}
