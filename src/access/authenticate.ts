import type { Deps } from '../deps.ts'
import { equalConstantTime, sha256Hex } from '../hash.ts'
import { apiError } from '../http/errors.ts'
import { isWellFormedSecret } from '../ids.ts'
import { dailyQuotaOf } from '../tenants/settings.ts'
import { type Caller, isScope, type Scope } from './scopes.ts'
import { findKeyByHash } from './store.ts'

const KEY_PREFIXES = ['vk_test_', 'vk_live_']

/** Missing, malformed, revoked and unknown keys get one and the same answer: a guess learns nothing (interface 5.3). */
const unknownKey = () => apiError('invalid_api_key', { headers: { 'www-authenticate': 'Bearer error="invalid_token"' } })

export async function authenticate({ warm, now }: Pick<Deps, 'warm' | 'now'>, authorization: string | null): Promise<Caller> {
  const secret = /^Bearer ([!-~]{1,128})$/i.exec(authorization ?? '')?.[1] ?? ''
  if (!KEY_PREFIXES.some(prefix => isWellFormedSecret(secret, prefix))) throw unknownKey()
  const hash = sha256Hex(secret)
  const key = await findKeyByHash(warm, hash)
  if (!key || !equalConstantTime(key.hash, hash) || key.revoked_at !== null) throw unknownKey()
  if (key.expires_at !== null && key.expires_at <= now()) {
    throw apiError('api_key_expired', { headers: { 'www-authenticate': 'Bearer error="invalid_token"' } })
  }
  return {
    kind: 'key',
    keyId: key.id,
    tenantId: key.tenant_id,
    environment: key.environment,
    scopes: scopesOf(key.scopes),
    name: key.prefix,
    dailyQuota: dailyQuotaOf({ plan: key.plan, dailyQuota: key.daily_quota }),
  }
}

const knownScopes = new Map<string, readonly Scope[]>()

/** There are sixteen sets at most, in few spellings: each is read once. */
function scopesOf(json: string): readonly Scope[] {
  const known = knownScopes.get(json)
  if (known) return known
  const scopes = (JSON.parse(json) as string[]).filter(isScope)
  if (knownScopes.size < 100) knownScopes.set(json, scopes)
  return scopes
}
