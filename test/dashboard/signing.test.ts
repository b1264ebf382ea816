// The certificates that wallets see and registration certificates, through the routes of the dashboard.
import { afterAll, expect, test } from 'bun:test'
import type { Overview } from '../../src/dashboard/overview/schema.ts'
import type {
  AddedRegistration,
  ImportedSigning,
  Registration,
  Signing,
} from '../../src/dashboard/settings/installation/signing-schema.ts'
import { clientIdOf, getCertificate, newAuthority, newRegistrar, signRequest } from '../helpers/access.ts'
import { cleanUp, createVerification } from '../helpers/app.ts'
import { DAY_MS } from '../helpers/certificates.ts'
import { outcome, startOwned } from '../helpers/dashboard.ts'

afterAll(cleanUp)

test('a key is made for a shop, its certificate is installed with a start, and the shop’s sessions use it from then on', async () => {
  const { app, boss, id: tenant, key } = await startOwned()
  const { csr } = (await boss.post<{ csr: string }>('/signing/csr', { subject: 'CN=Corner Shop', tenant })).body
  expect((await boss.get<{ csr: string }>(`/signing/csr?tenant=${tenant}`)).body.csr).toStartWith('-----BEGIN')
  const waiting = (await boss.get<{ data: Signing[] }>('/signing/tenants')).body.data
  expect(waiting).toMatchObject([{ tenant, is_own: false, next: null, pending_since: new Date(app.clock.now()).toISOString() }])
  const chain = await signRequest(app, csr, { issuer: await newAuthority(app) })
  const from = new Date(app.clock.now() + DAY_MS).toISOString()
  const planned = await boss.post<ImportedSigning>('/signing', { chain, from, tenant })
  expect([planned.status, planned.body.next?.starts_at, planned.body.notes]).toEqual([200, from, []])
  const before = clientIdOf(await createVerification(app, key))
  app.clock.advance(DAY_MS)
  expect(clientIdOf(await createVerification(app, key))).toBe(planned.body.next!.client_id)
  expect(before).toBe(planned.body.client_id)
  await boss.logIn('olivia')
  expect((await boss.get<Signing>('/signing')).body).toMatchObject({ tenant: null, client_id: before, next: null })
  for (const [path, body] of [
    ['/signing/csr', { tenant: 'ten_none' }],
    ['/signing', { chain, tenant: 'ten_none' }],
    ['/registrations', { certificate: 'x', tenant: 'ten_none' }],
  ] as const)
    expect(outcome(await boss.post(path, body))).toBe('404 tenant_not_found')
  expect((await boss.post('/signing/csr', { subject: 'CN=' })).body.error).toEqual({
    code: 'invalid_request',
    message: 'subject: the subject: it needs at least one visible character',
    reason: { code: 'subject_refused', values: { flaw: 'empty' } },
  })
})

test('an owner takes back the certificate that was to start, and then the one of the shop', async () => {
  const { app, boss, id: tenant } = await startOwned()
  const own = await getCertificate(app, { owner: tenant })
  const { state } = await getCertificate(app, { owner: tenant, from: app.clock.now() + DAY_MS })
  expect(state.next).not.toBeNull()
  const cancelled = await boss.delete<Signing>('/signing/next', { tenant })
  expect(cancelled.body).toMatchObject({ tenant, is_own: true, client_id: own.state.clientId, next: null })
  expect(outcome(await boss.delete('/signing/next', {}))).toBe('400 invalid_request')
  expect(outcome(await boss.delete('/signing', { tenant: 'ten_none' }))).toBe('404 tenant_not_found')
  expect((await boss.delete<Signing>('/signing', { tenant })).body).toMatchObject({ tenant, is_own: false })
  expect((await boss.get<{ data: Signing[] }>('/signing/tenants')).body.data).toEqual([])
  const again = await boss.delete('/signing', { tenant })
  expect([again.status, again.body.error.message]).toEqual([400, 'tenant: this tenant has no certificate or key of its own'])
})

test('a registration certificate is added, listed with what it allows, announced before its end, and removed', async () => {
  const { app, boss, id: tenant } = await startOwned()
  const register = await newRegistrar(app)
  const ends = app.clock.now() + 40 * DAY_MS
  const certificate = JSON.stringify({ jwt: await register({ exp: ends / 1000 }) })
  const added = await boss.post<AddedRegistration>('/registrations', { certificate, templates: ['age_over_18'], tenant })
  expect(added.status).toBe(201)
  expect(added.body.notes).toEqual([{ code: 'organization_unknown', values: {} }])
  const list = async () => (await boss.get<{ data: Registration[] }>('/registrations')).body.data
  expect(await list()).toMatchObject([
    {
      tenant,
      subject: 'VATDE-123456789',
      templates: ['age_over_18'],
      credentials: [{ format: 'dc+sd-jwt', claims: [['age_equal_or_over', '18']] }],
      is_current: true,
      expires_soon: false,
      not_after: new Date(ends).toISOString(),
    },
  ])
  const announced = async (shop: string) =>
    (await boss.get<Overview>(`/tenants/${shop}/overview?environment=test`)).body.attention.filter(
      ({ code }) => code === 'registration_ends',
    )
  expect(await announced(tenant)).toEqual([])
  app.clock.advance(11 * DAY_MS)
  await boss.logIn('olivia')
  const { id } = added.body
  expect(await announced(tenant)).toEqual([
    { code: 'registration_ends', id, label: 'To check your age', not_after: new Date(ends).toISOString() },
  ])
  const other = await app.tenant({ name: 'Bakery' })
  expect(await announced(other.id)).toEqual([])
  const refused = await boss.post('/registrations', { certificate: 'aaa.bbb.ccc' })
  expect(refused.body.error).toEqual({
    code: 'invalid_request',
    message: 'certificate: this is no registration certificate: it cannot be read',
    reason: { code: 'jwt_unreadable', values: {} },
  })
  expect((await boss.delete(`/registrations/${id}`)).status).toBe(200)
  expect(outcome(await boss.delete(`/registrations/${id}`))).toBe('404 registration_not_found')
  expect(await list()).toEqual([])
})
