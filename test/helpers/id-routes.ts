// The routes of the API that take an id of the caller's: whoever asks for another's must learn nothing.
export type IdRoute = { of: 'session' | 'device'; method: string; path: string; body?: object }

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
  { of: 'session', method: 'GET', path: '/v1/verifications/ID/comparison' },
  { of: 'session', method: 'POST', path: '/v1/verifications/ID/comparison', body: { same_person: true } },
  { of: 'device', method: 'PATCH', path: '/v1/devices/ID', body: { name: 'Till 2' } },
  { of: 'device', method: 'POST', path: '/v1/devices/ID/pairing' },
  { of: 'device', method: 'DELETE', path: '/v1/devices/ID' },
]
