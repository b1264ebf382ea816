// The routes of the dashboard as its own table has them, each with a path and a body that nothing else refuses.
import { createApp } from '../../src/app.ts'
import type { TestApp } from './app.ts'
import { type Browser, PASSWORD } from './dashboard.ts'

export type Route = { method: string; path: string }

/** Kinds of things that a path can name. */
export type Things = { verification: string; delivery: string; key: string; client: string; device: string; template: string }

export const QUERY = {
  credentials: [
    { id: 'm', format: 'dc+sd-jwt', meta: { vct_values: ['https://club.example/m'] }, claims: [{ path: ['level'] }] },
  ],
}

export const BODIES: Record<string, unknown> = {
  'PUT /tenants/:tenant': { name: 'Taken over' },
  'POST /tenants/:tenant/verifications': { template: 'age_over_18' },
  'POST /tenants/:tenant/keys': { environment: 'live', scopes: ['verifications:read'], expires_days: null },
  'POST /tenants/:tenant/keys/:id/roll': { old_expires: 'now' },
  'POST /tenants/:tenant/clients': {
    environment: 'live',
    name: 'Forum',
    redirect_uris: ['https://forum.example/auth/oidc/callback'],
    templates: ['age_over_18'],
  },
  'PUT /tenants/:tenant/clients/:id': { name: 'Taken over' },
  'POST /tenants/:tenant/clients/:id/secret': { old_expires: 'now' },
  'POST /tenants/:tenant/log-in-keys/turn': { environment: 'live', drop_old: false },
  'PUT /tenants/:tenant/devices/:id': { name: 'Till 2' },
  'POST /tenants/:tenant/devices': { name: 'Till', allowed_templates: ['age_over_18'] },
  'PUT /tenants/:tenant/templates/:key': { title: 'Member', query: QUERY },
  'POST /tenants/:tenant/template-check': { query: QUERY },
  'POST /tenants/:tenant/template-build': { steps: [{ documents: ['pid'], claims: ['family_name'], format: null }] },
  'PUT /tenants/:tenant/webhook-endpoint': { webhook_url: 'https://hooks.shop.example/' },
  'POST /tenants/:tenant/origins': { origin: 'https://rights.example' },
  'DELETE /tenants/:tenant/origins': { origin: 'https://rights.example' },
  'PUT /tenants/:tenant/look': { accent: '#1f4fd8' },
  'PUT /tenants/:tenant/go-live/path': { documents: ['eu_age'] },
  'POST /tenants': { name: 'Mine' },
  'PUT /users/:id/role': { role: 'viewer' },
  'PUT /security/rule': { is_required: true },
  'POST /security/codes/start': { code: '000000' },
  'POST /users': { name: 'eve', tenant: 'ten_x' },
  'PUT /mail/address': { address: 'olivia@shop.example', language: 'en' },
  'POST /users/:id/mail-link': { token: 'x'.repeat(43), address: 'olivia@shop.example', language: 'en' },
  'POST /trust': { environment: 'live', pem: 'x' },
  'POST /trust/sources': { environment: 'live', preset: 'eu-av', signers: [] },
  'POST /trust/sources/check': { list: 'AAAA' },
  'POST /trust/sources/:id/pins': { signer: 'x' },
  'DELETE /trust/sources/:id/pins': { signer: 'x' },
  'POST /trust/bundle': { bundle: 'x' },
  'POST /trust/blocks': { environment: 'live', fingerprint: 'x', reason: 'x' },
  'DELETE /trust/blocks': { environment: 'live', fingerprint: 'x' },
  'POST /signing': { chain: 'x' },
  'POST /signing/csr': {},
  'DELETE /signing': { tenant: 'ten_x' },
  'DELETE /signing/next': {},
  'POST /registrations': { certificate: 'x' },
  'POST /reauthenticate': { password: PASSWORD },
  'POST /password': { password: PASSWORD, new_password: 'gravel 7 umbrella north' },
}

/** Routes that ask for the environment. */
export const ENVIRONMENTAL = /overview|verifications|devices|deliveries|webhook-|origins|log-in-keys$/

export function dashboardRoutes(app: TestApp): Route[] {
  const table = createApp(app.deps).routes as Route[]
  return table
    .filter(({ path }) => path.startsWith('/dashboard/api'))
    .map(({ method, path }) => ({ method, path: path.replace('/dashboard/api', '') }))
}

export const nameOf = ({ method, path }: Route): string => `${method} ${path}`

type Named = Things & { tenant: string; environment?: string }

export function askRoute(browser: Browser, route: Route, { tenant, environment = 'test', ...things }: Named) {
  const path = route.path.replace(':tenant', tenant).replace(':id', idIn(route.path, things)).replace(':key', things.template)
  const query = ENVIRONMENTAL.test(path) && nameOf(route) !== 'POST /tenants/:tenant/verifications'
  return browser.send(route.method, `${path}${query ? `?environment=${environment}` : ''}`, { body: BODIES[nameOf(route)] })
}

function idIn(path: string, { verification, delivery, key, client, device }: Things): string {
  if (path.includes('/verifications/')) return verification
  if (path.includes('/deliveries/')) return delivery
  if (path.includes('/keys/')) return key
  if (path.includes('/clients/')) return client
  if (path.includes('/devices/')) return device
  return 'none'
}
