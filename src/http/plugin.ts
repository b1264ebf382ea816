import type { BunRequest, Server } from 'bun'
import { Elysia } from 'elysia'
import { describeFailure } from '../base/log.ts'
import { isUnavailable } from '../base/unavailable.ts'
import { isPublicName } from '../egress/addresses.ts'
import { addressBucket, clientAddress } from './client-address.ts'
import type { Deps } from './deps.ts'
import { ApiError, addressInHandbook, apiError, envelope } from './errors.ts'
import { refuseWhenOverloaded } from './load.ts'
import type { RateLimits } from './rate-limit.ts'
import { allowedMethodsOf, isInexact, knownQueriesOf, pathOf, type Route } from './routing.ts'
import { describeProblem } from './schema.ts'
import { SLICE_MS, type Turns } from './turns.ts'

const URL_LENGTH_MAX = 4096
const DATABASE_AWAY =
  'The database does not answer. The request may have been carried out: repeat it in a second, with the same Idempotency-Key.'
/**
 * Request ids of callers: UUID, ULID, trace id. No key, token, code or session id of ours has this
 * form, so none gets into a log.
 */
const GIVEN_ID = /^[A-Za-z0-9-]{16,36}$/

/** State of a request in work, for its log line, rate limits and metrics. */
type Trace = {
  id: string
  startedAt: number
  /** The client's address, behind trusted proxies. */
  address: string
  /** The client's network, as rate limits count it. */
  client: string
  keyPrefix?: string
  deviceId?: string
  tenantId?: string
  errorCode?: string
  limits: RateLimits
  turns: Turns
  isAccounted?: boolean
  /** Its time tells how busy this machine is. */
  isTelling?: true
  /** Gives back the request's place among those in work. */
  leave?: () => void
}

const traces = new WeakMap<Request, Trace>()

export function traceOf(request: Request): Trace {
  const trace = traces.get(request)
  if (!trace) throw new Error('a request is traced from its start')
  return trace
}

/** Counts a body being read against its tenant or, when unknown, its network; throws 429 beyond their share. */
export function startReading(request: Request, bytes: number): () => void {
  const trace = traces.get(request)
  return trace ? trace.limits.read(trace.tenantId ?? trace.client, bytes) : () => {}
}

/** Bodies above it are parsed one in each turn of the event loop, however many arrive together. */
const SMALL_BODY_BYTES = 16 * 1024

/** Awaited between the last byte of a body and its parser. */
export async function waitToParse(request: Request, bytes: number): Promise<void> {
  if (bytes > SMALL_BODY_BYTES) await traces.get(request)?.turns.next(SLICE_MS)
}

/** A hook that charges the client's network. A page that has begun to load gets its parts. */
export const takesFrom =
  (deps: Deps, policy: 'page' | 'probe') =>
  ({ request }: { request: Request }): void => {
    if (isForPage(request)) refuseWhenOverloaded(deps)
    deps.limits.take(policy, traceOf(request).client)
  }

const SECURITY_HEADERS = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
  'cross-origin-resource-policy': 'same-origin',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
}

const HSTS = { 'strict-transport-security': 'max-age=31536000' }

type Ended = { request: Request; route: string; set: { status?: number | string }; answer?: unknown }

type Surroundings = {
  /** All routes that it wraps, once they are there. */
  routes: () => Route[]
  /** The listener. A hook that names `server` would make the framework define a getter on the context of every request. */
  server: () => Pick<Server<unknown>, 'requestIP'> | null
  lostPage: (url: string) => Promise<Response>
}

/**
 * Wraps every route: request id, security headers, one log line, metrics, and the error envelope on
 * every response that is not 2xx.
 */
export function httpPlugin(deps: Deps, { routes, server, lostPage }: Surroundings) {
  const { config, random, log, metrics, limits, turns } = deps
  const allowedMethods = allowedMethodsOf(routes)
  const hasKnownQuery = knownQueriesOf(routes)
  const boot = Buffer.from(random(6)).toString('base64url')
  let counter = 0

  // The framework's own hook after a response makes a timer for each request, which keeps the request in memory: 10,000 pollers
  // took four times as much.
  const account = ({ request, route, set, answer }: Ended): void => {
    const trace = traces.get(request)
    if (!trace || trace.isAccounted) return
    trace.isAccounted = true
    trace.leave?.()
    const ms = performance.now() - trace.startedAt
    if (trace.isTelling && trace.errorCode === undefined) deps.took(ms)
    const labels = { method: knownMethod(request.method), route: route || 'none', status: statusOf(set, answer) }
    metrics.count('vidimus_http_requests_total', labels)
    metrics.observe('vidimus_http_request_seconds', { route: labels.route }, ms / 1000)
    log.info('request', {
      request_id: trace.id,
      method: labels.method,
      route: labels.route,
      status: Number(labels.status),
      ms: Math.round(ms * 10) / 10,
      key_prefix: trace.keyPrefix,
      device: trace.deviceId,
      tenant: trace.tenantId,
      error_code: trace.errorCode,
    })
  }

  return new Elysia({ name: 'http' })
    .headers(isPublicHttps(config.publicUrl) ? { ...SECURITY_HEADERS, ...HSTS } : SECURITY_HEADERS)
    .onRequest(({ request, set }) => {
      const given = request.headers.get('x-request-id')
      const id = given !== null && GIVEN_ID.test(given) ? given : `req_${boot}${(counter++).toString(36)}`
      const peer = server()?.requestIP(request)?.address ?? ''
      const address = clientAddress(peer, request.headers.get('x-forwarded-for'), config.trustedProxies)
      traces.set(request, { id, startedAt: performance.now(), address, client: addressBucket(address), limits, turns })
      set.headers['x-request-id'] = id
      refuseSecondHost(request)
      if (request.url.length > URL_LENGTH_MAX) throw apiError('uri_too_long')
      refuseUnknownPath(request, limits, allowedMethods)
      // The router would take /v1/devices/enroll for a device id, and ask for authentication before saying that there is none.
      if (/^(DELETE|PATCH)$/.test(request.method)) refuseWrongMethod(request.method, allowedMethods(pathOf(request.url)))
    })
    .onBeforeHandle({ as: 'global' }, ({ request, route }) => {
      // The query is checked after authentication and scope: a stranger gets 401, whatever the query.
      if (request.url.includes('&') && hasKnownQuery(request.method, route)) refuseRepeated(request.url)
    })
    .onError({ as: 'global' }, async ({ error, code, request, route, set }) => {
      const refusal = refusalFrom(error, code)
      const trace = traces.get(request)
      if (trace) trace.errorCode = refusal.code
      metrics.count('vidimus_http_refusals_total', { code: refusal.wireCode })
      if (refusal.status >= 500)
        log.error('request.failed', { request_id: trace?.id, failure: describeFailure(refusal.cause ?? refusal) })
      set.status = refusal.status
      // A person's browser asks again by itself.
      if (refusal.status === 429 && isForPage(request)) set.headers.refresh = refusal.headers['retry-after'] ?? ''
      Object.assign(set.headers, refusal.headers, { link: helpLink(config.publicUrl, refusal.wireCode) })
      // A handler may have set the content type before it failed.
      delete set.headers['content-type']
      account({ request, route, set })
      if (refusal.code === 'not_found' && isForPage(request)) return await lostPage(request.url)
      return envelope(refusal.wireCode, refusal.message, refusal.reason)
    })
    .mapResponse({ as: 'global' }, ({ request, route, set, responseValue }) => {
      account({ request, route, set, answer: responseValue })
      // A refusal of onRequest would have no body without it. A `status()` of a transform or a resolve passes by: they throw.
      return responseValue as Response
    })
}

/** A response that a handler made itself has its own status: a redirect, or 304. */
const statusOf = (set: Ended['set'], answer: unknown): string =>
  String(answer instanceof Response && answer.status !== 200 ? answer.status : (set.status ?? 200))

/** Opened in a browser, and not a path of the API, which answers in JSON alone. */
function isForPage({ method, headers, url }: Request): boolean {
  return method === 'GET' && /\btext\/html\b/.test(headers.get('accept') ?? '') && !/^\/(v1|wallet)\//.test(pathOf(url))
}

/** RFC 8288. */
const helpLink = (publicUrl: string, code: string): string => `<${publicUrl}/${addressInHandbook(code)}>; rel="help"`

/** HSTS covers every port of a host: on localhost or a local name it would block plain http of other programs for a year. */
function isPublicHttps(publicUrl: string): boolean {
  const { protocol, hostname } = URL.parse(publicUrl) ?? {}
  return protocol === 'https:' && isPublicName(hostname ?? '')
}

/**
 * RFC 9112 § 3.2: a proxy may have chosen another one of two. The runtime joins them by comma and
 * space, and no name of a host has a comma.
 */
function refuseSecondHost({ headers }: Request): void {
  if (headers.get('host')?.includes(','))
    throw apiError('invalid_request', { message: 'Host: is repeated, or names several hosts; send one' })
}

/**
 * Only the runtime's router compares paths as sent, and it sets `params`. The framework's router
 * gets all other requests and would also accept `/a/../metrics`, `/metrics/` and, with a Host of
 * one letter, `/aa/metrics`: past the rules of a proxy.
 */
function refuseUnknownPath(request: Request, limits: RateLimits, allowedMethods: (path: string) => string[]): void {
  const { params } = request as Partial<BunRequest>
  if (params) {
    if (Object.values<string>(params).some(isInexact)) throw apiError('not_found')
    return
  }
  limits.take('page', traceOf(request).client)
  const methods = allowedMethods(pathOf(request.url))
  // A known path with a right method was spelled differently: the address is normalised when it arrives here.
  if (methods.length === 0 || methods.includes(request.method)) throw apiError('not_found')
  throw methodNotAllowed(methods)
}

/** Two readers of the address could use different ones. */
function refuseRepeated(url: string): void {
  const seen = new Set<string>()
  const repeated = new URL(url).searchParams.keys().find(name => seen.size === seen.add(name).size)
  if (repeated !== undefined) throw apiError('invalid_request', { message: `${repeated}: is repeated; send it once` })
}

function refusalFrom(error: unknown, code: unknown): ApiError {
  // Errors of a parse hook arrive wrapped.
  const real = code === 'PARSE' ? ((error as Error).cause ?? error) : error
  if (real instanceof ApiError) return real
  if (isUnavailable(real)) return apiError('internal_error', { message: DATABASE_AWAY, cause: real })
  if (code === 'VALIDATION') return invalidRequest(error as ValidationFailure)
  return apiError('internal_error', { cause: real })
}

const methodNotAllowed = (allowed: string[]) => apiError('method_not_allowed', { headers: { allow: allowed.join(', ') } })

function refuseWrongMethod(method: string, allowed: string[]): void {
  if (allowed.length > 0 && !allowed.includes(method)) throw methodNotAllowed(allowed)
}

type ValidationFailure = Error & {
  type: string
  all: { path: string; message: string; schema: Parameters<typeof describeProblem>[0]['schema'] }[]
}

function invalidRequest(failure: ValidationFailure): ApiError {
  if (failure.type === 'response') return apiError('internal_error', { cause: failure })
  const [first] = failure.all
  return apiError('invalid_request', first && { message: describeProblem(first) })
}

/** Methods are metric labels: invented ones must not add series. */
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']
const knownMethod = (method: string): string => (METHODS.includes(method) ? method : 'OTHER')
