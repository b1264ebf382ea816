// Trust, audit and settings.
import { afterAll, describe, expect } from 'bun:test'
import { verifyExport } from '../../src/audit/export.ts'
import type { TrustAnchor } from '../../src/dashboard/settings/trust/schema.ts'
import type { User } from '../../src/people/schema.ts'
import { cleanUp, createVerification } from '../helpers/app.ts'
import { browserTest, expectAccessible, shoot } from '../helpers/browser.ts'
import { issueAuthority } from '../helpers/certificates.ts'
import { PASSWORD } from '../helpers/dashboard.ts'
import { enter, OWNER, shareService, startForBrowser } from '../helpers/dashboard-page.ts'
import { ask } from '../helpers/dc.ts'

afterAll(cleanUp)
shareService()

const pemOf = (der: Uint8Array): string =>
  `-----BEGIN CERTIFICATE-----\n${Buffer.from(der).toString('base64')}\n-----END CERTIFICATE-----\n`

/** One black pixel. */
const LOGO = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=', 'base64')

describe('trust', () => {
  browserTest('an issuer is added by its certificate, shown with its scope, and removed by its label', async openPage => {
    const app = await startForBrowser()
    await app.tenant()
    const { page, browser } = await enter(app, openPage, '/dashboard/trust?environment=live')
    const anchors = async () => (await browser.get<{ data: TrustAnchor[] }>('/trust')).body.data
    await page.getByRole('heading', { name: 'No issuers are trusted yet' }).waitFor()
    await expectAccessible(page)
    await shoot(page, 'dashboard-trust-empty')
    await page.getByText('Other ways').click()
    await page.getByRole('button', { name: 'Add issuer' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Certificate (PEM)').fill('not a certificate')
    await dialog.getByRole('button', { name: 'Add issuer' }).click()
    await dialog.getByText('This holds no certificate.').waitFor()
    await dialog.getByLabel('Certificate (PEM)').fill('-----BEGIN CERTIFICATE-----\nnone\n-----END CERTIFICATE-----')
    await dialog.getByRole('button', { name: 'Add issuer' }).click()
    await dialog.getByRole('alert').getByText('invalid_request').waitFor()
    expect(await dialog.getByRole('alert').textContent()).toStartWith('The file holds no readable certificate')
    const { der } = await issueAuthority()
    await dialog
      .locator('input[type=file]')
      .setInputFiles({ name: 'issuer.pem', mimeType: 'text/plain', buffer: Buffer.from(pemOf(der)) })
    await dialog.getByLabel('Label').fill('Licences of Utopia')
    await dialog.getByLabel('Counts for').selectOption('org.iso.18013.5.1.mDL')
    await expectAccessible(page)
    await shoot(page, 'dashboard-trust-add')
    await dialog.getByRole('button', { name: 'Add issuer' }).click()
    await page.getByText('One issuer was added.').waitFor()
    await page.getByRole('heading', { name: 'Licences of Utopia' }).waitFor()
    await page.getByText('Driving licence', { exact: true }).waitFor()
    expect(await anchors()).toMatchObject([
      { environment: 'live', label: 'Licences of Utopia', trusted_for: 'org.iso.18013.5.1.mDL' },
    ])
    await expectAccessible(page)
    await shoot(page, 'dashboard-trust')
    await page.getByRole('button', { name: 'Remove: Licences of Utopia' }).click()
    await page
      .getByRole('dialog')
      .getByLabel(/To confirm, type/)
      .fill('Licences of Utopia')
    await page.getByRole('dialog').getByRole('button', { name: 'Remove issuer' }).click()
    await page.getByRole('heading', { name: 'No issuers are trusted yet' }).waitFor()
    expect(await anchors()).toEqual([])
  })
})

describe('the audit trail', () => {
  browserTest('the audit log is listed, verified, and exported to a file that verifies', async openPage => {
    const app = await startForBrowser()
    const { key } = await app.tenant({ name: 'Wine bar' })
    const { id } = await createVerification(app, key, { purpose: 'To sell you wine' })
    const { page } = await enter(app, openPage, '/dashboard/audit')
    const record = page.locator('.record', { hasText: 'Asked a customer' })
    await record.locator('summary').click()
    await record.getByText(id).waitFor()
    await record.getByText('To sell you wine').waitFor()
    await expectAccessible(page)
    await page.getByRole('combobox', { name: 'Which records' }).selectOption('all')
    await page.locator('.record', { hasText: 'Set up an account' }).waitFor()
    await page.getByRole('button', { name: 'Verify the chain' }).click()
    await page.getByText(/The chain holds: \d+ records/).waitFor()
    await expectAccessible(page)
    await shoot(page, 'dashboard-audit')
    const downloading = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Export' }).click()
    const download = await downloading
    expect(download.suggestedFilename()).toBe('vidimus-audit.jsonl')
    const text = await Bun.file((await download.path()) ?? '').text()
    async function* lines() {
      yield* text.trimEnd().split('\n')
    }
    const verdict = await verifyExport(lines())
    expect(verdict.problem).toBeUndefined()
    expect(verdict.count).toBeGreaterThan(4)
    expect(page.complaints).toEqual([])
  })
})

describe('a long audit trail', () => {
  browserTest(
    'the audit log is filtered, says words and whose numbers it skips, and is reached from a verification',
    async openPage => {
      const app = await startForBrowser()
      const { id: shop, key } = await app.tenant({ name: 'Wine bar' })
      const { id } = await createVerification(app, key, { purpose: 'To sell you wine' })
      await createVerification(app, await app.key(shop, { environment: 'live' }))
      const { page, browser } = await enter(app, openPage, `/dashboard/verifications/${id}`)
      await browser.put(`/tenants/${shop}/go-live/path`, { documents: ['eu_age'] })
      const entry = { at: Date.now(), tenantId: '', actor: 'system', action: 'trust.list_accepted', subjectId: 'x' } as const
      await app.deps.write(async tx => void (await app.deps.audit.append(tx, entry)))
      await app.deps.write(async tx => void (await app.deps.audit.append(tx, entry)))
      await createVerification(app, key)
      await page.getByRole('link', { name: 'Everything about this verification' }).click()
      await page.getByText(`Only what was done with ${id}.`).waitFor()
      expect(await page.locator('.record').count()).toBe(1)
      const record = page.locator('.record')
      await record.locator('summary').click()
      await record.getByText('Age 18 or over').waitFor()
      await record.getByText('Template', { exact: true }).waitFor()
      expect(await record.locator('dl').count()).toBe(1)
      expect(await record.getByText('age_over_18').count()).toBe(0)
      expect(await record.getByText(/\dT\d/).count()).toBe(0)
      await page.getByRole('link', { name: 'Every act' }).click()

      await page.getByText(/^Records of Test, and those that concern both/).waitFor()
      await page.getByText(/^\d+ to \d+ belong to the installation\.$/).waitFor()
      await page.getByText(/^\d+ belongs to Live\.$/).waitFor()
      await page.locator('.record', { hasText: 'Changed the shop' }).first().locator('summary').click()
      await page.getByText('EU age app').waitFor()
      await page.locator('dd', { hasText: 'Wine bar' }).filter({ visible: true }).first().waitFor()
      expect(await page.locator('.records, .record').getByText(shop).count()).toBe(0)
      await expectAccessible(page)
      await shoot(page, 'dashboard-audit-words')

      await page.getByRole('combobox', { name: 'Who' }).selectOption({ label: 'olivia' })
      await page
        .getByText(/belongs? to/)
        .first()
        .waitFor({ state: 'detached' })
      expect(await page.locator('.record', { hasText: 'Asked a customer' }).count()).toBe(0)
      await page.getByRole('combobox', { name: 'Who' }).selectOption('')
      await page.getByRole('combobox', { name: 'What' }).selectOption('verification.created')
      await page.locator('.record', { hasText: 'Changed the shop' }).first().waitFor({ state: 'detached' })
      expect(await page.locator('.record').count()).toBe(2)
      await page.getByLabel('To', { exact: true }).fill('2020-01-01')
      await page.getByText('Nothing matches').waitFor()
      expect(page.complaints).toEqual([])
    },
  )
})

describe('settings', () => {
  browserTest('shop settings: retention needs the password, invalid input is not sent, owners set the quota', async openPage => {
    const app = await startForBrowser()
    const { id } = await app.tenant({ name: 'Wine bar' })
    const { page, browser } = await enter(app, openPage, '/dashboard/settings')
    const tenant = async () =>
      (
        await browser.get<{
          data: { id: string; retention_days: number | null; daily_quota: number; app_schemes: string[] }[]
        }>('/tenants')
      ).body.data.find(each => each.id === id)
    const days = page.getByLabel('Days to keep')
    await days.fill('many')
    await page.getByText('A whole number from 0 to 3,650, or nothing.').waitFor()
    expect(await page.getByRole('button', { name: 'Save' }).nth(2).isDisabled()).toBe(true)
    app.clock.advance(6 * 60_000)
    await days.fill('30')
    await page.getByRole('button', { name: 'Save' }).nth(2).click()
    await page.getByRole('heading', { name: 'Confirm your password' }).waitFor()
    expect((await tenant())?.retention_days).toBeNull()
    await page.getByRole('dialog').getByLabel('Password').fill(PASSWORD)
    await page.getByRole('dialog').getByRole('button', { name: 'Continue' }).click()
    await page.getByText('Erased 30 days after they end.').waitFor()
    expect((await tenant())?.retention_days).toBe(30)
    await page.getByLabel('Own daily limit').fill('7')
    await page.getByRole('button', { name: 'Save' }).nth(3).click()
    await page.getByText('7 verifications a day.').waitFor()
    expect((await tenant())?.daily_quota).toBe(7)
    await expectAccessible(page)
    await shoot(page, 'dashboard-settings')
    await page.goto('/dashboard/web-pages')
    await page.getByLabel('Schemes of your apps').fill('shop-app, smb')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('"smb" has a meaning of its own in browsers or systems').waitFor()
    await page.getByLabel('Schemes of your apps').fill('shop-app, wine')
    const saved = page.waitForResponse(answer => answer.request().method() === 'PUT' && answer.ok())
    await page.getByRole('button', { name: 'Save' }).click()
    await saved
    expect((await tenant())?.app_schemes).toEqual(['shop-app', 'wine'])
  })

  browserTest(
    'the pages that may ask are set for developers, and the look of the hosted page in the shop settings',
    async openPage => {
      const app = await startForBrowser()
      const { id, key } = await app.tenant({ name: 'Wine bar' })
      const { page } = await enter(app, openPage, `/dashboard/web-pages?tenant=${id}`)
      await page.getByText('No address is listed.').waitFor()
      const address = page.getByLabel('Address', { exact: true })
      await address.fill('https://shop.example/checkout')
      await page.getByRole('button', { name: 'Add address' }).click()
      await page.getByText('Write it as https://shop.example, without a path.').waitFor()
      await address.fill('https://shop.example')
      await page.getByRole('button', { name: 'Add address' }).click()
      await page.getByRole('button', { name: 'Remove: https://shop.example' }).waitFor()
      expect((await ask(app, (await createVerification(app, key)).id)).status).toBe(200)

      await page.getByRole('button', { name: 'Remove: https://shop.example' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Remove address' }).click()
      await page.getByText('No address is listed.').waitFor()
      await expectAccessible(page)
      await shoot(page, 'dashboard-web-pages')

      await page.goto(`/dashboard/settings?tenant=${id}`)
      const colour = page.getByLabel('Colour of the main button')
      await colour.fill('#ffe0')
      await page.getByText('Write # and six hexadecimal digits').waitFor()
      await colour.fill('#FFE000')
      await page.getByText('The button is hard to see on a light page. Choose a darker colour.').waitFor()
      await page.getByText('Contrast of its text: 15.9 to 1.').waitFor()
      const preview = page.locator('figure', { hasText: 'What customers see' })
      const button = preview.getByText('Continue with your wallet')
      const ground = () => button.evaluate(element => getComputedStyle(element).backgroundColor)
      expect(await ground()).toBe('rgb(255, 224, 0)')
      await page.getByLabel('Or pick it').fill('#204060')
      expect([await colour.inputValue(), await ground()]).toEqual(['#204060', 'rgb(32, 64, 96)'])
      await colour.fill('#FFE000')
      await page.getByLabel('Link to your privacy notice').fill('https://shop.example/privacy')
      await page.getByLabel('English', { exact: true }).fill('Or show your ID at delivery. ')
      await page.getByLabel('Another language').selectOption('Polski')
      await page.getByLabel('Polski', { exact: true }).fill('Albo pokaż dowód przy dostawie.')
      await page.getByLabel('Another language').selectOption('Deutsch')
      await preview.getByText('Privacy notice of Wine bar').waitFor()
      const [, look] = await Promise.all([
        page.getByRole('button', { name: 'Save' }).nth(1).click(),
        page.waitForResponse(answer => answer.url().endsWith('/look') && answer.request().method() === 'PUT'),
      ])
      expect(await look.json()).toMatchObject({
        accent: '#ffe000',
        ink: '#000000',
        privacy_url: 'https://shop.example/privacy',
        without_wallet: { en: 'Or show your ID at delivery.', pl: 'Albo pokaż dowód przy dostawie.' },
      })
      const choose = (name: string, mimeType: string, buffer: Buffer) =>
        page.locator('input[type=file]').setInputFiles({ name, mimeType, buffer })
      await choose('logo.svg', 'image/svg+xml', Buffer.from('<svg/>'))
      await page.getByText('Choose a PNG, JPEG or WebP picture of at most 64 KiB.').waitFor()
      await choose('logo.png', 'image/png', LOGO)
      await page.getByRole('img', { name: 'Logo' }).waitFor()
      await expectAccessible(page)
      await shoot(page, 'dashboard-shop')
      await page.getByRole('button', { name: 'Remove logo' }).click()
      await page.getByRole('img', { name: 'Logo' }).waitFor({ state: 'detached' })
      expect(page.complaints).toEqual([])
    },
  )

  browserTest('a new password ends the other sessions and replaces the old one', async openPage => {
    const app = await startForBrowser({})
    await app.tenant()
    const { page, browser } = await enter(app, openPage, '/dashboard/settings/profile')
    const fresh = 'quiet harbour 9 violins'
    await page.getByLabel('Current password').fill('not my password at all')
    await page.getByLabel('New password').fill(fresh)
    await page.getByRole('button', { name: 'Change password' }).click()
    await page.getByText('Name or password is wrong.').waitFor()
    await page.getByLabel('Current password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Change password' }).click()
    await page.getByText('Changed. You were logged out everywhere else.').waitFor()
    expect((await browser.get('/session')).status).toBe(401)
    expect((await browser.logIn(OWNER, PASSWORD)).status).toBe(401)
    expect((await browser.logIn(OWNER, fresh)).status).toBe(200)
    await expectAccessible(page)
    await shoot(page, 'dashboard-profile')
  })

  browserTest('a user is invited to one shop by a link that is shown once, and removed', async openPage => {
    const app = await startForBrowser({})
    const { id } = await app.tenant({ name: 'Wine bar' })
    await app.tenant({ name: 'Flower shop' })
    const { page, browser } = await enter(app, openPage, `/dashboard/settings/people?tenant=${id}`)
    await page.getByRole('button', { name: 'Invite somebody' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name', { exact: true }).fill('Mo')
    await dialog.getByLabel('Shop', { exact: true }).selectOption({ label: 'Wine bar' })
    await dialog.getByRole('button', { name: 'Make the link' }).click()
    const link = (await dialog.locator('.secret code').textContent()) ?? ''
    expect(link).toContain('/dashboard#password=')
    await expectAccessible(page)
    await shoot(page, 'dashboard-invited')
    await dialog.getByText('Hand it over to mo in a safe way.').waitFor()
    for (let i = 0; i < 3; i++) await page.keyboard.press('Escape')
    await dialog.getByRole('button', { name: 'I have copied it' }).click()
    await page.getByRole('cell', { name: 'Invited', exact: true }).waitFor()
    expect(await page.content()).not.toContain(link.split('=').at(-1) ?? '')
    await expectAccessible(page)
    await shoot(page, 'dashboard-people')
    const invited = await openPage(app.deps.config.publicUrl)
    await invited.goto(link)
    await invited.getByLabel('New password').fill(PASSWORD)
    await invited.getByRole('button', { name: 'Set password and log in' }).click()
    await invited.getByText('Wine bar').first().waitFor()
    expect(await invited.content()).not.toContain('Flower shop')
    await page.getByRole('button', { name: 'Invite somebody' }).click()
    await dialog.getByText('They log in with it.').waitFor()
    await dialog.getByLabel('Name', { exact: true }).fill('otto')
    await dialog.getByText('sees what customers showed').waitFor()
    await dialog.getByRole('radio', { name: /^Owner/ }).check()
    expect(await dialog.getByLabel('Shop', { exact: true }).count()).toBe(0)
    expect(await dialog.getByRole('button', { name: 'Make the link' }).isDisabled()).toBe(true)
    await dialog.getByLabel('otto may do everything in all shops, and may remove me too.').check()
    await expectAccessible(page)
    await dialog.getByRole('button', { name: 'Make the link' }).click()
    await dialog.getByText('This link leads to localhost').waitFor()
    await dialog.getByRole('button', { name: 'I have copied it' }).click()
    await page.getByRole('row', { name: /otto.*All shops \(owner\)/ }).waitFor()
    await page.getByRole('button', { name: 'Remove: otto' }).click()
    await dialog.getByLabel(/To confirm, type/).fill('otto')
    await dialog.getByRole('button', { name: 'Remove user' }).click()
    await page.getByRole('button', { name: 'Remove: otto' }).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Remove: mo' }).click()
    await page
      .getByRole('dialog')
      .getByLabel(/To confirm, type/)
      .fill('mo')
    await page.getByRole('dialog').getByRole('button', { name: 'Remove user' }).click()
    await page.getByRole('button', { name: 'Remove: mo' }).waitFor({ state: 'detached' })
    expect((await browser.get<{ data: User[] }>('/users')).body.data.map(({ name }) => name)).toEqual([OWNER])
    await invited.goto('/dashboard/keys')
    await invited.getByRole('heading', { name: 'Log in' }).waitFor()
  })

  browserTest('installation settings: the signing certificate, its CSR, and a refused import', async openPage => {
    const app = await startForBrowser()
    await app.tenant()
    const { page } = await enter(app, openPage, '/dashboard/settings/installation')
    await page.getByText(/This service made it for itself/).waitFor()
    await page.getByRole('button', { name: 'Make a request' }).click()
    await page.getByText('-----BEGIN CERTIFICATE REQUEST-----').waitFor()
    await page.getByText(app.deps.config.publicUrl).first().waitFor()
    await expectAccessible(page)
    await shoot(page, 'dashboard-installation')
    await page.getByRole('button', { name: 'Install certificate' }).click()
    await page.getByRole('dialog').getByLabel('Certificate chain (PEM)').fill('no certificate')
    await page.getByRole('dialog').getByRole('button', { name: 'Install certificate' }).click()
    await page.getByRole('dialog').getByRole('alert').waitFor()
    await expectAccessible(page)
  })

  browserTest('switching between shops shows no data of the other', async openPage => {
    const app = await startForBrowser()
    const wine = await app.tenant({ name: 'Wine bar' })
    await app.tenant({ name: 'Flower shop' })
    const { id } = await createVerification(app, wine.key)
    const { page } = await enter(app, openPage, `/dashboard/verifications/${id}?tenant=${wine.id}`)
    await page.locator('.panel').getByText('Waiting for the customer.').waitFor()
    await page.getByRole('combobox', { name: 'Shop' }).selectOption({ label: 'Flower shop' })
    await page.getByRole('heading', { name: 'No verifications in Test yet' }).waitFor()
    expect(await page.content()).not.toContain(id)
    await page.goBack()
    await page.locator('.panel').getByText('Waiting for the customer.').waitFor()
    expect(page.complaints).toEqual([])
  })
})
