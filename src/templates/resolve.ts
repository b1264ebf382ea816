import type { Db } from '../db/engine.ts'
import { canonicalJson, sha256Hex } from '../hash.ts'
import type { DcqlQuery } from '../openid4vp/dcql.ts'
import type { Profile } from '../openid4vp/request-object.ts'
import type { Rule } from '../openid4vp/rules.ts'
import { BUILTIN_TEMPLATES } from './builtin.ts'
import { effectiveRules } from './rules.ts'
import { findTemplate, findVersion, keepVersion } from './store.ts'

/** A query and the rules of its answer; null rules are the default. */
export type Question = { query: DcqlQuery; rules: readonly Rule[] | null }

/** The current version of a template, and its name. */
export type ResolvedTemplate = Question & {
  /** Undefined: the operator's choice. */
  profile?: Profile
  /** For creations without a purpose of their own. */
  purpose?: string
  version: string
}

/** Versions without rules are named by the query alone, as before rules existed. */
const versionOf = ({ query, rules }: Question): string => sha256Hex(canonicalJson(rules === null ? query : { query, rules }))

const BUILTIN: ReadonlyMap<string, ResolvedTemplate> = new Map(
  [...BUILTIN_TEMPLATES.values()].map(({ key, query, profile }) => [
    key,
    // `haip` is the default, which an operator may change; only another profile is part of the template.
    { query, rules: null, ...(profile !== 'haip' && { profile }), version: versionOf({ query, rules: null }) },
  ]),
)

export async function resolveTemplate(db: Db, tenantId: string, key: string): Promise<ResolvedTemplate | undefined> {
  const builtin = BUILTIN.get(key)
  if (builtin) return builtin
  const own = await findTemplate(db, tenantId, key)
  if (!own) return undefined
  const { query, rules } = own
  return { query, rules, profile: own.profile ?? undefined, purpose: own.purpose ?? undefined, version: versionOf(own) }
}

/** Stores a version: the template may change, the query and rules of a session must not. */
export async function fixVersion(tx: Db, hash: string, { query, rules }: Question): Promise<void> {
  await keepVersion(tx, { hash, query, rules: rules && [...rules] })
}

/** With their default rules spelled out: every answer is judged by them. */
const BUILTIN_VERSIONS: ReadonlyMap<string, Question> = new Map(
  [...BUILTIN.values()].map(({ version, query, rules }) => [version, { query, rules: effectiveRules(query, rules) }]),
)

/** A version is named by its content, so that built-in ones need no look-up. */
export async function questionOfVersion(db: Db, version: string): Promise<Question | undefined> {
  return BUILTIN_VERSIONS.get(version) ?? (await findVersion(db, version))
}

/**
 * The query with the purpose where wallets look for it. DCQL 1.0 has no such member and lets wallets skip it; those that still
 * read draft 22's `credential_sets[].purpose` show it to the holder.
 */
export function withPurpose(query: DcqlQuery, purpose: string | undefined): DcqlQuery {
  if (purpose === undefined) return query
  // One option with everything means what no sets mean: every credential is required (OpenID4VP 1.0 § 6.4.2).
  const sets = query.credential_sets ?? [{ options: [query.credentials.map(({ id }) => id)] }]
  return { ...query, credential_sets: sets.map(set => ({ ...set, purpose })) }
}
