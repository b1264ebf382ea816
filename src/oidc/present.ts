import { isoUtc } from '../base/time.ts'
import type { Config } from '../config.ts'
import type { ClientRow, Issuer, SecretRow } from './client-store.ts'
import type { KeyRow } from './key-store.ts'
import type { Client, SigningKey } from './schema.ts'

export const issuerOf = ({ publicUrl }: Config, { tenantId, environment }: Issuer): string =>
  `${publicUrl}/oidc/${tenantId}/${environment}`

export const presentClient = (config: Config, row: ClientRow, secrets: readonly SecretRow[], now: number): Client => ({
  id: row.id,
  environment: row.environment,
  issuer: issuerOf(config, row),
  name: row.name,
  redirect_uris: row.redirectUris,
  templates: row.templates,
  auth: row.auth,
  id_token_alg: row.idTokenAlg,
  pkce: row.pkce,
  subject: row.subject,
  ...(row.purpose !== null && { purpose: row.purpose }),
  id_token_claims: row.idTokenClaims === 1,
  cross_device: row.crossDevice,
  logins_per_hour: row.loginsPerHour,
  keep_results: row.keepResults === 1,
  secrets: secrets
    .filter(secret => isValid(secret, now))
    .map(({ prefix, createdAt, expiresAt }) => ({
      prefix,
      created_at: isoUtc(createdAt),
      expires_at: expiresAt === null ? null : isoUtc(expiresAt),
    })),
  ...(row.lastLoginAt !== null && { last_login_at: isoUtc(row.lastLoginAt) }),
  ...(row.lastRefusal && { last_refusal: { ...row.lastRefusal, at: isoUtc(row.lastRefusal.at) } }),
  created_at: isoUtc(row.createdAt),
})

export const isValid = ({ expiresAt }: Pick<SecretRow, 'expiresAt'>, now: number): boolean =>
  expiresAt === null || expiresAt > now

export const presentKey = ({ kid, alg, useFrom, useUntil, removeAt }: KeyRow): SigningKey => ({
  kid,
  alg,
  use_from: isoUtc(useFrom),
  use_until: useUntil === null ? null : isoUtc(useUntil),
  remove_at: removeAt === null ? null : isoUtc(removeAt),
})
