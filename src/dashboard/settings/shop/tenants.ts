import { findNameProblem } from '../../../base/plain-text.ts'
import { apiError } from '../../../http/errors.ts'
import { roleOf } from '../../../people/role.ts'
import { actorOf, requireFresh, type Visit } from '../../../people/session.ts'
import { readAppSchemes } from '../../../tenants/app-schemes.ts'
import { presentTenant } from '../../../tenants/present.ts'
import { changeTenant, createTenant, readTenants } from '../../../tenants/settings.ts'
import type { Deps } from '../../deps.ts'
import type { ChangeTenant, Tenant } from './schema.ts'

export async function readOwnTenants(deps: Deps, { user }: Visit): Promise<{ data: Tenant[] }> {
  const own = (await readTenants(deps.db)).filter(({ id }) => user.memberOf === null || user.memberOf === id)
  return { data: own.map(presentTenant) }
}

export async function addTenant(deps: Deps, { user }: Visit, name: string): Promise<Tenant> {
  return presentTenant((await createTenant(deps, { name: checkedName(name) }, actorOf(user))).tenant)
}

/** Only an owner sets name, plan, quota and app schemes. Retention and app schemes need a fresh authentication. */
export async function changeOwnTenant(
  deps: Deps,
  visit: Visit,
  tenantId: string,
  { name, plan, quota_override, retention_days, app_schemes }: ChangeTenant,
): Promise<Tenant> {
  const isForOwners = [name, plan, quota_override, app_schemes].some(each => each !== undefined)
  if (isForOwners && roleOf(visit.user) !== 'owner') throw apiError('owner_required')
  if (retention_days !== undefined || app_schemes !== undefined) requireFresh(visit, deps.now())
  const changes = {
    ...(name !== undefined && { name: checkedName(name) }),
    ...(plan !== undefined && { plan }),
    ...(quota_override !== undefined && { dailyQuota: quota_override }),
    ...(retention_days !== undefined && { retentionDays: retention_days }),
    ...(app_schemes !== undefined && { appSchemes: app_schemes.length > 0 ? checkedSchemes(app_schemes) : null }),
  }
  if (Object.keys(changes).length === 0) throw apiError('invalid_request', { message: 'body: nothing to change' })
  const tenant = await changeTenant(deps, tenantId, changes, actorOf(visit.user))
  if (!tenant) throw apiError('tenant_not_found')
  return presentTenant(tenant)
}

function checkedSchemes(names: readonly string[]): string[] {
  try {
    return readAppSchemes(names)
  } catch (error) {
    throw apiError('invalid_request', { message: `app_schemes: ${(error as Error).message}` })
  }
}

function checkedName(name: string): string {
  const plain = name.trim()
  const problem = findNameProblem(plain)
  if (problem) throw apiError('invalid_request', { message: `name: ${problem}` })
  return plain
}
