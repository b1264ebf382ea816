import { fuzzRoutes } from './routes.ts'

fuzzRoutes(({ path }) => path.startsWith('/dashboard/api/') && !path.startsWith('/dashboard/api/tenants/'), {
  // Works once, and was used for the owner.
  'POST /dashboard/api/setup': 0,
  // Takes a certificate that somebody issued for our key.
  'POST /dashboard/api/signing': 0,
  'DELETE /dashboard/api/signing': 0,
  'DELETE /dashboard/api/signing/next': 0,
  // Take the code or the signature of an authenticator, once; test/dashboard/second-factor.test.ts has one.
  'POST /dashboard/api/login/second-factor': 0,
  'POST /dashboard/api/login/passkey': 0,
  'POST /dashboard/api/security/codes/start': 0,
  'POST /dashboard/api/security/passkeys': 0,
  'DELETE /dashboard/api/security/passkeys/{id}': 0,
  'POST /dashboard/api/security/recovery-codes': 0,
  // No network is locked out here; test/devices/guessing.test.ts has one.
  'DELETE /dashboard/api/pairing-locks/{id}': 0,
  // Takes what a registrar signed.
  'POST /dashboard/api/registrations': 0,
  'DELETE /dashboard/api/registrations/{id}': 0,
  // There is no signed list here; test/dashboard/trust-lists.test.ts has some.
  'POST /dashboard/api/trust/sources': 0,
  'POST /dashboard/api/trust/sources/check': 0,
  'GET /dashboard/api/trust/sources/{id}': 0,
  'DELETE /dashboard/api/trust/sources/{id}': 0,
  'POST /dashboard/api/trust/sources/{id}/refresh': 0,
  'POST /dashboard/api/trust/sources/{id}/pins': 0,
  'DELETE /dashboard/api/trust/sources/{id}/pins': 0,
  'POST /dashboard/api/trust/bundle': 0,
  // No mail can be sent here; test/alerts has a server that takes it.
  'PUT /dashboard/api/mail/address': 0,
  'POST /dashboard/api/mail/test': 0,
  'POST /dashboard/api/mail/confirm': 0,
  'POST /dashboard/api/users/{id}/mail-link': 0,
  // Gives back what was blocked, once.
  'DELETE /dashboard/api/trust/blocks': 0,
  // Takes a certificate once for each environment and type.
  'POST /dashboard/api/trust': 0.05,
})
