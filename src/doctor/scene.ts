import { isExpired, readKeys } from '../access/keys.ts'
import { readTenants, type TenantRow } from '../tenants/settings.ts'
import type { Deps } from './deps.ts'
import { type Visit, visitPublicUrl } from './visit.ts'

const TENANTS_MAX = 20

/** What several checks look at; each is found out once. */
export type Scene = {
  deps: Deps
  isServer: boolean
  /** Those that come first; with more, the first tell enough. */
  tenants: Promise<TenantRow[]>
  /** Those of them that have a live key: for the others everything is still a rehearsal. */
  liveTenants: Promise<TenantRow[]>
  visit: Promise<Visit>
}

export function sceneOf(deps: Deps, isServer: boolean): Scene {
  const tenants = readTenants(deps.db).then(all => all.slice(0, TENANTS_MAX))
  const scene = { deps, isServer, tenants, liveTenants: liveAmong(deps, tenants), visit: visitPublicUrl(deps) }
  // Whoever awaits them meets their failure; nobody else should.
  for (const found of [scene.tenants, scene.liveTenants, scene.visit]) found.catch(() => {})
  return scene
}

async function liveAmong(deps: Deps, tenants: Promise<TenantRow[]>): Promise<TenantRow[]> {
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
