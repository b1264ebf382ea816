import type { Slip } from './list.ts'

export default [
  [
    'door: a slow body holds a place of work',
    'accessPlugin',
    'return need.body',
    'enter(request)\n        return need.body',
    'http/slow-clients',
  ],
  ['key expiry exclusive', 'authenticateKey', 'key.expires_at <= now()', 'key.expires_at < now()', 'api/authentication'],
  ['key expiry ignored', 'authenticateKey', 'if (key.expires_at !== null &&', 'if (false &&', 'api/authentication'],
  ['a key is remembered for ever', 'rememberKeys', 'if (version !== asked)', 'if (version === undefined)', 'api/authentication'],
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
  ['malformed idempotency key taken', 'refuseMalformedKey', '{1,255}$/.test(key)', '*$/.test(key)', 'api/post-verifications'],
  [
    "another tenant's app scheme is taken",
    'parsed',
    'app_schemes === null ? [] :',
    "true ? ['shop-app'] :",
    'api/redirect-schemes',
  ],
  [
    'strangers spend the budget of a session',
    'accessPlugin',
    '.slice(0, ID_CHARS_MAX), client]',
    '.slice(0, ID_CHARS_MAX)]',
    'http/limits',
  ],
  ['wrong codes lock a known network out', 'admitGuess', 'if (!isKnown) await', 'await', 'devices/guessing'],
  ['a lock that is over is lifted', 'deleteLock', ', gt(pairingGuesses.lockedUntil, now)', '', 'devices/guessing'],
] satisfies Slip[]
