import { fuzzRoutes } from './routes.ts'

fuzzRoutes(({ path }) => path.startsWith('/dashboard/api/') && !path.startsWith('/dashboard/api/tenants/'), {
  // Works once, and was used for the owner.
  'POST /dashboard/api/setup': 0,
  // Takes a certificate that somebody issued for our key.
  'POST /dashboard/api/signing': 0,
  // Takes a certificate once for each environment and type.
  'POST /dashboard/api/trust': 0.05,
})
