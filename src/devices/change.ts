import type { Acting } from '../audit/deps.ts'
import { findNameProblem } from '../base/plain-text.ts'
import { apiError } from '../http/errors.ts'
import type { Owner } from '../tenants/settings.ts'
import type { ChangeTill } from './schema.ts'
import { type DeviceRow, lockDevice, updateDevice } from './store.ts'

/** Its name, its templates and its ways to ask. They count from the next request of the device on. */
export async function changeDevice(
  deps: Acting,
  { tenantId, environment }: Owner,
  id: string,
  changes: ChangeTill,
  actor: string,
): Promise<DeviceRow> {
  const { name, allowed_templates, ways } = changes
  const problem = name !== undefined && findNameProblem(name)
  if (problem) throw apiError('invalid_request', { message: `name: ${problem}` })
  if (name === undefined && allowed_templates === undefined && ways === undefined)
    throw apiError('invalid_request', { message: 'body: nothing to change' })
  const key = { deviceId: id.toLowerCase(), tenantId }
  return await deps.write(async tx => {
    const known = await lockDevice(tx, key)
    requireUsable(known, environment)
    const device = await updateDevice(tx, key, {
      name: name ?? known.name,
      allowedTemplates: allowed_templates ?? known.allowedTemplates,
      ways: ways ?? known.ways,
    })
    await deps.audit.append(tx, {
      at: deps.now(),
      tenantId,
      actor,
      action: 'device.changed',
      subjectId: key.deviceId,
      details: changes,
    })
    return device
  })
}

/** A revoked device stays as it is. */
export function requireUsable(device: DeviceRow | undefined, environment: Owner['environment']): asserts device is DeviceRow {
  if (device?.environment !== environment) throw apiError('device_not_found')
  if (device.status === 'revoked') throw apiError('device_revoked')
}
