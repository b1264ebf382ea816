import { isoUtc } from '../base/time.ts'
import type { Config } from '../config.ts'
import type { ClientRow, Issuer, SecretRow } from './client-store.ts'
import type { KeyRow } from './key-store.ts'
import type { Client, SigningKey } from './schema.ts'

export const issuerOf = ({ publicUrl }: Config, { tenantId, environment }: Issuer): string =>
  `${publicUrl}/oidc/${tenantId}/${environment}`

export function presentClient(config: Config, row: ClientRow, secrets: readonly SecretRow[], now: number): Client {
  const { tenantId: _, createdAt, lastLoginAt, lastRefusal, purpose, ...settings } = row
  return {
    ...settings,
    issuer: issuerOf(config, row),
    ...(purpose !== null && { purpose }),
    id_token_claims: row.id_token_claims === 1,
    keep_results: row.keep_results === 1,
    secrets: secrets
      .filter(secret => isValid(secret, now))
      .map(({ prefix, createdAt, expiresAt }) => ({
        prefix,
        created_at: isoUtc(createdAt),
        expires_at: expiresAt === null ? null : isoUtc(expiresAt),
      })),
    ...(lastLoginAt !== null && { last_login_at: isoUtc(lastLoginAt) }),
    ...(lastRefusal && { last_refusal: { ...lastRefusal, at: isoUtc(lastRefusal.at) } }),
    created_at: isoUtc(createdAt),
  }
}

export const isValid = ({ expiresAt }: Pick<SecretRow, 'expiresAt'>, now: number): boolean =>
  expiresAt === null || expiresAt > now

export const presentKey = ({ kid, alg, useFrom, useUntil, removeAt }: KeyRow): SigningKey => ({
  kid,
  alg,
  use_from: isoUtc(useFrom),
  use_until: useUntil === null ? null : isoUtc(useUntil),
  remove_at: removeAt === null ? null : isoUtc(removeAt),
})
