import { fuzzRoutes } from './routes.ts'

fuzzRoutes(
  ({ path, responses }) =>
    path.startsWith('/v1/verifications') ||
    path === '/v1/usage' ||
    (responses === undefined && !path.startsWith('/dashboard/api')),
  {
    // Only a wallet completes a session.
    'GET /v1/verifications/{id}/comparison': 0,
    'POST /v1/verifications/{id}/comparison': 0,
    // There is no client here; test/oidc logs people in.
    'GET /oidc/{tenant}/{environment}/.well-known/openid-configuration': 0,
    'GET /oidc/{tenant}/{environment}/jwks': 0,
    'GET /oidc/{tenant}/{environment}/authorize': 0,
    'POST /oidc/{tenant}/{environment}/authorize': 0,
    'POST /oidc/{tenant}/{environment}/return/{login}': 0,
    'POST /oidc/{tenant}/{environment}/token': 0,
    'GET /oidc/{tenant}/{environment}/userinfo': 0,
    'POST /oidc/{tenant}/{environment}/userinfo': 0,
    // Pages have names; test/handbook opens them all.
    'GET /docs/{page}': 0,
    'GET /docs/recipes/{page}': 0,
  },
)
