import type { Deps } from '../deps.ts'
import { equalConstantTime, sha256Hex } from '../hash.ts'
import { apiError } from '../http/errors.ts'
import { isWellFormedSecret } from '../ids.ts'
import { type Caller, isScope } from './scopes.ts'
import { findKeyByHash } from './store.ts'

const KEY_PREFIXES = ['vk_test_', 'vk_live_']

/** Missing, malformed, revoked and unknown keys get one and the same answer: a guess learns nothing (interface 5.3). */
const unknownKey = () => apiError('invalid_api_key', { headers: { 'www-authenticate': 'Bearer error="invalid_token"' } })

export async function authenticate({ db, now }: Pick<Deps, 'db' | 'now'>, authorization: string | null): Promise<Caller> {
  const secret = /^Bearer ([!-~]{1,128})$/i.exec(authorization ?? '')?.[1] ?? ''
  if (!KEY_PREFIXES.some(prefix => isWellFormedSecret(secret, prefix))) throw unknownKey()
  const hash = sha256Hex(secret)
  const key = await findKeyByHash(db, hash)
  if (!key || !equalConstantTime(key.hash, hash) || key.revokedAt !== null) throw unknownKey()
  if (key.expiresAt !== null && key.expiresAt <= now()) {
    throw apiError('api_key_expired', { headers: { 'www-authenticate': 'Bearer error="invalid_token"' } })
  }
  const { id: keyId, tenantId, environment, prefix: name } = key
  return { kind: 'key', keyId, tenantId, environment, scopes: key.scopes.filter(isScope), name }
}
