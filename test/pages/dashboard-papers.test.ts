// The merchant's own papers, under Settings.
import { afterAll, expect } from 'bun:test'
import type { Registration, Signing } from '../../src/dashboard/settings/installation/signing-schema.ts'
import { importReader } from '../../src/signing/import-reader.ts'
import { getCertificate, newAuthority, newRegistrar, signRequest } from '../helpers/access.ts'
import { cleanUp } from '../helpers/app.ts'
import { browserTest, expectAccessible, shoot } from '../helpers/browser.ts'
import { DAY_MS, issue, pemOf, purposes } from '../helpers/certificates.ts'
import { enter, shareService, startForBrowser } from '../helpers/dashboard-page.ts'

afterAll(cleanUp)
shareService()

browserTest('a new key is made for a shop, and its certificate is installed with a start', async openPage => {
  const app = await startForBrowser()
  const { id: tenant } = await app.tenant({ name: 'Wine bar' })
  const { page, browser } = await enter(app, openPage, '/dashboard/settings/installation')
  await page.getByText('More', { exact: true }).click()
  await page.getByRole('button', { name: 'New key' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name in the request').fill('nonsense')
  await dialog.getByRole('button', { name: 'Make the key' }).click()
  await dialog.getByRole('alert').getByText('invalid_request').waitFor()
  await dialog.getByLabel('Name in the request').fill('CN=Wine bar, C=DE')
  await dialog.getByLabel('Issued to').selectOption({ label: 'Wine bar' })
  await expectAccessible(page)
  await dialog.getByRole('button', { name: 'Make the key' }).click()
  await dialog.getByText('Send this request to the authority').waitFor()
  await dialog.getByRole('button', { name: 'Done' }).click()
  await page.getByText('None yet: that of the installation').waitFor()

  const { csr } = (await browser.get<{ csr: string }>(`/signing/csr?tenant=${tenant}`)).body
  const chain = await signRequest(app, csr, { issuer: await newAuthority(app) })
  await page.getByRole('button', { name: 'Install certificate' }).click()
  await dialog.getByLabel('Certificate chain').fill(chain)
  await dialog.getByLabel('Issued to').selectOption({ label: 'Wine bar' })
  await dialog.getByLabel('In use from').fill('soon')
  await dialog.getByRole('button', { name: 'Install certificate' }).click()
  await dialog.getByText('Write it like 2026-12-31.').waitFor()
  const from = new Date(app.clock.now() + 10 * DAY_MS).toISOString().slice(0, 10)
  await dialog.getByLabel('In use from').fill(from)
  await expectAccessible(page)
  await shoot(page, 'dashboard-papers-import')
  await dialog.getByRole('button', { name: 'Install certificate' }).click()
  await page.getByText(/^From .* wallets see .*Corner Shop/).waitFor()
  const { data } = (await browser.get<{ data: Signing[] }>('/signing/tenants')).body
  expect(data.map(shop => [shop.tenant, shop.is_own, shop.next?.starts_at])).toEqual([[tenant, false, `${from}T00:00:00.000Z`]])
  await expectAccessible(page)
  await shoot(page, 'dashboard-papers-signing')

  await page.getByRole('button', { name: 'Cancel this change' }).click()
  await expectAccessible(page)
  await dialog.getByRole('button', { name: 'Keep the current one' }).click()
  await page.getByText('Shops with their own certificate').waitFor({ state: 'detached' })
  const { state } = await getCertificate(app, { owner: tenant })
  await page.reload()
  await page.getByText(state.subject).waitFor()
  await page.getByRole('button', { name: 'Remove the certificate of Wine bar' }).click()
  await expectAccessible(page)
  await shoot(page, 'dashboard-papers-remove')
  await dialog.getByRole('button', { name: 'Remove certificate' }).click()
  await page.getByText('Shops with their own certificate').waitFor({ state: 'detached' })
  expect((await browser.get<{ data: Signing[] }>('/signing/tenants')).body).toEqual({ data: [] })
})

browserTest('a refusal is said in German to a German reader', async openPage => {
  const app = await startForBrowser()
  await app.tenant({ name: 'Wine bar' })
  const { page } = await enter(app, openPage, '/dashboard/settings/installation', { locale: 'de-DE' })
  const dialog = page.getByRole('dialog')
  const refused = async (sentence: string) =>
    expect(await dialog.getByRole('alert').textContent()).toBe(`${sentence} invalid_request`)
  await page.getByText('Mehr', { exact: true }).click()
  await page.getByRole('button', { name: 'Neuer Schlüssel' }).click()
  await dialog.getByLabel('Name im Antrag').fill('CN=')
  await dialog.getByRole('button', { name: 'Schlüssel erzeugen' }).click()
  await refused('Der Name im Antrag: Mindestens ein Zeichen muss sichtbar sein.')
  await shoot(page, 'dashboard-papers-refused-de')
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Registrierungszertifikat hinzufügen' }).click()
  await dialog.getByLabel('Registrierungszertifikat').fill('nothing')
  await dialog.getByRole('button', { name: 'Hinzufügen', exact: true }).click()
  await refused('Das ist kein Registrierungszertifikat: Es enthält kein JWT.')
})

browserTest('reader certificates are shown with their last day, and one that ends soon with its remedy', async openPage => {
  const app = await startForBrowser()
  const { id: tenant } = await app.tenant({ name: 'Wine bar' })
  const addReader = async (name: string, owner: string | null, days: number) => {
    const notBefore = app.clock.now() - 60 * DAY_MS
    const notAfter = app.clock.now() + days * DAY_MS
    const leaf = await issue({
      name,
      issuer: await newAuthority(app),
      notBefore,
      notAfter,
      extensions: [purposes(['1.0.18013.5.1.6'])],
    })
    const key = Buffer.from(await crypto.subtle.exportKey('pkcs8', leaf.keys.privateKey)).toString('base64')
    const keyPem = `-----BEGIN PRIVATE KEY-----\n${key}\n-----END PRIVATE KEY-----\n`
    await importReader(app.deps, { chainPem: pemOf(leaf.der), keyPem, owner }, 'test')
  }
  await addReader('CN=Reader of all', null, 90.5)
  const { page } = await enter(app, openPage, '/dashboard/settings/installation')
  await page.getByText('CN=Reader of all').waitFor()
  await page.getByText('90 days left').waitFor()
  expect(await page.getByText('Import its successor').count()).toBe(0)
  await addReader('CN=Reader of the bar', tenant, 9.5)
  await page.reload()
  const ending = page.locator('.facts', { hasText: 'CN=Reader of the bar' })
  await ending.getByText('Wine bar').waitFor()
  expect(await ending.locator('.badge.no').textContent()).toBe('9 days left')
  await page.getByText('Import its successor').waitFor()
  // The buttons of the certificate that wallets see are not theirs.
  const card = page.locator('.card', { has: page.getByRole('heading', { name: 'Reader certificates' }) })
  expect([await card.locator('.facts').count(), await card.getByRole('button').count()]).toEqual([2, 0])
  await expectAccessible(page)
  await shoot(page, 'dashboard-papers-readers')
})

browserTest('a registration certificate is added with its template, shown, and removed', async openPage => {
  const app = await startForBrowser()
  await app.tenant({ name: 'Wine bar' })
  const { page, browser } = await enter(app, openPage, '/dashboard/settings/installation')
  const stored = async () => (await browser.get<{ data: Registration[] }>('/registrations')).body.data
  await page.getByText('None yet. EU wallets may warn their users.').waitFor()
  await page.getByRole('button', { name: 'Add registration certificate' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Registration certificate').fill('nothing')
  await dialog.getByRole('button', { name: 'Add', exact: true }).click()
  expect(await dialog.getByRole('alert').textContent()).toStartWith('This is no registration certificate: it holds no JWT')
  const jwt = await (await newRegistrar(app))()
  await dialog
    .locator('input[type=file]')
    .setInputFiles({ name: 'r.json', mimeType: 'application/json', buffer: Buffer.from(JSON.stringify({ jwt })) })
  await dialog.getByLabel('Templates').fill('age_over_18, identity_basic')
  await expectAccessible(page)
  await shoot(page, 'dashboard-papers-add')
  await dialog.getByRole('button', { name: 'Add', exact: true }).click()
  await page.getByRole('heading', { name: 'To check your age' }).waitFor()
  await page.getByText('age_equal_or_over.18').waitFor()
  await page.getByText('could not be compared').waitFor()
  expect(await stored()).toMatchObject([{ templates: ['age_over_18', 'identity_basic'], tenant: null }])
  await expectAccessible(page)
  await shoot(page, 'dashboard-papers')
  await page.getByRole('button', { name: 'Remove' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove certificate' }).click()
  await page.getByText('None yet. EU wallets may warn their users.').waitFor()
  expect(await stored()).toEqual([])
})
