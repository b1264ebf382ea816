import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { accessPlugin } from '../access/plugin.ts'
import { ApiError, apiError } from '../http/errors.ts'
import { authorize } from './authorize.ts'
import { findIssuer, type Issuer } from './client-store.ts'
import type { Deps } from './deps.ts'
import { readDiscovery } from './discovery.ts'
import { readJwks } from './keys.ts'
import { returnToClient } from './return.ts'
import { exchangeCode } from './token.ts'
import { readUserinfo } from './userinfo.ts'

const IssuerPath = Type.Object({ tenant: Type.String(), environment: Type.String() })
const LoginPath = Type.Object({ tenant: Type.String(), environment: Type.String(), login: Type.String() })

// Its own document describes it: discovery. Copied for each route, because the framework writes into what it is given.
const OPEN = { open: {}, params: IssuerPath, detail: { hide: true } }
const OWN = { open: { ownPages: true as const }, params: IssuerPath, detail: { hide: true } }
const CACHED = { 'cache-control': 'public, max-age=3600' }
const PREFLIGHT = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'GET, POST',
  'access-control-allow-headers': 'authorization, content-type',
  'access-control-max-age': '600',
}

/** A page for the browser, with a refusal. */
export type ServeLoginPage = (url: string, refusal?: Refusal) => Promise<Response>
type Refusal = { reason: string; status: number; headers?: Record<string, string> }

type At = { params: typeof IssuerPath.static; request: Request }

/** The OpenID provider: an issuer for each tenant and environment. */
export function oidcRoutes(deps: Deps, servePage: ServeLoginPage) {
  /** One exists from its first client on: strangers make none. */
  const issuerOf = async ({ tenant: tenantId, environment }: typeof IssuerPath.static): Promise<Issuer> => {
    if (environment !== 'test' && environment !== 'live') throw apiError('not_found')
    const issuer: Issuer = { tenantId, environment }
    if (!(await findIssuer(deps.db, issuer))) throw apiError('not_found')
    return issuer
  }
  const begin = async ({ params, request }: At) => {
    // A mail scanner that looks at a link begins nothing.
    if (request.method === 'HEAD') return new Response(null)
    const begun = await authorize(deps, await issuerOf(params), request).catch(asPage)
    if (begun instanceof ApiError) return await servePage(request.url, refusalOf(begun))
    return 'page' in begun ? await servePage(request.url, { reason: begun.page, status: 400 }) : goTo(begun)
  }
  const token = async ({ params, request }: At) => await exchangeCode(deps, await issuerOf(params), request)
  const userinfo = async ({ params, request }: At) => await readUserinfo(deps, await issuerOf(params), request)
  const preflight = () => new Response(null, { status: 204, headers: PREFLIGHT })
  return new Elysia({ prefix: '/oidc/:tenant/:environment' })
    .use(accessPlugin(deps))
    .get('/.well-known/openid-configuration', async ({ params }) => cached(readDiscovery(deps, await issuerOf(params))), {
      ...OPEN,
    })
    .get('/jwks', async ({ params }) => cached(await readJwks(deps, await issuerOf(params))), { ...OPEN })
    .get('/authorize', begin, { ...OWN })
    .post('/authorize', begin, { ...OWN })
    .get('/return/:login', ({ request }) => servePage(request.url), { ...OWN, params: LoginPath })
    .post(
      '/return/:login',
      async ({ params, request }) => await returnToClient(deps, await issuerOf(params), params.login, request),
      {
        ...OWN,
        params: LoginPath,
      },
    )
    .options('/.well-known/openid-configuration', preflight, { ...OPEN })
    .options('/jwks', preflight, { ...OPEN })
    .post('/token', token, { ...OPEN })
    .options('/token', preflight, { ...OPEN })
    .get('/userinfo', userinfo, { ...OPEN })
    .post('/userinfo', userinfo, { ...OPEN })
    .options('/userinfo', preflight, { ...OPEN })
}

/** Somebody is waiting in front of it, and not a program. */
function asPage(error: unknown): ApiError {
  if (error instanceof ApiError && error.status === 429) return error
  throw error
}

const refusalOf = ({ wireCode, status, headers }: ApiError): Refusal => ({ reason: wireCode, status, headers })

const cached = (document: object): Response => Response.json(document, { headers: CACHED })

/** 303: a form is not sent on (RFC 9700 § 4.12). */
function goTo({ location, cookies = [] }: { location: string; cookies?: string[] }): Response {
  const headers = new Headers({ location })
  for (const each of cookies) headers.append('set-cookie', each)
  return new Response(null, { status: 303, headers })
}
