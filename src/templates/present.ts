import { isoUtc } from '../base/time.ts'
import { askedBy, hintsFor } from './minimise.ts'
import type { KnownTemplate } from './read.ts'
import { effectiveRules } from './rules.ts'

/** `title`, `purpose` and `rules` as the API has them; `localized` and `saved_rules` are for its editor. */
export function presentTemplate({ key, isBuiltin, title, purpose, profile, query, rules, ageOver, updatedAt }: KnownTemplate) {
  const asks = askedBy(query)
  return {
    key,
    title: title.en,
    builtin: isBuiltin,
    documents: [...new Set(asks.flatMap(({ types }) => types))],
    claims: [...new Set(asks.flatMap(({ claims }) => claims))],
    rules: [...effectiveRules(query, rules)],
    purpose: purpose?.en ?? null,
    profile,
    query: { ...query },
    localized: { title, purpose },
    saved_rules: rules && [...rules],
    asks,
    hints: hintsFor(query),
    age_over: ageOver,
    updated_at: updatedAt === null ? null : isoUtc(updatedAt),
  }
}
