import type { Slip } from './list.ts'

export default [
  [
    'device revoked by another tenant',
    'selectLocked',
    "eq(devices.id, column('deviceId')), eq(devices.tenantId, column('tenantId'))",
    "eq(devices.id, column('deviceId'))",
    'api/devices',
  ],
  [
    'device revoked from the other environment',
    'revokeDevice',
    'if (known?.environment !== environment) return undefined',
    'if (!known) return undefined',
    'api/devices',
  ],
  [
    'pairing code works twice',
    'spend',
    "isNull(deviceTokens.spentAt), isNull(deviceTokens.revokedAt), gt(deviceTokens.expiresAt, column('at')),",
    "isNull(deviceTokens.revokedAt),\n        gt(deviceTokens.expiresAt, column('at')),",
    'api/devices-enroll',
  ],
  ['pairing code never lapses', 'spend', "gt(deviceTokens.expiresAt, column('at')),", '', 'api/devices-enroll'],
  ['no family revoke', 'repeatOrRevoke', 'if (!token || token.spentAt === null ||', 'if (!token || true ||', 'api/devices-token'],
  [
    'pairing guesses not counted',
    'enrollDevice',
    'if (!enrolled) await admission?.recordWrong',
    'if (false) await admission?.recordWrong',
    'devices/guessing',
  ],
] satisfies Slip[]
