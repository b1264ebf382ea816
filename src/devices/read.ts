import type { Reading } from '../ground.ts'
import type { Owner } from '../tenants/settings.ts'
import { presentDevice } from './present.ts'
import type { Device } from './schema.ts'
import { type DeviceRow, findDeviceOfAnyone, listDevices, listReused } from './store.ts'

export type { DeviceRow }

/** Newest first. */
export async function readDevices({ db }: Reading, owner: Owner): Promise<Device[]> {
  return (await listDevices(db, owner)).map(presentDevice)
}

/** Any device: the operator manages those of every tenant. */
export const readDeviceOfAnyone = async ({ db }: Reading, id: string): Promise<DeviceRow | undefined> =>
  await findDeviceOfAnyone(db, id.toLowerCase())

/** Revoked after `since` for reuse of a refresh token, the latest first. */
export async function readReused(
  { db }: Reading,
  owner: Owner,
  { since, limit }: { since: number; limit: number },
): Promise<Device[]> {
  return (await listReused(db, owner, since, limit)).map(presentDevice)
}
