import type { Environment } from '../access/scopes.ts'
import type { Db } from '../db/engine.ts'
import { apiError } from '../http/errors.ts'
import type { Deps } from './deps.ts'
import { type DeviceRow, findDevice, markDeviceRevoked, revokeTokens } from './store.ts'

type RevokeDeps = Pick<Deps, 'write' | 'now' | 'audit'>

/** From the next request on nothing the device holds works, a refresh that waits to be written included. Twice is no second act. */
export async function revokeDevice(
  deps: RevokeDeps,
  owner: { tenantId: string; environment: Environment },
  id: string,
  actor: string,
): Promise<DeviceRow> {
  const device = await deps.write(async tx => {
    const known = await findDevice(tx, owner, id.toLowerCase())
    if (!known) return undefined
    const { id: deviceId, tenantId } = known
    return (await revokeIn(deps, tx, { deviceId, tenantId }, { at: deps.now(), actor, reason: 'requested' })) ?? known
  })
  if (!device) throw apiError('device_not_found')
  return device
}

type Revocation = { at: number; actor: string; reason: 'requested' | 'refresh_reuse' }

/** The device as it is now, when this call revoked it. */
export async function revokeIn(
  { audit }: Pick<Deps, 'audit'>,
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
