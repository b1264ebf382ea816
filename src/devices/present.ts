import { isoUtc } from '../base/time.ts'
import { type Device, type TillDevice, waysOf } from './schema.ts'
import type { DeviceRow } from './store.ts'

export const presentDevice = (row: DeviceRow): Device => ({
  id: row.id,
  name: row.name,
  status: row.status,
  allowed_templates: row.allowedTemplates,
  created_at: isoUtc(row.createdAt),
  // An expired code is shown too: it explains why a till does not pair.
  ...(row.status === 'pending' && { pairing_expires_at: isoUtc(row.pairingExpiresAt) }),
  ...(row.enrolledAt !== null && { enrolled_at: isoUtc(row.enrolledAt) }),
  ...(row.lastSeenAt !== null && { last_seen_at: isoUtc(row.lastSeenAt) }),
  ...(row.revokedAt !== null && { revoked_at: isoUtc(row.revokedAt) }),
})

export const presentTill = (row: DeviceRow): TillDevice => ({ ...presentDevice(row), ways: waysOf(row) })
