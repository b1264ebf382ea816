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
    // Pages have names; test/handbook opens them all.
    'GET /docs/{page}': 0,
    'GET /docs/recipes/{page}': 0,
  },
)
