import type { Reading } from '../../../ground.ts'
import { apiError } from '../../../http/errors.ts'
import { roleOf } from '../../../people/role.ts'
import { actorOf, requireFresh, type Visit } from '../../../people/session.ts'
import { inkOn, LookProblem, readLogo, readLook, setLook } from '../../../tenants/look.ts'
import { addOrigin, OriginProblem, presentOrigin, readOrigins, removeOrigin } from '../../../tenants/origins.ts'
import type { Owner } from '../../../tenants/settings.ts'
import type { Deps } from '../../deps.ts'
import type { ChangeLook, Look, NamedOrigin, Origin } from './schema.ts'

export async function listOrigins(deps: Deps, owner: Owner): Promise<{ data: Origin[] }> {
  return { data: (await readOrigins(deps, owner)).map(presentOrigin) }
}

export async function allowOrigin(deps: Deps, visit: Visit, owner: Owner, { origin }: NamedOrigin): Promise<{ data: Origin[] }> {
  requireRights(deps, visit, owner)
  await addOrigin(deps, owner, origin, actorOf(visit.user)).catch(explain)
  return await listOrigins(deps, owner)
}

export async function forgetOrigin(deps: Deps, visit: Visit, owner: Owner, { origin }: NamedOrigin): Promise<{ data: Origin[] }> {
  requireRights(deps, visit, owner)
  if (!(await removeOrigin(deps, owner, origin, actorOf(visit.user)))) throw apiError('not_found')
  return await listOrigins(deps, owner)
}

/** The operator's certificate vouches for live origins. */
function requireRights(deps: Deps, visit: Visit, { environment }: Owner): void {
  if (environment === 'live' && roleOf(visit.user) !== 'owner') throw apiError('owner_required')
  requireFresh(visit, deps.now(), environment)
}

export async function readShopLook({ db }: Reading, tenantId: string): Promise<Look> {
  const [look, logo] = [await readLook(db, tenantId), await readLogo(db, tenantId)]
  const { accent = null, privacyUrl = null, withoutWallet = null } = look ?? {}
  return {
    accent,
    ink: accent && inkOn(accent),
    privacy_url: privacyUrl,
    without_wallet: withoutWallet,
    logo: logo ? { type: logo.type, base64: logo.bytes.toString('base64') } : null,
  }
}

export async function changeShopLook(
  deps: Deps,
  visit: Visit,
  tenantId: string,
  { accent, privacy_url, without_wallet, logo }: ChangeLook,
): Promise<Look> {
  const picture = typeof logo === 'string' ? Buffer.from(logo, 'base64') : logo
  const changes = { accent, privacyUrl: privacy_url, withoutWallet: without_wallet, logo: picture }
  await setLook(deps, tenantId, changes, actorOf(visit.user)).catch(explain)
  return await readShopLook(deps, tenantId)
}

function explain(error: unknown): never {
  if (error instanceof OriginProblem || error instanceof LookProblem)
    throw apiError('invalid_request', { message: error.message })
  throw error
}
