import { isoUtc } from '../time.ts'
import type { Scope } from './scopes.ts'
import type { ApiKeyRow } from './store.ts'

/** Never the key itself, nor its hash. */
export const presentKey = (row: ApiKeyRow) => ({
  id: row.id,
  prefix: row.prefix,
  environment: row.environment,
  scopes: row.scopes as Scope[],
  label: row.label,
  created_at: isoUtc(row.createdAt),
  expires_at: row.expiresAt === null ? null : isoUtc(row.expiresAt),
  revoked_at: row.revokedAt === null ? null : isoUtc(row.revokedAt),
})
