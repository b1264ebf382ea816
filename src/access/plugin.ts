// The order of checks for every route: key, scope, budgets, and only then the body (interface 5.6);
// then a place among the requests in work. Hooks that run later would read a stranger's body first;
// see `need` below for where each step runs.
import { Elysia } from 'elysia'
import { readJson, readOptionalJson } from '../http/body.ts'
import { ApiError, apiError } from '../http/errors.ts'
import { refuseWhenOverloaded } from '../http/load.ts'
import { traceOf } from '../http/plugin.ts'
import { costOfList, type Policy, rateLimitHeaders } from '../http/rate-limit.ts'
import { authenticate } from './authenticate.ts'
import type { Deps } from './deps.ts'
import type { Caller, Scope } from './scopes.ts'

const BODIES = { json: readJson, optional: readOptionalJson }

type Need = {
  scope: Scope
  /** The route's own budget, beside those of key and tenant. */
  budget?: 'create'
  /** Charged by its `limit`. */
  list?: true
  /** Takes an Idempotency-Key. */
  idempotent?: true
  /** `optional`: no body counts as an empty object. */
  body?: keyof typeof BODIES
}

/** A route without a key, limited by address and, with `perSession`, by session. */
type Open = {
  perSession?: 'status' | 'wallet-get' | 'wallet-post'
  /** No CORS headers: only pages of this service read it. */
  ownPages?: true
  /** A secret in the body is exchanged for tokens: budgets limit guesses, in guesses/pairing.ts those of pairing codes. */
  exchange?: 'enroll' | 'refresh'
  /** Takes an Idempotency-Key. */
  idempotent?: true
  body?: 'json'
}

type Params = { id?: string; sessionId?: string }
/** Longer ids do not exist, and budgets are stored by id. */
const ID_CHARS_MAX = 64
type Context = { request: Request; set: { headers: Record<string, string | number> } }

export function accessPlugin(deps: Deps) {
  const callers = new WeakMap<Request, Caller>()

  async function admit({ request, set }: Context, need: Need): Promise<void> {
    if (callers.has(request)) return
    const caller = await identify(deps, request)
    if (!caller.scopes.includes(need.scope)) {
      throw apiError('insufficient_scope', { message: lacks(caller, need.scope) })
    }
    if (need.budget || need.list) refuseWhenOverloaded(deps)
    if (need.budget) traceOf(request).isTelling = true
    Object.assign(set.headers, spendBudgets(deps, caller, need, need.list ? costOfList(request) : 1))
    if (need.idempotent) refuseMalformedKey(request)
    callers.set(request, caller)
  }

  function enter(request: Request): void {
    const caller = callers.get(request)!
    traceOf(request).leave = deps.limits.enter(caller.tenantId, idOf(caller))
  }

  const admitted = new WeakSet<Request>()

  function admitAnyone({ request, set, params }: Context & { params: Params }, open: Open): void | Promise<void> {
    if (admitted.has(request)) return
    // Set before any refusal, so that pages of other origins can read the refusal.
    if (!open.exchange && !open.ownPages) Object.assign(set.headers, OPEN_TO_ALL_ORIGINS)
    if (open.perSession === 'status') refuseWhenOverloaded(deps)
    const { client } = traceOf(request)
    const allowances = [deps.limits.take('ip', client)]
    // Per client: somebody who saw the QR code must not use up the wallet's budget.
    const session = () => [(params.id ?? params.sessionId)?.slice(0, ID_CHARS_MAX), client].join(' ')
    if (open.perSession === 'status' || open.perSession === 'wallet-get')
      allowances.push(deps.limits.take(open.perSession, session()))
    if (open.exchange === 'refresh') allowances.push(deps.limits.take('refresh', client))
    const finish = () => {
      Object.assign(set.headers, rateLimitHeaders(allowances))
      if (open.idempotent) refuseMalformedKey(request)
      admitted.add(request)
    }
    if (open.perSession === 'wallet-post') {
      traceOf(request).isTelling = true
      return deps.guesses.take('wallet-post', session()).then(allowance => {
        allowances.push(allowance)
        finish()
      })
    }
    finish()
  }

  return new Elysia({ name: 'access' }).macro({
    need: (need: Need) => ({
      detail: { access: need },
      // Runs before the body is touched, but not for GET and HEAD.
      async parse({ request, set }: Context) {
        await admit({ request, set }, need)
        return need.body ? await BODIES[need.body](request) : null
      },
      // Runs for every method, before validation. Destructured: a hook that takes the whole context
      // makes the framework parse cookies, query and headers for every request.
      async transform({ request, set }: Context) {
        await admit({ request, set }, need)
        // A place is taken after the body has arrived: a slow sender does not hold one.
        enter(request)
      },
      resolve: ({ request }: Context) => ({ caller: callers.get(request)! }),
    }),
    open: (open: Open) => ({
      detail: { access: open },
      ...(open.body === 'json' && {
        async parse({ request, set, params }: Context & { params: Params }) {
          await admitAnyone({ request, set, params }, open)
          return await readJson(request)
        },
      }),
      // Destructured: if it were passed on whole, the framework would read the body. It awaits only what is declared async.
      transform: isShared(open)
        ? async ({ request, set, params }: Context & { params: Params }) => await admitAnyone({ request, set, params }, open)
        : ({ request, set, params }: Context & { params: Params }) => void admitAnyone({ request, set, params }, open),
    }),
  })
}

/** Routes with a budget that all processes share. */
const isShared = ({ perSession }: Open): boolean => perSession === 'wallet-post'

/** Pages and wallets of any origin may call; no credentials are involved. */
const OPEN_TO_ALL_ORIGINS = {
  'access-control-allow-origin': '*',
  // Pages of other origins could otherwise read neither Retry-After nor the request id.
  'access-control-expose-headers': 'retry-after, ratelimit, ratelimit-policy, x-request-id',
  'cross-origin-resource-policy': 'cross-origin',
}

const lacks = ({ kind }: Caller, scope: Scope): string =>
  kind === 'key'
    ? `This API key lacks the scope ${scope}; create a key that has it.`
    : `A device never has the scope ${scope}; use an API key.`

async function identify(deps: Deps, request: Request): Promise<Caller> {
  const trace = traceOf(request)
  try {
    const caller = await authenticate(deps, request.headers.get('authorization'))
    if (caller.kind === 'key') trace.keyPrefix = caller.name
    else trace.deviceId = caller.deviceId
    trace.tenantId = caller.tenantId
    deps.networks.note(trace.client, caller.tenantId)
    return caller
  } catch (error) {
    // Only failures count: valid keys behind the same address are not slowed down.
    if (error instanceof ApiError && error.status === 401) deps.limits.take('badauth', trace.client)
    throw error
  }
}

/** A repeated header arrives joined by comma and space, so it is refused too. */
function refuseMalformedKey(request: Request): void {
  const key = request.headers.get('idempotency-key')
  if (key !== null && !/^[\x21-\x7e]{1,255}$/.test(key)) throw apiError('invalid_idempotency_key')
}

const idOf = (caller: Caller): string => (caller.kind === 'key' ? caller.keyId : caller.deviceId)

function spendBudgets({ limits }: Deps, caller: Caller, need: Need, cost: number): Record<string, string> {
  const { environment, tenantId } = caller
  const id = idOf(caller)
  const own = caller.kind === 'key' ? (`key-${environment}` as const) : 'device'
  const allowances = [limits.take(own, id, cost), limits.take('tenant', tenantId, cost)]
  if (need.budget) allowances.push(limits.take(`${need.budget}-${environment}` satisfies Policy, `${tenantId} ${environment}`))
  return rateLimitHeaders(allowances)
}
