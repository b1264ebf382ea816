import { fuzzRoutes } from './routes.ts'

fuzzRoutes(
  ({ path, responses }) =>
    !path.startsWith('/v1/verifications') &&
    path !== '/v1/usage' &&
    !path.startsWith('/dashboard/api') &&
    responses !== undefined,
  // Only the hosted page itself may call them.
  { 'POST /v/{id}/owner': 0, 'POST /v/{id}/return': 0 },
)
