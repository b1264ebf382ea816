import { fuzzRoutes } from './routes.ts'

fuzzRoutes(({ path }) => path.startsWith('/dashboard/api/tenants/'), {
  // One that is on its way is not sent again, and one always is.
  'POST /dashboard/api/tenants/{tenant}/deliveries/{id}/replay': 0.02,
  // Few texts are the scheme of an app.
  'PUT /dashboard/api/tenants/{tenant}': 0.05,
})
