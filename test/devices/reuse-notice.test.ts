// A reused refresh token was copied: its device is revoked, and the dashboard shows a notice.
import { beforeAll, expect, test } from 'bun:test'
import type { Overview } from '../../src/dashboard/overview/schema.ts'
import * as de from '../../src/web/dashboard/overview/de.ts'
import * as en from '../../src/web/dashboard/overview/en.ts'
import { startApp, type TestApp } from '../helpers/app.ts'
import { type Browser, openBrowser, PASSWORD, setUpOwner } from '../helpers/dashboard.ts'
import { outcome, pair, refresh } from '../helpers/devices.ts'

const WEEK_MS = 7 * 86_400_000

let app: TestApp
let shop: Awaited<ReturnType<TestApp['tenant']>>
let boss: Browser

beforeAll(async () => {
  app = await startApp()
  shop = await app.tenant()
  boss = await setUpOwner(app)
})

async function noticesIn(environment: string, tenant = shop.id) {
  const { body } = await boss.get<Overview>(`/tenants/${tenant}/overview?environment=${environment}`)
  return body.attention.filter(({ code }) => code === 'token_copied')
}

/** No session lasts a week, so log in again. */
async function logIn(): Promise<Browser> {
  const browser = openBrowser(app)
  expect((await browser.post('/login', { name: 'olivia', password: PASSWORD })).status).toBe(200)
  return browser
}

const warnings = () => app.logs.map(line => JSON.parse(line)).filter(({ event }) => event === 'device.token_reused')

test('a device that is revoked on request, or whose repeat is answered again, raises no notice', async () => {
  const asked = await pair(app, shop.key)
  const { body: next } = await refresh(app, asked.refresh_token, 'key-1')
  expect((await refresh(app, asked.refresh_token, 'key-1')).body.refresh_token).toBe(next.refresh_token)
  expect((await refresh(app, next.refresh_token)).status).toBe(200)
  await app.call('DELETE', `/v1/devices/${asked.device.id}`, { key: shop.key })
  expect(outcome(await refresh(app, asked.refresh_token))).toBe('400 invalid_refresh_token')
  expect([await noticesIn('test'), warnings()]).toEqual([[], []])
})

test('a reused refresh token is a warning in the log without the token, and a notice on the overview for seven days', async () => {
  const other = await app.tenant()
  const first = await pair(app, shop.key, { name: 'Till at the door' })
  const { body: second } = await refresh(app, first.refresh_token)
  app.clock.advance(1000)
  const revokedAt = new Date(app.clock.now()).toISOString()
  for (let i = 0; i < 3; i++) expect(outcome(await refresh(app, first.refresh_token))).toBe('400 invalid_refresh_token')
  expect(outcome(await refresh(app, second.refresh_token))).toBe('400 invalid_refresh_token')

  const time = expect.any(String)
  const { id } = first.device
  expect(warnings()).toEqual([{ time, level: 'warn', event: 'device.token_reused', tenant: shop.id, device: id }])
  for (const { refresh_token } of [first, second]) expect(app.logs.join('\n')).not.toContain(refresh_token.slice(4))

  const notice = { code: 'token_copied', device_id: id, name: 'Till at the door', revoked_at: revokedAt }
  expect<unknown>(await noticesIn('test')).toEqual([notice])
  expect([await noticesIn('live'), await noticesIn('test', other.id)]).toEqual([[], []])
  app.clock.advance(WEEK_MS - 1)
  boss = await logIn()
  expect<unknown>(await noticesIn('test')).toEqual([notice])
  app.clock.advance(1)
  expect(await noticesIn('test')).toEqual([])
})

test('the notice says in both languages what happened, to which device, and what to do', () => {
  const told = [en, de].map(({ overview }) => overview.attentions.token_copied.sentence('Till 1', 'then'))
  expect(told[0]).toMatch(/copied token of the till “Till 1” was used then.+Pair it again\.$/)
  expect(told[1]).toMatch(/kopiertes Token der Kasse „Till 1“ wurde then benutzt.+Koppeln Sie sie neu\.$/)
})
