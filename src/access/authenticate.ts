import { sha256Hex } from '../base/hash.ts'
import { isWellFormedSecret } from '../base/ids.ts'
import { readAccessToken, recordUse } from '../devices/access-token.ts'
import { waysOf } from '../devices/schema.ts'
import { apiError } from '../http/errors.ts'
import { dailyQuotaOf } from '../tenants/settings.ts'
import type { Deps } from './deps.ts'
import { type Caller, DEVICE_SCOPES, type DeviceCaller, type KeyCaller } from './scopes.ts'

const KEY_PREFIXES = ['vk_test_', 'vk_live_']
const ACCESS_TOKEN_PREFIX = 'vd_'

const CHALLENGE = { 'www-authenticate': 'Bearer error="invalid_token"' }

/** One error for missing, malformed, revoked and unknown ones (interface 5.3). */
const unknownKey = () => apiError('invalid_api_key', { headers: CHALLENGE })

export async function authenticate(deps: Deps, authorization: string | null): Promise<Caller> {
  const secret = /^Bearer ([!-~]{1,128})$/i.exec(authorization ?? '')?.[1] ?? ''
  if (KEY_PREFIXES.some(prefix => isWellFormedSecret(secret, prefix))) return await authenticateKey(deps, sha256Hex(secret))
  if (isWellFormedSecret(secret, ACCESS_TOKEN_PREFIX)) return await authenticateDevice(deps, sha256Hex(secret))
  throw unknownKey()
}

async function authenticateKey({ keys, keyUses, now }: Deps, hash: string): Promise<KeyCaller> {
  const key = await keys.find(hash)
  if (!key || key.revoked_at !== null) throw unknownKey()
  if (key.expires_at !== null && key.expires_at <= now()) throw apiError('api_key_expired', { headers: CHALLENGE })
  keyUses.note(key.id)
  return {
    kind: 'key',
    keyId: key.id,
    tenantId: key.tenant_id,
    environment: key.environment,
    scopes: key.scopes,
    name: key.prefix,
    dailyQuota: dailyQuotaOf({ plan: key.plan, dailyQuota: key.daily_quota }),
    appSchemes: key.appSchemes,
  }
}

async function authenticateDevice(deps: Deps, hash: string): Promise<DeviceCaller> {
  const found = await readAccessToken(deps, hash)
  if (!found) throw unknownKey()
  const { token, device } = found
  if (token.revokedAt !== null || device.status !== 'active') throw unknownKey()
  if (token.expiresAt <= deps.now()) {
    throw apiError('api_key_expired', { headers: CHALLENGE, message: 'This access token has expired; refresh it.' })
  }
  await recordUse(deps, found)
  const { id: deviceId, tenantId, environment, name, allowedTemplates } = device
  return {
    kind: 'device',
    deviceId,
    tenantId,
    environment,
    scopes: DEVICE_SCOPES,
    name,
    allowedTemplates,
    ways: waysOf(device),
    dailyQuota: dailyQuotaOf(found),
  }
}
