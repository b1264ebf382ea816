import { isExpired, readKeys } from '../../access/keys.ts'
import { readDevices } from '../../devices/read.ts'
import { readGoLive } from '../../tenants/go-live.ts'
import { hasCompleted } from '../../usage/numbers.ts'
import { hasReceived } from '../../webhooks/browse.ts'
import type { Deps } from '../deps.ts'
import type { FirstSteps } from './schema.ts'

/** Null once a live verification was completed. */
export async function readFirstSteps(deps: Deps, tenantId: string): Promise<FirstSteps | null> {
  const { firstLiveAt } = await readGoLive(deps.db, tenantId)
  if (firstLiveAt !== null) return null
  return {
    tried: await hasCompleted(deps, { tenantId, environment: 'test' }),
    connected: await isConnected(deps, tenantId),
    received: await hasReceived(deps, tenantId),
  }
}

/** A key or a till, in either environment. */
async function isConnected(deps: Deps, tenantId: string): Promise<boolean> {
  const at = deps.now()
  const keys = await readKeys(deps, tenantId)
  if (keys.some(key => key.revokedAt === null && !isExpired(key, at))) return true
  for (const environment of ['test', 'live'] as const)
    if ((await readDevices(deps, { tenantId, environment })).some(({ status }) => status === 'active')) return true
  return false
}
