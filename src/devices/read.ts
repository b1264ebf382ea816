import type { Reading } from '../ground.ts'
import type { Owner } from '../tenants/settings.ts'
import { presentDevice, presentTill } from './present.ts'
import type { Device, TillDevice } from './schema.ts'
import { type DeviceRow, findDeviceOfAnyone, listDevices, listReused } from './store.ts'

export type { DeviceRow }

/** Newest first. */
export async function readDevices({ db }: Reading, owner: Owner): Promise<Device[]> {
  return (await listDevices(db, owner)).map(presentDevice)
}

/** The same for the dashboard. */
export async function readTills({ db }: Reading, owner: Owner): Promise<TillDevice[]> {
  return (await listDevices(db, owner)).map(presentTill)
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
