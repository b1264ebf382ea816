// The order of checks: address, session, forged requests, budgets, tenant, role, fresh
// authentication, and only then the body. Every change is a POST, PUT or DELETE with a JSON object.
// A viewer may only read: routes need not name that, and leave out what a viewer may not see.
import { Elysia } from 'elysia'
import { equalConstantTime } from '../base/hash.ts'
import { readJson } from '../http/body.ts'
import { apiError } from '../http/errors.ts'
import { refuseWhenOverloaded } from '../http/load.ts'
import { traceOf } from '../http/plugin.ts'
import { costOfList, rateLimitHeaders } from '../http/rate-limit.ts'
import { readTenant, type TenantRow } from '../tenants/settings.ts'
import { readCookie } from './cookie.ts'
import type { Deps } from './deps.ts'
import { refuseForeign, refuseForeignLook, refusePlainHttp } from './origin.ts'
import { roleOf } from './role.ts'
import { csrfTokenOf, findVisit, requireFresh, type Visit } from './session.ts'

/**
 * `who` may call a route; owners may call all. `own`: it concerns the caller's own account, which a viewer may change too, and
 * somebody who still has to set up a second factor.
 * `fresh`: the user proved their identity in the last five minutes; `hour`: in the last hour; `live`: as the environment in the
 * address needs, five minutes for live and an hour for Test. `bytesMax`: for a body that holds a file. `cost`: as many requests; a
 * list costs by its `limit`.
 */
type Demand = {
  who: 'anyone' | 'owner'
  own?: true
  fresh?: true | 'hour' | 'live'
  bytesMax?: number
  cost?: number
}

type Context = { request: Request; set: { headers: Record<string, string | number> } }
type Params = { params: { tenant?: string } }

export function guard(deps: Deps) {
  const visits = new WeakMap<Request, Visit>()
  const tenants = new WeakMap<Request, TenantRow>()
  const strangers = new WeakSet<Request>()

  function admitStranger({ request, set }: Context): void {
    if (strangers.has(request)) return
    Object.assign(set.headers, rateLimitHeaders([deps.limits.take('ip', traceOf(request).client)]))
    if (changes(request)) {
      refusePlainHttp(deps.config, request)
      refuseForeign(deps.config, request)
    } else refuseForeignLook(request)
    strangers.add(request)
  }

  async function admitVisit({ request, set }: Context, { cost = costOfList(request) }: Demand): Promise<Visit> {
    const known = visits.get(request)
    if (known) return known
    const visit = await identify(deps, request)
    refuseForged(deps, request, visit)
    if (!changes(request)) refuseWhenOverloaded(deps)
    const budgets = [deps.limits.take('dashboard', visit.user.id, cost)]
    if (changes(request)) budgets.push(deps.limits.take('dashboard-change', visit.user.id))
    Object.assign(set.headers, rateLimitHeaders(budgets))
    visits.set(request, visit)
    return visit
  }

  async function admitUser({ request, set }: Context, demand: Demand): Promise<void> {
    requireAll(request, await admitVisit({ request, set }, demand), demand, deps.now())
  }

  async function admitMember({ request, set, params }: Context & Params, demand: Demand): Promise<void> {
    if (tenants.has(request)) return
    const visit = await admitVisit({ request, set }, demand)
    const tenant = await readTenant(deps.db, params.tenant ?? '')
    // A tenant of others and one that does not exist get the same response.
    if (!tenant || (visit.user.memberOf ?? tenant.id) !== tenant.id) throw apiError('tenant_not_found')
    requireAll(request, visit, demand, deps.now())
    const trace = traceOf(request)
    trace.tenantId = tenant.id
    deps.networks.note(trace.client, tenant.id)
    tenants.set(request, tenant)
  }

  return new Elysia({ name: 'dashboard guard' }).macro({
    // The context is destructured: if it were passed on whole, the framework would read the body before any check.
    stranger: (_: true) => ({
      async parse({ request, set }: Context) {
        admitStranger({ request, set })
        return await readJson(request)
      },
      transform: ({ request, set }: Context) => admitStranger({ request, set }),
    }),
    user: (demand: Demand) => ({
      async parse({ request, set }: Context) {
        await admitUser({ request, set }, demand)
        return await readJson(request, demand.bytesMax)
      },
      transform: ({ request, set }: Context) => admitUser({ request, set }, demand),
      resolve: ({ request }: Context) => ({ visit: visits.get(request)! }),
    }),
    member: (demand: Demand) => ({
      async parse({ request, set, params }: Context & Params) {
        await admitMember({ request, set, params }, demand)
        return await readJson(request, demand.bytesMax)
      },
      transform: ({ request, set, params }: Context & Params) => admitMember({ request, set, params }, demand),
      resolve: ({ request }: Context) => ({ visit: visits.get(request)!, tenant: tenants.get(request)! }),
    }),
  })
}

async function identify(deps: Deps, request: Request): Promise<Visit> {
  const cookie = readCookie(deps.config, request.headers.get('cookie'))
  try {
    refusePlainHttp(deps.config, request)
    if (cookie === undefined) throw apiError('not_logged_in')
    return await findVisit(deps, cookie)
  } catch (error) {
    // A request without a session counts against its address.
    deps.limits.take('ip', traceOf(request).client)
    throw error
  }
}

function refuseForged(deps: Deps, request: Request, visit: Visit): void {
  if (!changes(request)) {
    refuseForeignLook(request)
    return
  }
  refuseForeign(deps.config, request)
  if (!equalConstantTime(request.headers.get('x-csrf-token') ?? '', csrfTokenOf(deps, visit))) throw apiError('csrf_refused')
}

function requireAll(request: Request, visit: Visit, { who, own, fresh }: Demand, now: number): void {
  const role = roleOf(visit.user)
  if (who === 'owner' && role !== 'owner') throw apiError('owner_required')
  if (visit.isFactorMissing && !own) throw apiError('second_factor_required')
  if (role === 'viewer' && changes(request) && !own) throw apiError('viewer_refused')
  if (fresh) requireFresh(visit, now, fresh === true || (fresh === 'live' && isLive(request)) ? 'live' : 'test')
}

/** A repeated parameter is refused later (http/plugin.ts): any of them is enough. */
const isLive = ({ url }: Request): boolean => new URL(url).searchParams.getAll('environment').includes('live')

const changes = ({ method }: Request): boolean => method !== 'GET' && method !== 'HEAD'
