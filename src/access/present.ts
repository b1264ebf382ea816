import { isoUtc } from '../base/time.ts'
import { type ApiKeyRow, isExpired } from './keys.ts'
import type { Scope } from './scopes.ts'

export const presentKey = (row: ApiKeyRow, now: number) => ({
  id: row.id,
  prefix: row.prefix,
  environment: row.environment,
  label: row.label,
  scopes: row.scopes as Scope[],
  status: statusOf(row, now),
  created_at: isoUtc(row.createdAt),
  expires_at: row.expiresAt === null ? null : isoUtc(row.expiresAt),
  /** Rounded down to the hour. */
  last_used_at: row.lastUsedAt === null ? null : isoUtc(row.lastUsedAt),
  revoked_at: row.revokedAt === null ? null : isoUtc(row.revokedAt),
})

const statusOf = (row: ApiKeyRow, now: number) =>
  row.revokedAt !== null ? ('revoked' as const) : isExpired(row, now) ? ('expired' as const) : ('active' as const)
