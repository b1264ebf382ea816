import type { Slip } from './list.ts'

export default [
  ['key expiry ignored', 'authenticateKey', 'if (key.expires_at !== null &&', 'if (false &&', 'api/authentication'],
  ['revoked key works', 'authenticateKey', '|| key.revoked_at !== null) throw', '|| false) throw', 'api/authentication'],
  [
    'access token expiry exclusive',
    'authenticateDevice',
    'token.expiresAt <= deps.now()',
    'token.expiresAt < deps.now()',
    'api/devices-token',
  ],
  [
    'revoked device works',
    'authenticateDevice',
    "token.revokedAt !== null || device.status !== 'active'",
    'false',
    'api/devices',
  ],
  ['scope not asked for', 'accessPlugin', '!caller.scopes.includes(need.scope)', 'false', 'api/authentication'],
] satisfies Slip[]
