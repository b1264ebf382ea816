// One-line slips that would hurt most, each with the tests that must notice it. `from` stands exactly once in its file.

export type Mutant = { name: string; file: string; from: string; to: string; tests: string[] }

const mutant = (name: string, file: string, from: string, to: string, ...tests: string[]): Mutant => ({
  name,
  file: `src/${file}`,
  from,
  to,
  tests: tests.map(test => `test/${test}.test.ts`),
})

const AUTHENTICATION = 'api/authentication'
const CREATE = 'api/post-verifications'
const READ = 'api/get-verifications'
const ERASE = 'api/delete-verification'
const WALLET = 'api/wallet-response'
const ENROLL = 'api/devices-enroll'
const REFRESH = 'api/devices-token'
const MODULES = 'wallet/oidf-modules'

export const MUTANTS: Mutant[] = [
  // Who is calling.
  mutant('key expiry exclusive', 'access/authenticate.ts', 'key.expires_at <= now()', 'key.expires_at < now()', AUTHENTICATION),
  mutant('key expiry ignored', 'access/authenticate.ts', 'if (key.expires_at !== null &&', 'if (false &&', AUTHENTICATION),
  mutant('revoked key works', 'access/authenticate.ts', '|| key.revoked_at !== null) throw', '|| false) throw', AUTHENTICATION),
  mutant(
    'access token expiry exclusive',
    'access/authenticate.ts',
    'token.expiresAt <= deps.now()',
    'token.expiresAt < deps.now()',
    'devices/rights',
  ),
  mutant(
    'revoked device works',
    'access/authenticate.ts',
    "token.revokedAt !== null || device.status !== 'active'",
    'false',
    'api/devices',
  ),
  mutant('scope not asked for', 'access/plugin.ts', '!caller.scopes.includes(need.scope)', 'false', AUTHENTICATION),
  mutant('malformed idempotency key taken', 'access/plugin.ts', '{1,255}$/.test(key)', '*$/.test(key)', CREATE),
  // Whose it is.
  mutant(
    'read without tenant',
    'verifications/store.ts',
    "const ownedBy = () => [\n  eq(verificationSessions.tenantId, column('tenantId')),",
    'const ownedBy = () => [',
    READ,
  ),
  mutant(
    'read without environment',
    'verifications/store.ts',
    "  eq(verificationSessions.environment, column('environment')),",
    '',
    READ,
  ),
  mutant(
    'device reads others',
    'verifications/store.ts',
    'const select = deviceId === undefined ? selectOne : selectOneOfDevice',
    'const select = selectOne',
    'devices/rights',
  ),
  mutant(
    'redeem without environment',
    'verifications/store.ts',
    '        eq(verificationSessions.environment, environment),',
    '',
    WALLET,
  ),
  mutant(
    'device redeems others',
    'verifications/store.ts',
    'deviceId === undefined ? undefined : eq(verificationSessions.deviceId, deviceId),\n        eq(verificationSessions.responseCodeHash',
    'eq(verificationSessions.responseCodeHash',
    'devices/rights',
  ),
  mutant(
    'device revoked by another tenant',
    'devices/store.ts',
    'eq(devices.id, id), eq(devices.tenantId, tenantId), eq(devices.environment, environment)',
    'eq(devices.id, id)',
    'api/devices',
  ),
  mutant(
    'device asks with any template',
    'verifications/create.ts',
    'caller.allowedTemplates.includes(template)',
    'true',
    'devices/rights',
  ),
  mutant(
    'dashboard shows any tenant',
    'dashboard/guard.ts',
    '(visit.user.memberOf ?? tenant.id) !== tenant.id',
    'false',
    'dashboard/rights',
  ),
  // Creation.
  mutant('one beyond the quota', 'usage/store.ts', 'verificationsCreated} < ', 'verificationsCreated} <= ', 'api/usage'),
  mutant('quota of 0 ignored', 'usage/quota.ts', 'quota > 0 ? await', 'quota >= 0 ? await', 'api/usage'),
  mutant(
    'replay charged again',
    'verifications/create.ts',
    "if ('replay' in begun) return { verification: begun.replay, replayed: true }",
    "if ('replay' in begun) return await create(deps, creations, caller, body)",
    CREATE,
  ),
  mutant('another body replayed', 'verifications/idempotency.ts', 'stored.fingerprint !== fingerprint ||', 'false ||', CREATE),
  mutant(
    'session without deadline in the race',
    'verifications/store.ts',
    "        gt(verificationSessions.expiresAt, column('at')),",
    '',
    WALLET,
    'flows/races',
  ),
  mutant('session expiry exclusive', 'verifications/expire.ts', 'expiresAt <= now', 'expiresAt < now', READ),
  mutant('wallet expiry exclusive', 'wallet/session.ts', 'expiresAt <= now', 'expiresAt < now', WALLET),
  mutant(
    'answered twice',
    'verifications/store.ts',
    "        eq(verificationSessions.status, 'pending'),\n        gt(",
    '        gt(',
    WALLET,
    'flows/races',
  ),
  mutant(
    'unknown fields accepted',
    'verifications/schema.ts',
    "    additionalProperties: false,\n    $id: 'CreateVerification'",
    "    additionalProperties: true,\n    $id: 'CreateVerification'",
    CREATE,
  ),
  mutant('depth limit off', 'http/body.ts', 'isDeeperThan(text, JSON_DEPTH_MAX)', 'false', 'http/envelope'),
  mutant('size limit off', 'http/body.ts', 'Number(length) > bytesMax', 'false', 'http/envelope'),
  // Response codes.
  mutant(
    'response code works for 601 seconds',
    'wallet/respond.ts',
    'RESPONSE_CODE_MS = 600_000',
    'RESPONSE_CODE_MS = 601_000',
    WALLET,
  ),
  mutant(
    'response code expiry inclusive',
    'verifications/store.ts',
    'gt(verificationSessions.responseCodeExpiresAt, now)',
    'gt(verificationSessions.responseCodeExpiresAt, now - 1)',
    WALLET,
  ),
  mutant('response code works twice', 'verifications/store.ts', '        isNull(verificationSessions.redeemedAt),', '', WALLET),
  mutant(
    'any response code works',
    'verifications/store.ts',
    '        eq(verificationSessions.responseCodeHash, codeHash),',
    '',
    WALLET,
  ),
  // Erasure.
  mutant(
    'erasure leaves the replay',
    'verifications/erase.ts',
    'if (found.verification.idempotencyHash !== null) await',
    'if (false) await',
    ERASE,
  ),
  mutant(
    'erasure leaves deliveries',
    'verifications/erase.ts',
    'await forgetDeliveries(tx, owner.tenantId, id)',
    '0',
    'webhooks/erase',
  ),
  mutant('erasure leaves audit details', 'verifications/erase.ts', 'await audit.forget(tx, [', 'void ([', ERASE),
  mutant('erasure leaves the log', 'verifications/erase.ts', '  await shred(deps)', '', ERASE),
  mutant('secure_delete off', 'db/sqlite.ts', "'secure_delete = ON'", "'secure_delete = OFF'", 'db/writer', ERASE),
  mutant('synchronous NORMAL', 'db/sqlite.ts', "'synchronous = FULL'", "'synchronous = NORMAL'", 'db/writer'),
  // Devices.
  mutant(
    'pairing code works twice',
    'devices/store.ts',
    "        isNull(deviceTokens.spentAt),\n        isNull(deviceTokens.revokedAt),\n        gt(deviceTokens.expiresAt, column('at')),",
    "        isNull(deviceTokens.revokedAt),\n        gt(deviceTokens.expiresAt, column('at')),",
    ENROLL,
  ),
  mutant('pairing code never lapses', 'devices/store.ts', "        gt(deviceTokens.expiresAt, column('at')),", '', ENROLL),
  mutant(
    'no family revoke',
    'devices/refresh.ts',
    'if (token && token.spentAt !== null) await revokeIn',
    'if (false) await revokeIn',
    REFRESH,
  ),
  mutant(
    'pairing guesses not counted',
    'devices/enroll.ts',
    'if (!enrolled) await recordWrongGuess',
    'if (false) await recordWrongGuess',
    'devices/guessing',
  ),
  // Presentations.
  mutant(
    'nonce not checked',
    'openid4vp/key-binding.ts',
    "typeof nonce !== 'string' || !equalConstantTime(nonce, expected.nonce)",
    'false',
    MODULES,
  ),
  mutant(
    'audience not checked',
    'openid4vp/key-binding.ts',
    'if (aud !== expected.clientId) return',
    'if (false) return',
    MODULES,
  ),
  mutant('sd_hash not checked', 'openid4vp/key-binding.ts', 'payload.sd_hash === sdHash', 'true', MODULES),
  mutant(
    'old proofs taken',
    'openid4vp/key-binding.ts',
    'if (!(madeAt >= now - AGE_MS_MAX)) return',
    'if (false) return',
    MODULES,
  ),
  mutant(
    'key binding signature not checked',
    'openid4vp/key-binding.ts',
    'if (await isSignedBy({ text, alg: header.alg, key })) return undefined',
    'return undefined',
    MODULES,
  ),
  mutant(
    'device signature not checked',
    'openid4vp/mdoc-device.ts',
    'return isValid ? undefined :',
    'return true ? undefined :',
    MODULES,
  ),
  mutant(
    'digests not checked',
    'openid4vp/mdoc-issuer.ts',
    "hash(algorithm, bytes, 'buffer').equals(signed.asBytes())",
    'true',
    'openid4vp/mdoc',
  ),
  mutant(
    'chain not checked',
    'openid4vp/certification-path.ts',
    'isSignedBy(certificate, issuer)\n  )',
    'true\n  )',
    'openid4vp/trust',
  ),
  mutant(
    'anchors for other types count',
    'openid4vp/trust.ts',
    'trustedFor === null || trustedFor === type',
    'true',
    'openid4vp/trust',
  ),
  mutant(
    'unknown status passes',
    'openid4vp/status-list.ts',
    "findings.fail('status', 'status_unknown', detail)",
    "findings.pass('status')",
    'openid4vp/status-list',
  ),
  mutant('unanswered query passes', 'openid4vp/verify.ts', '&& isAnswered(query, answered) ?', '&& true ?', 'wallet/attacks'),
  // Webhooks.
  mutant(
    'address not pinned',
    'webhooks/egress-client.ts',
    '    lookup: (_, options, callback) => (options.all ? callback(null, [{ address, family }]) : callback(null, address, family)),',
    '',
    'webhooks/egress-client',
  ),
  mutant(
    'signed without a time',
    'sdk/webhook.ts',
    'hmac(utf8(secret), signed)',
    'hmac(utf8(secret), rawBytes(payload))',
    'sdk/webhook',
  ),
  mutant(
    'tolerance not checked',
    'sdk/webhook.ts',
    'if (Math.abs(clock - Number(time)) > tolerance)',
    'if (false)',
    'sdk/webhook',
  ),
  mutant(
    'old secret signs at 24 h',
    'tenants/webhook-secret.ts',
    'row.validUntil === null || row.validUntil > at',
    'row.validUntil === null || row.validUntil >= at',
    'webhooks/rotation',
  ),
  mutant(
    'old secret kept for 25 h',
    'tenants/webhook-secret.ts',
    'OVERLAP_MS = 86_400_000',
    'OVERLAP_MS = 90_000_000',
    'webhooks/rotation',
  ),
  mutant('cancelled message sent', 'webhooks/deliver.ts', 'if (flight.isCancelled) return CANCELLED', '', 'webhooks/erase'),
  // Dashboard.
  mutant(
    'CSRF token not asked for',
    'dashboard/guard.ts',
    "if (!equalConstantTime(request.headers.get('x-csrf-token') ?? '', csrfTokenOf(deps, visit))) throw",
    'if (false) throw',
    'dashboard/csrf',
  ),
  mutant('foreign origin taken', 'dashboard/guard.ts', '  refuseForeign(deps.config, request)\n  if', '  if', 'dashboard/csrf'),
  mutant('password not asked for again', 'dashboard/guard.ts', 'if (fresh) requireFresh(visit, now)', '', 'dashboard/rights'),
  mutant('idle session lives on', 'dashboard/session.ts', '|| at >= found.session.seenAt + IDLE_MS', '', 'dashboard/session'),
  mutant(
    'log-in throttle off',
    'dashboard/throttle.ts',
    'if (config.rateLimitScale === 0) return',
    'if (true) return',
    'dashboard/login',
  ),
  // Audit.
  mutant(
    'link to the record before not checked',
    'audit/chain.ts',
    'if (record.previous !== head) return',
    'if (false) return',
    'audit/chain',
  ),
  mutant(
    'hash of a record not checked',
    'audit/chain.ts',
    'if (recordHash(record) !== record.hash) return',
    'if (false) return',
    'audit/chain',
  ),
  mutant(
    'checkpoint signature not checked',
    'audit/chain.ts',
    'if (!isSigned(due, key)) return',
    'if (false) return',
    'audit/chain',
  ),
]
