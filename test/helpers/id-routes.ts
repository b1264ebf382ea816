// The routes of the API that take an id of the caller's: whoever asks for another's must learn nothing.
export type IdRoute = { of: 'session' | 'device'; method: string; path: string; body?: object }

/** A phone that is a peripheral server, and one that connects by itself. Their key is the generator of P-256. */
export const PHONE_CODE =
  'mdoc:owBjMS4wAYIB2BhYS6QBAiABIVggaxfR8uEsQkf4vOblY6RA8ncDfYEt6zOg9KE5RdiYwpYiWCBP40Li_hp_m47n60p8D54WK84zV2sxXs7LtkBoN79R9QKBgwIBowD1AfQKUAARIjNEVWZ3iJmqu8zd7v8'
export const CENTRAL_PHONE_CODE =
  'mdoc:owBjMS4wAYIB2BhYS6QBAiABIVggaxfR8uEsQkf4vOblY6RA8ncDfYEt6zOg9KE5RdiYwpYiWCBP40Li_hp_m47n60p8D54WK84zV2sxXs7LtkBoN79R9QKBgwIBowD0AfULUAARIjNEVWZ3iJmqu8zd7v8'
/** SessionData with status 20. */
export const PHONE_ENDS = 'oWZzdGF0dXMU'

export const RESPONSE_CODE = 'x'.repeat(43)

export const ID_ROUTES: readonly IdRoute[] = [
  { of: 'session', method: 'GET', path: '/v1/verifications/ID' },
  { of: 'session', method: 'DELETE', path: '/v1/verifications/ID' },
  { of: 'session', method: 'POST', path: '/v1/verifications/ID/cancel' },
  { of: 'session', method: 'POST', path: '/v1/verifications/ID/redeem', body: { response_code: RESPONSE_CODE } },
  { of: 'session', method: 'POST', path: '/v1/verifications/ID/dc-request', body: { origin: 'https://shop.example' } },
  {
    of: 'session',
    method: 'POST',
    path: '/v1/verifications/ID/dc-response',
    body: { origin: 'https://shop.example', protocol: 'org-iso-mdoc', data: {} },
  },
  { of: 'session', method: 'POST', path: '/v1/verifications/ID/in-person-request', body: { engagement: PHONE_CODE } },
  { of: 'session', method: 'POST', path: '/v1/verifications/ID/in-person-response', body: { message: PHONE_ENDS } },
  { of: 'session', method: 'POST', path: '/v1/verifications/ID/in-person-failure', body: { code: 'lost' } },
  { of: 'session', method: 'GET', path: '/v1/verifications/ID/comparison' },
  { of: 'session', method: 'POST', path: '/v1/verifications/ID/comparison', body: { same_person: true } },
  { of: 'device', method: 'PATCH', path: '/v1/devices/ID', body: { name: 'Till 2' } },
  { of: 'device', method: 'POST', path: '/v1/devices/ID/pairing' },
  { of: 'device', method: 'DELETE', path: '/v1/devices/ID' },
]
