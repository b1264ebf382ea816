// Rules beyond the schemas: the callers that a route allows, and the bodies that make sense.
import fc from 'fast-check'
import { PHONE_CODE, PHONE_ENDS } from '../helpers/id-routes.ts'
import { codePoint } from './code-points.ts'
import { dcqlQuery } from './dcql.ts'
import type { Operation } from './operations.ts'
import { type Meaning, PEM, SECRET, TENANT } from './shapes.ts'

/** Listed before each case that removes it. */
export const LISTED = 'https://listed.example'
/** The origin of the shop's pages. */
export const SHOP = 'https://pages.example'

export const PASSWORD = 'orchard lantern 8 crisp'

export function meaningOf(operation: Operation, names: string[]): Meaning {
  const isDashboard = operation.path.startsWith('/dashboard/api')
  const others = names.filter(name => isDashboard === DASHBOARD.test(name) || name === 'none')
  return { who: isDashboard ? 'owner' : 'test', others, ...MEANINGS[operation.id] }
}

const DASHBOARD = /owner|member|visitor|page/

const defined = (value: object): object => JSON.parse(JSON.stringify(value))
const keys = fc.constantFrom('age_over_18', 'age_over_21', 'own_template')
const purpose = fc.option(fc.string({ unit: codePoint, minLength: 1, maxLength: 300, size: 'small' }), { nil: undefined })
const createBody = fc
  .record({
    asked: fc.oneof(
      keys.map(template => ({ template })),
      dcqlQuery.map(query => ({ query })),
    ),
    purpose,
    ttl_seconds: fc.option(fc.integer({ min: 60, max: 3600 }), { nil: undefined }),
    metadata: fc.option(fc.dictionary(fc.string({ maxLength: 20 }), fc.string({ maxLength: 20 }), { maxKeys: 3 }), {
      nil: undefined,
    }),
    redirect_url: fc.constantFrom(undefined, 'https://shop.example/done#a', 'app.example:/done'),
    webhook_url: fc.constantFrom(undefined, undefined, 'https://shop.example/hook'),
  })
  .map(({ asked, ...rest }) => defined({ ...asked, ...rest }))

const till = {
  body: fc.record(
    {
      name: fc.constantFrom('Till 1', 'x', '  Kasse 2 ', 'صندوق ۳', '👩‍💻'.repeat(12)),
      allowed_templates: fc.array(fc.string({ minLength: 1, maxLength: 64, size: 'small' }), { minLength: 1, maxLength: 20 }),
      pairing_ttl_seconds: fc.integer({ min: 60, max: 86_400 }),
    },
    { requiredKeys: ['name', 'allowed_templates'] },
  ),
}

const client = {
  name: fc.constantFrom('Forum', 'x', 'صندوق ۳'),
  redirect_uris: fc.constantFrom(['https://forum.example/cb'], ['https://a.example/?b=c', 'https://a.example/d']),
  templates: fc.constantFrom(['age_over_18'], ['age_over_18', 'identity_basic']),
}

const changed = { body: till.body.map(({ name, allowed_templates }) => ({ name, allowed_templates })) }

const env = { environment: fc.constantFrom('test', 'test', 'test', 'live') }
const inEnvironment = fc.record(env)
const nothing = { body: fc.constant({}) }
/** Any point of the curve is one: this is its generator. */
const HOLDER_KEY = {
  kty: 'EC',
  crv: 'P-256',
  x: 'axfR8uEsQkf4vOblY6RA8ncDfYEt6zOg9KE5RdiYwpY',
  y: 'T-NC4v4af5uO5-tKfA-eFivOM1drMV7Oy7ZAaDe_UfU',
}
/** Of the browser's wallet call; an error leaves the session as it is. */
const protocols = fc.option(
  fc.subarray(['openid4vp-v1-unsigned', 'org-iso-mdoc', 'openid4vp-v1-signed', 'nonsense'], { minLength: 1 }),
  { nil: undefined },
)
const wallet = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom('access_denied', 'x').map(error => ({ protocol: 'openid4vp-v1-unsigned', data: { error } })),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      protocol: fc.constantFrom('openid4vp-v1-unsigned', 'openid4vp-v1-signed', 'org-iso-mdoc'),
      data: fc.constantFrom({ error: 'x' }, { vp_token: {} }, { response: 'x.y.z' }, { response: 'gmVkY2FwaaA' }),
    }),
  },
)
const STRANGER = { who: 'page' }

const MEANINGS: Record<string, Partial<Meaning>> = {
  'POST /v1/verifications': { body: createBody },
  'POST /v1/verifications/{id}/redeem': { body: fc.constant({ response_code: SECRET }) },
  'POST /wallet/request/{sessionId}': {
    body: fc.record(
      {
        wallet_nonce: fc.string({ unit: 'grapheme-ascii', minLength: 1 }),
        wallet_metadata: fc.constantFrom(
          '{}',
          '{"vp_formats_supported":{"dc+sd-jwt":{}}}',
          '{"vp_formats_supported":{"mso_mdoc":{}}}',
        ),
      },
      { requiredKeys: [] },
    ),
  },
  'POST /wallet/response/{sessionId}': {
    body: fc.record(
      {
        error: fc.constantFrom('access_denied', 'invalid_request', 'x'),
        state: fc.constant(SECRET),
        error_description: fc.string(),
      },
      { requiredKeys: ['error', 'state'] },
    ),
  },
  'POST /wallet/dc/request/{sessionId}': {
    who: 'shopper',
    body: protocols.map(each => defined({ protocols: each })),
  },
  'POST /wallet/dc/response/{sessionId}': { who: 'shopper', body: wallet },
  'POST /v1/verifications/{id}/dc-request': {
    body: protocols.map(each => defined({ origin: SHOP, protocols: each })),
  },
  'POST /v1/verifications/{id}/dc-response': { body: wallet.map(each => ({ origin: SHOP, ...each })) },
  'POST /v1/verifications/{id}/in-person-request': {
    body: fc.record(
      {
        engagement: fc.constantFrom(PHONE_CODE, `${PHONE_CODE}==`),
        transports: fc.constantFrom(['ble_peripheral_server'], ['other']),
      },
      { requiredKeys: ['engagement'] },
    ),
  },
  'POST /v1/verifications/{id}/in-person-response': { body: fc.constant({ message: PHONE_ENDS }) },
  'POST /v1/verifications/{id}/in-person-failure': {
    body: fc.constantFrom('no_bluetooth', 'lost', 'timed_out').map(code => ({ code })),
  },
  'POST /sandbox/documents': {
    body: fc.constantFrom('adult', 'minor', 'expired').map(persona => ({ persona, holder_key: HOLDER_KEY })),
  },
  'POST /dashboard/api/tenants/{tenant}/clients': {
    body: fc.record({ environment: fc.constantFrom('test', 'live'), ...client }),
  },
  'PUT /dashboard/api/tenants/{tenant}/clients/{id}': { body: fc.record(client, { requiredKeys: [] }) },
  'POST /dashboard/api/tenants/{tenant}/clients/{id}/secret': {
    body: fc.constantFrom('now', '1h', '24h', '7d').map(old_expires => ({ old_expires })),
  },
  'GET /till/data': { who: 'device' },
  'POST /v1/devices': till,
  'PATCH /v1/devices/{id}': changed,
  'POST /v1/devices/enroll': { body: fc.constantFrom(SECRET, `${SECRET} `).map(pairing_code => ({ pairing_code })) },
  'POST /v1/devices/token': { body: fc.constant({ refresh_token: SECRET }) },
  'GET /dashboard/api/entrance': STRANGER,
  'POST /dashboard/api/link': { ...STRANGER, body: fc.constant({ token: SECRET }) },
  'POST /dashboard/api/setup': STRANGER,
  'POST /dashboard/api/choose-password': { ...STRANGER, body: fc.constant({ token: SECRET, password: PASSWORD }) },
  'POST /dashboard/api/login': {
    ...STRANGER,
    body: fc.constantFrom('lena', ' LENA ').map(name => ({ name, password: PASSWORD })),
  },
  'POST /dashboard/api/reauthenticate': { body: fc.constant({ password: PASSWORD }) },
  'POST /dashboard/api/password': {
    body: fc.constantFrom(PASSWORD, 'gravel 9 hammock tulip').map(chosen => ({ password: PASSWORD, new_password: chosen })),
  },
  'POST /dashboard/api/users': {
    body: fc.uuid().map(uuid => ({ name: `guest-${uuid}`, tenant: TENANT })),
  },
  'PUT /dashboard/api/security/rule': { body: fc.constant({ is_required: false }) },
  'POST /dashboard/api/signing/csr': nothing,
  'GET /dashboard/api/signing/csr': { query: fc.constant({}) },
  'POST /dashboard/api/trust/blocks': {
    body: fc.record({ ...env, fingerprint: fc.stringMatching(/^[0-9a-f]{64}$/), reason: fc.constant('stolen key') }),
  },
  'POST /dashboard/api/trust': { body: fc.record({ ...env, pem: fc.constant(PEM) }) },
  'POST /dashboard/api/tenants/{tenant}/verifications': { body: fc.record({ template: keys, purpose }).map(defined) },
  'PUT /dashboard/api/tenants/{tenant}/templates/{key}': {
    body: fc.record({ title: fc.string({ minLength: 1, maxLength: 100, size: 'small' }), query: dcqlQuery }),
  },
  'POST /dashboard/api/tenants/{tenant}/template-check': { body: fc.record({ query: dcqlQuery }) },
  'GET /dashboard/api/tenants/{tenant}/verifications/{id}': { query: inEnvironment },
  'DELETE /dashboard/api/tenants/{tenant}/verifications/{id}': { query: inEnvironment, ...nothing },
  'POST /v1/verifications/{id}/cancel': nothing,
  'POST /dashboard/api/tenants/{tenant}/verifications/{id}/cancel': { query: inEnvironment, ...nothing },
  'POST /dashboard/api/tenants/{tenant}/devices': till,
  'PUT /dashboard/api/tenants/{tenant}/devices/{id}': { query: inEnvironment, ...changed },
  'POST /dashboard/api/tenants/{tenant}/devices/{id}/pairing': { query: inEnvironment },
  'DELETE /dashboard/api/tenants/{tenant}/devices/{id}': { query: inEnvironment, ...nothing },
  'POST /dashboard/api/tenants/{tenant}/origins': { body: fc.uuid().map(uuid => ({ origin: `https://${uuid}.example` })) },
  'DELETE /dashboard/api/tenants/{tenant}/origins': { query: inEnvironment, body: fc.constant({ origin: LISTED }) },
  'PUT /dashboard/api/tenants/{tenant}/look': {
    body: fc.record({
      accent: fc.constantFrom('#1f4fd8', '#ffffff', null),
      privacy_url: fc.constantFrom('https://shop.example/privacy', null),
      without_wallet: fc.constantFrom({ en: 'Or show your ID.' }, { de: 'Oder mit Ausweis.', pl: 'Albo dowód.' }, null),
    }),
  },
  'GET /dashboard/api/tenants/{tenant}/deliveries/{id}': { query: inEnvironment },
  'POST /dashboard/api/tenants/{tenant}/deliveries/{id}/replay': { query: inEnvironment, ...nothing },
}
