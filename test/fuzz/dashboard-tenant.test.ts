import { fuzzRoutes } from './routes.ts'

fuzzRoutes(({ path }) => path.startsWith('/dashboard/api/tenants/'), {
  // One that is on its way is not sent again, and one always is.
  'POST /dashboard/api/tenants/{tenant}/deliveries/{id}/replay': 0.02,
  // Each makes an RSA key, which takes a while; test/oidc turns them.
  'POST /dashboard/api/tenants/{tenant}/log-in-keys/turn': 0,
  // A run at a time, and its word is not guessed.
  'POST /dashboard/api/tenants/{tenant}/verifications/examples': 0.02,
  // Test may have been emptied before.
  'POST /dashboard/api/tenants/{tenant}/verifications/{id}/cancel': 0.02,
  // With the seed of today most cases name another tenant.
  'POST /dashboard/api/tenants/{tenant}/clients': 0.05,
  // Few texts are the scheme of an app.
  'PUT /dashboard/api/tenants/{tenant}': 0.05,
})
