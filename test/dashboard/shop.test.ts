// What customers of a shop see, as the dashboard shows and changes it: origins of its pages, and its look.
import { afterAll, expect, test } from 'bun:test'
import type { Look, Origin } from '../../src/dashboard/settings/shop/schema.ts'
import { cleanUp, createVerification, startWithTenant } from '../helpers/app.ts'
import { joinMember, outcome, PASSWORD, setUpOwner } from '../helpers/dashboard.ts'
import { AUDIT_ENTRIES, rowsOf } from '../helpers/database.ts'
import { ask, ORIGIN } from '../helpers/dc.ts'

afterAll(cleanUp)

const { app, id, key } = await startWithTenant()
const boss = await setUpOwner(app)
const mia = await joinMember(app, id, 'mia')
const pathOf = (environment: 'test' | 'live') => `/tenants/${id}/origins?environment=${environment}`
type Listed = { data: Origin[] }
const listed = async (environment: 'test' | 'live') =>
  (await boss.get<Listed>(pathOf(environment))).body.data.map(({ origin }) => origin)
const actions = () =>
  rowsOf<{ action: string; actor: string }>(
    app.dir,
    `SELECT action, actor FROM ${AUDIT_ENTRIES} WHERE tenant_id = '${id}' AND (action LIKE 'origin.%' OR action = 'tenant.changed') ORDER BY at, action`,
  )

test('a member lists a test origin, whose pages may then ask, and removes it', async () => {
  const { id: session } = await createVerification(app, key)
  expect((await ask(app, session)).status).toBe(403)
  const added = await mia.post<Listed>(pathOf('test'), { origin: ORIGIN })
  expect([added.status, added.body.data.map(({ origin }) => origin)]).toEqual([200, [ORIGIN]])
  expect((await ask(app, session)).status).toBe(200)
  const again = await mia.post(pathOf('test'), { origin: ORIGIN })
  expect([outcome(again), again.text.includes('is listed already')]).toEqual(['400 invalid_request', true])
  for (const origin of ['https://shop.example/', 'http://shop.example', 'shop.example', '*'])
    expect(outcome(await mia.post(pathOf('test'), { origin }))).toBe('400 invalid_request')
  expect([await listed('test'), await listed('live')]).toEqual([[ORIGIN], []])
  expect((await mia.delete<Listed>(pathOf('test'), { origin: ORIGIN })).body).toEqual({ data: [] })
  expect(outcome(await mia.delete(pathOf('test'), { origin: ORIGIN }))).toBe('404 not_found')
  expect(actions()).toEqual([
    { action: 'origin.added', actor: 'dashboard:mia' },
    { action: 'origin.removed', actor: 'dashboard:mia' },
  ])
})

test('live origins are changed by an owner who proved their identity just now', async () => {
  expect(outcome(await mia.post(pathOf('live'), { origin: ORIGIN }))).toBe('403 owner_required')
  app.clock.advance(10 * 60_000)
  expect(outcome(await boss.post(pathOf('live'), { origin: ORIGIN }))).toBe('403 reauthentication_required')
  expect(outcome(await boss.delete(pathOf('live'), { origin: ORIGIN }))).toBe('403 reauthentication_required')
  await boss.post('/reauthenticate', { password: PASSWORD })
  expect((await boss.post(pathOf('live'), { origin: ORIGIN })).status).toBe(200)
  expect(outcome(await mia.delete(pathOf('live'), { origin: ORIGIN }))).toBe('403 owner_required')
  expect([await listed('test'), await listed('live')]).toEqual([[], [ORIGIN]])
})

const PNG = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(64 * 1024 - 8)])

test('the look of a shop is set part by part, checked, and audited without the picture', async () => {
  const path = `/tenants/${id}/look`
  const set = (body: object) => mia.put<Look>(path, body)
  expect((await mia.get<Look>(path)).body).toEqual({
    accent: null,
    ink: null,
    privacy_url: null,
    without_wallet: null,
    logo: null,
  })
  const base64 = PNG.toString('base64')
  expect((await set({ logo: base64 })).body.logo).toEqual({ type: 'image/png', base64 })
  const privacy_url = 'https://shop.example/privacy'
  expect((await set({ accent: '#ffe000', privacy_url })).body).toEqual({
    accent: '#ffe000',
    ink: '#000000',
    privacy_url,
    without_wallet: null,
    logo: { type: 'image/png', base64 },
  })
  for (const body of [
    { accent: 'red' },
    { privacy_url: 'javascript:alert(1)' },
    { logo: Buffer.from('<svg/>').toString('base64') },
    { logo: Buffer.concat([PNG, Buffer.of(0)]).toString('base64') },
    { logo: 'not base64!' },
    { without_wallet: {} },
    { without_wallet: { en: '' } },
    { without_wallet: { en: ' ' } },
    { without_wallet: { en: 'two\nlines' } },
    { without_wallet: { en: 'x'.repeat(301) } },
    { without_wallet: { tlh: 'x' } },
    { without_wallet: 'x' },
  ])
    expect(outcome(await set(body))).toBe('400 invalid_request')
  expect((await set({ logo: base64.repeat(2) })).status).toBe(413)
  const without_wallet = { de: 'Oder zeigen Sie Ihren Ausweis.', en: '🍷'.repeat(300) }
  expect((await set({ without_wallet })).body.without_wallet).toEqual(without_wallet)
  expect((await set({ accent: null, logo: null })).body).toEqual({
    accent: null,
    ink: null,
    privacy_url,
    without_wallet,
    logo: null,
  })
  expect((await set({ without_wallet: null })).body.without_wallet).toBeNull()
  const log = (await boss.get<{ data: { action: string }[] }>(`/tenants/${id}/audit`)).text
  expect(log.match(/"tenant\.changed"/g)).toHaveLength(5)
  expect([log.includes('#ffe000'), log.includes('image/png'), log.includes(base64.slice(0, 12))]).toEqual([true, true, false])
})
