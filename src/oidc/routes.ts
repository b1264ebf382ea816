import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { accessPlugin } from '../access/plugin.ts'
import { apiError } from '../http/errors.ts'
import type { Issuer } from './client-store.ts'
import type { Deps } from './deps.ts'
import { readDiscovery } from './discovery.ts'
import { readJwks } from './keys.ts'

const IssuerPath = Type.Object({ tenant: Type.String(), environment: Type.String() })

// Its own document describes it: discovery.
const HIDDEN = { hide: true }
const CACHED = { 'cache-control': 'public, max-age=3600' }

/** The OpenID provider: an issuer for each tenant and environment. */
export const oidcRoutes = (deps: Deps) =>
  new Elysia({ prefix: '/oidc/:tenant/:environment' })
    .use(accessPlugin(deps))
    .get(
      '/.well-known/openid-configuration',
      async ({ params, set }) => found(await readDiscovery(deps, issuerFrom(params)), set),
      { open: {}, params: IssuerPath, detail: HIDDEN },
    )
    .get('/jwks', async ({ params, set }) => found(await readJwks(deps, issuerFrom(params)), set), {
      open: {},
      params: IssuerPath,
      detail: HIDDEN,
    })

function found(document: object | undefined, set: { headers: Record<string, string | number> }): object {
  if (!document) throw apiError('not_found')
  Object.assign(set.headers, CACHED)
  return document
}

function issuerFrom({ tenant: tenantId, environment }: typeof IssuerPath.static): Issuer {
  if (environment !== 'test' && environment !== 'live') throw apiError('not_found')
  return { tenantId, environment }
}
