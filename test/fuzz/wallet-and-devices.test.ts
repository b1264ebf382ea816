import { fuzzRoutes } from './routes.ts'

fuzzRoutes(
  ({ path, responses }) =>
    !path.startsWith('/v1/verifications') &&
    path !== '/v1/usage' &&
    !path.startsWith('/dashboard/api') &&
    responses !== undefined,
)
