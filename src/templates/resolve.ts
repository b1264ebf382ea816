import type { Db } from '#db'
import { canonicalJson, sha256Hex } from '../hash.ts'
import type { DcqlQuery } from '../openid4vp/dcql.ts'
import type { Profile } from '../openid4vp/request-object.ts'
import { BUILTIN_TEMPLATES } from './builtin.ts'
import { findTemplate, findVersion, keepVersion } from './store.ts'

/** What a template asks for at this moment, and the name of that version. */
export type ResolvedTemplate = {
  query: DcqlQuery /** Absent where the operator's choice holds. */
  profile?: Profile
  version: string
}

const versionOf = (query: DcqlQuery): string => sha256Hex(canonicalJson(query))

const BUILTIN: ReadonlyMap<string, ResolvedTemplate> = new Map(
  [...BUILTIN_TEMPLATES.values()].map(({ key, query, profile }) => [
    key,
    // The catalogue's `haip` is the default, which an operator may change; only another profile is part of the template.
    { query, ...(profile !== 'haip' && { profile }), version: versionOf(query) },
  ]),
)

export async function resolveTemplate(db: Db, tenantId: string, key: string): Promise<ResolvedTemplate | undefined> {
  const builtin = BUILTIN.get(key)
  if (builtin) return builtin
  const own = await findTemplate(db, tenantId, key)
  return own && { query: own.query, profile: own.profile ?? undefined, version: versionOf(own.query) }
}

/** Fixes what a session asks for: the template may change, the session's question must not. */
export async function fixVersion(tx: Db, version: string, query: DcqlQuery): Promise<void> {
  await keepVersion(tx, version, query)
}

const BUILTIN_VERSIONS: ReadonlyMap<string, DcqlQuery> = new Map(
  [...BUILTIN.values()].map(({ version, query }) => [version, query]),
)

/** A version is named by what it asks for, so that one we know ourselves need not be looked up. */
export async function queryOfVersion(db: Db, version: string): Promise<DcqlQuery | undefined> {
  return BUILTIN_VERSIONS.get(version) ?? (await findVersion(db, version))
}

/**
 * The query with the purpose where wallets look for it. DCQL 1.0 has no such member and lets wallets skip it; those that
 * still read draft 22's `credential_sets[].purpose` show it to the holder.
 */
export function withPurpose(query: DcqlQuery, purpose: string | undefined): DcqlQuery {
  if (purpose === undefined) return query
  // One option with everything means what no sets mean: every credential is required (OpenID4VP 1.0 § 6.4.2).
  const sets = query.credential_sets ?? [{ options: [query.credentials.map(({ id }) => id)] }]
  return { ...query, credential_sets: sets.map(set => ({ ...set, purpose })) }
}
