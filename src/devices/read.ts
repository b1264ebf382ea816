import type { Environment } from '../access/scopes.ts'
import type { Deps } from '../deps.ts'
import { presentDevice } from './present.ts'
import type { Device } from './schema.ts'
import { listDevices } from './store.ts'

/** Newest first. */
export async function readDevices(
  { db }: Pick<Deps, 'db'>,
  owner: { tenantId: string; environment: Environment },
): Promise<Device[]> {
  return (await listDevices(db, owner)).map(presentDevice)
}
