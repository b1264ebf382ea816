import type { Acting, Audited } from '../audit/deps.ts'
import type { Db } from '../db/engine.ts'
import { apiError } from '../http/errors.ts'
import type { Owner } from '../tenants/settings.ts'
import { type DeviceRow, lockDevice, markDeviceRevoked, revokeTokens } from './store.ts'

/**
 * Nothing the device holds works from the next request on, a refresh that waits for its turn
 * included. A repeat changes nothing.
 */
export async function revokeDevice(
  deps: Acting,
  { tenantId, environment }: Owner,
  id: string,
  actor: string,
): Promise<DeviceRow> {
  const device = await deps.write(async tx => {
    const key = { deviceId: id.toLowerCase(), tenantId }
    const known = await lockDevice(tx, key)
    if (known?.environment !== environment) return undefined
    return (await revokeIn(deps, tx, key, { at: deps.now(), actor, reason: 'requested' })) ?? known
  })
  if (!device) throw apiError('device_not_found')
  return device
}

type Revocation = { at: number; actor: string; reason: 'requested' | 'refresh_reuse' }

/** The device's row must be locked. Returns the device when this call revoked it. */
export async function revokeIn(
  { audit }: Audited,
  tx: Db,
  { deviceId, tenantId }: { deviceId: string; tenantId: string },
  { at, actor, reason }: Revocation,
): Promise<DeviceRow | undefined> {
  const device = await markDeviceRevoked(tx, { deviceId, tenantId }, at)
  if (!device) return undefined
  await revokeTokens(tx, { deviceId, tenantId }, at)
  const details = { name: device.name, reason }
  await audit.append(tx, { at, tenantId, actor, action: 'device.revoked', subjectId: deviceId, details })
  return device
}
