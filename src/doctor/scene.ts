import { isExpired, readKeys } from '../access/keys.ts'
import type { EngineCheck, EngineFinding } from '../db/check.ts'
import type { Reading } from '../ground.ts'
import { readTenants, type TenantRow } from '../tenants/settings.ts'
import type { Deps } from './deps.ts'
import { type Visit, visitPublicUrl } from './visit.ts'

const TENANTS_MAX = 20

/** Facts that several checks need; each is found out once. */
export type Scene = {
  deps: Deps
  isServer: boolean
  /** False for a look that is repeated often: receivers, issuers and registrars are not called. */
  callsOthers: boolean
  /** The first few; with more, these are enough. */
  tenants: Promise<TenantRow[]>
  /** Those of them with a live key: without one, missing trust or https is only a warning. */
  liveTenants: Promise<TenantRow[]>
  readonly visit: Promise<Visit>
  /** One of them reads the whole database, so only when asked. */
  engineChecks: () => Promise<EngineCheck[]>
}

type Look = { isServer: boolean; names: readonly string[]; callsOthers: boolean }

export function sceneOf(deps: Deps, { isServer, names, callsOthers }: Look): Scene {
  const tenants = firstTenants(deps)
  const found = { tenants, liveTenants: liveAmong(deps, tenants) }
  // The checks that await them report the failure; without this, one that nobody awaits would end the process.
  for (const each of Object.values(found)) each.catch(() => {})
  let visit: Promise<Visit> | undefined
  let engineChecks: Promise<EngineCheck[]> | undefined
  return {
    deps,
    isServer,
    callsOthers,
    ...found,
    get visit() {
      if (!visit) {
        visit = visitPublicUrl(deps)
        visit.catch(() => {})
      }
      return visit
    },
    engineChecks: () => {
      engineChecks ??= deps.checks(names)
      return engineChecks
    },
  }
}

export async function checkOfEngine({ engineChecks }: Scene, wanted: EngineCheck['name']): Promise<EngineFinding> {
  const { name: _, ...found } = (await engineChecks()).find(({ name }) => name === wanted)!
  return found
}

/** Some shop asks real customers, or will. */
export async function hasLiveKeys(deps: Reading): Promise<boolean> {
  return (await liveAmong(deps, firstTenants(deps))).length > 0
}

const firstTenants = async ({ db }: Reading): Promise<TenantRow[]> => (await readTenants(db)).slice(0, TENANTS_MAX)

async function liveAmong(deps: Reading, tenants: Promise<TenantRow[]>): Promise<TenantRow[]> {
  const at = deps.now()
  const marked = await Promise.all(
    (await tenants).map(async tenant => {
      const keys = await readKeys(deps, tenant.id)
      const isLive = keys.some(key => key.environment === 'live' && key.revokedAt === null && !isExpired(key, at))
      return { tenant, isLive }
    }),
  )
  return marked.flatMap(({ tenant, isLive }) => (isLive ? [tenant] : []))
}
