import { expect, test } from 'bun:test'
import type { AuditAction } from '../../src/audit/chain.ts'
import type { AuditRecord } from '../../src/dashboard/settings/audit/schema.ts'
import { createVerification, startApp, type TestApp } from '../helpers/app.ts'
import { type Browser, joinMember, openBrowser, outcome, setUpOwner, startOwned } from '../helpers/dashboard.ts'
import { verifyWith } from '../helpers/wallet.ts'

const HOUR_MS = 3_600_000

type Page = { data: AuditRecord[]; next_before: number | null }

const pageOf = async (browser: Browser, path: string): Promise<Page> => {
  const { status, body } = await browser.get<Page>(path)
  expect(status).toBe(200)
  return body
}

const told = ({ data }: Page): string[] => data.map(({ action, actor }) => `${action} ${actor}`)

/** Records that no route makes in such numbers. */
async function append(app: TestApp, count: number, entry: { tenantId: string; actor?: string; action?: AuditAction }) {
  await app.deps.write(async tx => {
    for (let i = 0; i < count; i++)
      await app.deps.audit.append(tx, {
        at: app.clock.now(),
        actor: 'system',
        action: 'verification.created',
        subjectId: 'x',
        ...entry,
      })
  })
}

test('a person, an act and a day each leave their own records, and together what they share', async () => {
  const { app, boss, ...shop } = await startOwned()
  const mia = await joinMember(app, shop.id, 'mia')
  const at = `/tenants/${shop.id}`
  await createVerification(app, shop.key)
  await mia.post(`${at}/verifications`, { template: 'age_over_18' })
  app.clock.advance(24 * HOUR_MS)
  const mended = openBrowser(app)
  await mended.logIn('mia')
  await mended.post(`${at}/verifications`, { template: 'age_over_16' })
  const day = new Date(app.clock.now() - HOUR_MS).toISOString()

  const person = `actor=${encodeURIComponent('dashboard:mia')}`
  expect(told(await pageOf(mended, `${at}/audit?${person}&limit=100`))).toEqual([
    'verification.created dashboard:mia',
    'user.logged_in dashboard:mia',
    'verification.created dashboard:mia',
    'user.logged_in dashboard:mia',
    'user.joined dashboard:mia',
  ])
  const acts = await pageOf(mended, `${at}/audit?action=verification.created&limit=100`)
  expect(told(acts)).toEqual([
    'verification.created dashboard:mia',
    'verification.created dashboard:mia',
    expect.stringContaining(' vk_test_'),
  ])
  expect(told(await pageOf(mended, `${at}/audit?action=user.joined`))).toEqual(['user.joined dashboard:mia'])
  const later = await pageOf(mended, `${at}/audit?from=${day}&limit=100`)
  expect(told(later)).toEqual(['verification.created dashboard:mia', 'user.logged_in dashboard:mia'])
  const earlier = await pageOf(mended, `${at}/audit?until=${day}&limit=100`)
  expect(told(earlier)).toContain('user.joined dashboard:mia')
  expect(earlier.data.map(({ seq }) => seq)).not.toContain(later.data.at(-1)!.seq)
  expect(told(await pageOf(mended, `${at}/audit?from=${day}&${person}&action=verification.created`))).toHaveLength(1)
  for (const query of ['action=something', 'from=yesterday', 'actor=', 'subject=', 'environment=both', 'person=mia'])
    expect(outcome(await mended.get(`${at}/audit?${query}`))).toBe('400 invalid_request')
})

test('the people of an audit trail are those who acted, for the shop or at all', async () => {
  const app = await startApp()
  const [shop, bakery] = [await app.tenant(), await app.tenant({ name: 'Bakery' })]
  const boss = await setUpOwner(app)
  const mia = await joinMember(app, shop.id, 'mia')
  await joinMember(app, bakery.id, 'ben')
  expect((await mia.get<{ data: string[] }>(`/tenants/${shop.id}/audit/people`)).body.data).toContain('dashboard:mia')
  expect((await mia.get<{ data: string[] }>(`/tenants/${shop.id}/audit/people`)).body.data).not.toContain('dashboard:ben')
  const all = (await boss.get<{ data: string[] }>('/audit/people')).body.data
  expect(all).toEqual(expect.arrayContaining(['dashboard:ben', 'dashboard:mia', 'dashboard:olivia']))
  expect(outcome(await mia.get(`/tenants/${bakery.id}/audit/people`))).toBe('404 tenant_not_found')
  expect(outcome(await mia.get('/audit/people'))).toBe('403 owner_required')
})

test('the subject of an audit page is a verification with all that was done with it, also its readings', async () => {
  const { app, boss, ...shop } = await startOwned()
  const { verification } = await verifyWith(app, shop.key, 'adult', { body: { template: 'identity_basic' } })
  await createVerification(app, shop.key)
  const at = `/tenants/${shop.id}`
  await boss.get(`${at}/verifications/${verification.id}?environment=test`)
  const about = await pageOf(boss, `${at}/audit?subject=${verification.id}`)
  expect(about.data.map(({ action }) => action)).toEqual(['verification.read', 'verification.completed', 'verification.created'])
  expect(about.next_before).toBeNull()
  const narrowed = await pageOf(boss, `${at}/audit?subject=${verification.id}&action=verification.read`)
  expect(told(narrowed)).toEqual(['verification.read dashboard:olivia'])

  const bakery = await app.tenant({ name: 'Bakery' })
  expect((await pageOf(boss, `/tenants/${bakery.id}/audit?subject=${verification.id}`)).data).toEqual([])

  await boss.delete(`${at}/verifications/${verification.id}?environment=test`)
  const erased = await pageOf(boss, `${at}/audit?subject=${verification.id}`)
  expect(erased.data.map(({ action, details }) => [action, details])).toEqual([
    ['verification.erased', null],
    ['verification.read', null],
  ])
})

test('the subject of an audit page may be a key', async () => {
  const { boss, ...shop } = await startOwned()
  const key = { environment: 'test', scopes: ['verifications:read'], expires_days: 30, label: 'web shop' }
  const made = await boss.post<{ api_key: { id: string } }>(`/tenants/${shop.id}/keys`, key)
  const { id } = made.body.api_key
  await boss.delete(`/tenants/${shop.id}/keys/${id}`)
  const about = await pageOf(boss, `/tenants/${shop.id}/audit?subject=${id}`)
  expect(told(about)).toEqual(['key.revoked dashboard:olivia', 'key.created dashboard:olivia'])
})

test('an environment of an audit page leaves out the records of the other one, and says that it does', async () => {
  const { app, boss, ...shop } = await startOwned()
  const live = await app.key(shop.id, { environment: 'live' })
  await createVerification(app, shop.key)
  await createVerification(app, live)
  await createVerification(app, shop.key)
  await createVerification(app, live)
  const at = `/tenants/${shop.id}/audit?limit=3`
  const environments = ({ data }: Page) => data.map(({ details }) => details?.environment)
  const inLive = await pageOf(boss, `${at}&environment=live`)
  expect(environments(inLive).slice(0, 2)).toEqual(['live', 'live'])
  expect(environments(inLive)).not.toContain('test')
  expect(inLive.data.map(({ above }) => above)).toEqual([undefined, ['environment'], ['environment']])
  expect(environments(await pageOf(boss, `${at}&environment=test`)).slice(0, 2)).toEqual(['test', 'test'])
  expect(environments(await pageOf(boss, at))).toEqual(['live', 'test', 'live'])
})

test('numbers that a shop’s page skips are said to be of the installation, or of other shops', async () => {
  const app = await startApp()
  const [shop, bakery] = [await app.tenant(), await app.tenant({ name: 'Bakery' })]
  const boss = await setUpOwner(app)
  const own = () => append(app, 1, { tenantId: shop.id })
  await own()
  await append(app, 2, { tenantId: '' })
  await own()
  await append(app, 1, { tenantId: bakery.id })
  await own()
  await append(app, 1, { tenantId: '' })
  await append(app, 1, { tenantId: bakery.id })
  await own()
  await own()
  await append(app, 3, { tenantId: '' })
  const above = ({ data }: Page) => data.map(record => record.above)
  const whole = await pageOf(boss, `/tenants/${shop.id}/audit?limit=5`)
  expect(above(whole)).toEqual([['installation'], undefined, ['installation', 'shops'], ['shops'], ['installation']])
  // The same from page to page.
  const pages: Page[] = []
  for (let before = ''; pages.length < 5; before = `&before=${pages.at(-1)!.next_before}`)
    pages.push(await pageOf(boss, `/tenants/${shop.id}/audit?limit=1${before}`))
  expect(pages.flatMap(above)).toEqual(above(whole))
  const filtered = await pageOf(boss, `/tenants/${shop.id}/audit?limit=5&action=verification.created`)
  expect(above(filtered)).toEqual([undefined, undefined, undefined, undefined, undefined])
})

test('a rare act is found below twelve thousand others in one page, and a frequent one in bounded pages', async () => {
  const { app, boss, ...shop } = await startOwned()
  await append(app, 1, { tenantId: shop.id, action: 'template.saved', actor: 'dashboard:olivia' })
  await append(app, 1, { tenantId: shop.id, action: 'verification.failed', actor: 'wallet' })
  for (let i = 0; i < 12; i++) await append(app, 1000, { tenantId: shop.id })
  const at = `/tenants/${shop.id}/audit`
  const rare = await pageOf(boss, `${at}?action=template.saved`)
  expect(told(rare)).toEqual(['template.saved dashboard:olivia'])
  expect(rare.next_before).toBeNull()
  expect(told(await pageOf(boss, `${at}?actor=dashboard:olivia&limit=1`))).toEqual(['template.saved dashboard:olivia'])
  const frequent = await pageOf(boss, `${at}?action=verification.failed`)
  expect(frequent.data).toEqual([])
  expect(frequent.next_before).toBeGreaterThan(1)
})

test('a day is found from the signed checkpoints around it', async () => {
  const { app, boss, ...shop } = await startOwned()
  const sign = () => app.deps.write(tx => app.deps.audit.checkpoint(tx, app.clock.now()))
  await append(app, 1, { tenantId: shop.id, action: 'verification.failed' })
  const day = new Date(app.clock.now() + 1).toISOString()
  app.clock.advance(1000)
  await sign()
  app.clock.advance(1000)
  await append(app, 5100, { tenantId: shop.id })
  await sign()
  const at = `/tenants/${shop.id}/audit?action=verification.failed`
  // Without the checkpoints, the record would lie below what one page looks at.
  expect((await pageOf(boss, at)).data).toEqual([])
  expect((await pageOf(boss, `${at}&until=${day}`)).data).toHaveLength(1)
  expect(await pageOf(boss, `${at}&from=${day}`)).toEqual({ data: [], next_before: expect.any(Number) })
})
