import type { Owner } from '../tenants/settings.ts'
import type { Deps } from './deps.ts'
import { presentDevice } from './present.ts'
import type { Device } from './schema.ts'
import { listDevices, listReused } from './store.ts'

/** Newest first. */
export async function readDevices({ db }: Pick<Deps, 'db'>, owner: Owner): Promise<Device[]> {
  return (await listDevices(db, owner)).map(presentDevice)
}

/** Revoked after `since` for reuse of a refresh token, the latest first. */
export async function readReused(
  { db }: Pick<Deps, 'db'>,
  owner: Owner,
  { since, limit }: { since: number; limit: number },
): Promise<Device[]> {
  return (await listReused(db, owner, since, limit)).map(presentDevice)
}
