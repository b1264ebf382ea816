import { FIRST_KEY_LABEL, readKeys } from '../../access/keys.ts'
import { readDevices } from '../../devices/read.ts'
import { readGoLive } from '../../tenants/go-live.ts'
import { hasCompleted } from '../../usage/numbers.ts'
import type { Numbers } from '../../usage/schema.ts'
import { hasReceived } from '../../webhooks/browse.ts'
import type { Deps } from '../deps.ts'
import type { FirstSteps } from './schema.ts'

/** Ends from which on a shop at work looks at numbers. */
const WORTH_A_LOOK = 20

/** Null once a live verification was completed, or a till or the API made numbers to look at. */
export async function readFirstSteps(deps: Deps, tenantId: string, { total }: Numbers): Promise<FirstSteps | null> {
  const { firstLiveAt } = await readGoLive(deps.db, tenantId)
  if (firstLiveAt !== null) return null
  const paired = await hasTill(deps, tenantId)
  const called = (await readKeys(deps, tenantId)).some(key => key.lastUsedAt !== null && key.label !== FIRST_KEY_LABEL)
  const ended = total.verified + total.refused + total.declined + total.expired
  if ((paired || called) && ended >= WORTH_A_LOOK) return null
  const tried = await hasCompleted(deps, { tenantId, environment: 'test' })
  return { tried, paired, called, received: await hasReceived(deps, tenantId) }
}

/** In either environment. */
async function hasTill(deps: Deps, tenantId: string): Promise<boolean> {
  for (const environment of ['test', 'live'] as const)
    if ((await readDevices(deps, { tenantId, environment })).some(({ status }) => status === 'active')) return true
  return false
}
