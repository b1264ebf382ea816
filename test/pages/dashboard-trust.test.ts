// Lists of issuers, their signers, and blocked certificates.
import { afterAll, expect } from 'bun:test'
import type { TrustBlock, TrustSources } from '../../src/dashboard/settings/trust/schema.ts'
import { trustSources } from '../../src/db/schema/trust.ts'
import { exportBundle } from '../../src/trust/bundle/export.ts'
import { addSource } from '../../src/trust/lists/add-source.ts'
import { cleanUp, type TestApp } from '../helpers/app.ts'
import { browserTest, expectAccessible, shoot } from '../helpers/browser.ts'
import { DAY_MS } from '../helpers/certificates.ts'
import { PASSWORD } from '../helpers/dashboard.ts'
import { ageLogIn, enter, startForBrowser } from '../helpers/dashboard-page.ts'
import { type ListSigner, makeIssuer, makeSigner, makeVical } from '../trust-lists/make.ts'

afterAll(cleanUp)

const STATES = ['Arizona', 'Colorado', 'Georgia', 'Maryland', 'Montana', 'Utah', 'Virginia']
const issuers = await Promise.all(STATES.map(state => makeIssuer({ name: `C=US, CN=${state} Root` })))

/** A list of the first states. */
const listOf = (app: TestApp, signer: ListSigner, count: number, issueId = 17) =>
  makeVical(
    {
      provider: 'Association of Motor Vehicle Administrators',
      date: app.clock.now() - DAY_MS + issueId,
      nextUpdate: app.clock.now() + 30 * DAY_MS,
      issueId,
      entries: issuers.slice(0, count).map(({ der }) => ({ certificate: der })),
    },
    signer,
  )

const makeLongSigner = (name = 'C=US, O=Motor Vehicle Administrators, CN=VICAL Signer') =>
  makeSigner({ name, notAfter: Date.now() + 400 * DAY_MS, notBefore: Date.now() - DAY_MS })

const file = (bytes: Uint8Array, name = 'states.vical') => ({
  name,
  mimeType: 'application/octet-stream',
  buffer: Buffer.from(bytes),
})

const groupsOf = (hex: string): string => hex.match(/.{4}/g)?.join(' ') ?? ''

browserTest('a list is added in three steps, and only after its signer was compared and the password given', async openPage => {
  const app = await startForBrowser({})
  await app.tenant()
  const signer = await makeLongSigner()
  const { page, browser } = await enter(app, openPage, '/dashboard/trust?environment=live')
  const sources = async () => (await browser.get<TrustSources>('/trust/sources')).body.data
  await page.getByRole('heading', { name: 'No issuers are trusted yet' }).waitFor()
  await page.getByRole('button', { name: 'Add a list' }).click()
  const dialog = page.getByRole('dialog', { name: 'Add a list of issuers' })
  await dialog.getByRole('heading', { name: 'Step 1 of 3' }).waitFor()
  await dialog.getByRole('group', { name: 'European Union' }).getByLabel('EU age verification').waitFor()
  await dialog.getByRole('group', { name: 'United States' }).getByLabel('AAMVA driving licences').waitFor()
  await expectAccessible(page)
  await shoot(page, 'dashboard-add-list-1')
  await dialog.getByLabel('By its address').check()
  await dialog.getByLabel('Address of the list').fill('file:///etc/passwd')
  await dialog.getByRole('button', { name: 'Look at it' }).click()
  await dialog.getByText('An address that begins with https://.').waitFor()
  await dialog.getByLabel('From a file').check()
  const input = dialog.locator('input[type=file]')
  await input.setInputFiles(file(Buffer.from('no list at all')))
  await dialog.getByText('states.vical').waitFor()
  await dialog.getByRole('button', { name: 'Look at it' }).click()
  await dialog.getByRole('alert').getByText('This is not a list that can be read.').waitFor()
  await expectAccessible(page)
  await input.setInputFiles(file(listOf(app, signer, 7)))
  await dialog.getByRole('alert').waitFor({ state: 'detached' })
  await dialog.getByRole('button', { name: 'Look at it' }).click()
  await dialog.getByRole('heading', { name: 'Step 2 of 3' }).waitFor()
  expect(await dialog.getByRole('heading', { name: 'Step 2 of 3' }).evaluate(node => node === document.activeElement)).toBe(true)
  await dialog.getByText('Association of Motor Vehicle Administrators').waitFor()
  await dialog.getByText('Driving licence (7)').waitFor()
  expect((await dialog.locator('.fingerprint').textContent())?.trim()).toBe(groupsOf(signer.fingerprint))
  await expectAccessible(page)
  await shoot(page, 'dashboard-add-list-2')
  await dialog.getByRole('button', { name: 'Back' }).click()
  await dialog.getByRole('heading', { name: 'Step 1 of 3' }).waitFor()
  await dialog.getByRole('button', { name: 'Look at it' }).click()
  await dialog.getByRole('button', { name: 'Continue' }).click()
  await dialog.getByRole('heading', { name: 'Step 3 of 3' }).waitFor()
  expect(await dialog.getByRole('button', { name: 'Add list' }).isDisabled()).toBe(true)
  await dialog.getByLabel('I compared the fingerprint').check()
  await dialog.getByLabel('Label').fill('Licences of seven states')
  await expectAccessible(page)
  await shoot(page, 'dashboard-add-list-3')
  await ageLogIn(app, browser)
  await dialog.getByRole('button', { name: 'Add list' }).click()
  await page.getByRole('heading', { name: 'Confirm your password' }).waitFor()
  expect(await sources()).toEqual([])
  await page.getByRole('dialog', { name: 'Confirm your password' }).getByLabel('Password').fill(PASSWORD)
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByText('“Licences of seven states” is added with 7 issuers.').waitFor()
  expect(await sources()).toMatchObject([{ environment: 'live', entries: 7, signer: signer.fingerprint }])
  await page.getByRole('heading', { name: 'Licences of seven states' }).waitFor()
  // The browser reports the answer that asked for the password.
  expect(page.complaints).toEqual([expect.stringContaining('403')])
})

browserTest(
  'a list is refreshed from a file, its issuers are found and blocked, and it is removed by its label',
  async openPage => {
    const app = await startForBrowser({})
    await app.tenant()
    const signer = await makeLongSigner()
    const first = { environment: 'live', kind: 'vical', label: 'Licences', signers: [signer.fingerprint] } as const
    await addSource(app.deps, { ...first, bytes: listOf(app, signer, 6) }, 'test')
    const { page, browser } = await enter(app, openPage, '/dashboard/trust?environment=live')
    const card = page.getByRole('list', { name: 'Lists of issuers' }).getByRole('article')
    await card.getByText('Current', { exact: true }).waitFor()
    await card.getByText('Driving licence', { exact: true }).waitFor()
    const refresh = card.locator('input[type=file]')
    await refresh.setInputFiles(file(listOf(app, signer, 7, 18)))
    await page.getByText('A new issue of “Licences” counts now.').waitFor()
    await card.getByText('1 issuer added').click()
    await card.getByText('Virginia Root').waitFor()
    await refresh.setInputFiles(file(listOf(app, signer, 7, 3)))
    await card.getByRole('alert').getByText('The list is older than the one you have.').waitFor()
    await card.getByText('See the 7 issuers').click()
    await card.getByRole('row', { name: /Arizona Root/ }).waitFor()
    await card.getByLabel('Search').fill('utah')
    await card.getByRole('row', { name: /Arizona Root/ }).waitFor({ state: 'detached' })
    await expectAccessible(page)
    await shoot(page, 'dashboard-trust-list')
    await card.getByRole('button', { name: 'Block: Utah Root' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Reason').fill('Its key was stolen')
    await expectAccessible(page)
    await dialog.getByRole('button', { name: 'Block' }).click()
    await page.getByText('Its key was stolen').waitFor()
    await card.getByText('Blocked', { exact: true }).waitFor()
    const blocks = async () => (await browser.get<{ data: TrustBlock[] }>('/trust/blocks')).body.data
    expect(await blocks()).toHaveLength(1)
    await shoot(page, 'dashboard-trust-blocked')
    await page.getByRole('button', { name: 'Unblock' }).click()
    await dialog.getByRole('button', { name: 'Unblock' }).click()
    await page.getByText('Its key was stolen').waitFor({ state: 'detached' })
    expect(await blocks()).toEqual([])
    await card.getByRole('button', { name: 'Remove: Licences' }).click()
    await dialog.getByLabel(/To confirm, type/).fill('Licences')
    await dialog.getByRole('button', { name: 'Remove list' }).click()
    await page.getByText('The list “Licences” is removed.').waitFor()
    await page.getByRole('heading', { name: 'No issuers are trusted yet' }).waitFor()
    expect(page.complaints).toEqual([])
  },
)

browserTest(
  'a new signer is shown with its fingerprint, confirmed, and the old one removed; a phone shows it in German',
  async openPage => {
    const app = await startForBrowser({})
    const { id } = await app.tenant({ name: 'Weinhandlung' })
    const [signer, next] = [await makeLongSigner(), await makeLongSigner('CN=Next Signer')]
    const first = {
      environment: 'live',
      kind: 'vical',
      label: 'Führerscheine der Vereinigten Staaten',
      signers: [signer.fingerprint],
    } as const
    await addSource(app.deps, { ...first, bytes: listOf(app, signer, 7), location: 'https://lists.example/vical/vc' }, 'test')
    const changes = {
      failure: 'signer_unknown',
      failureDetail: 'signed by somebody whom you have not pinned',
      failureSigner: next.fingerprint,
      failingSince: app.clock.now() - 3_600_000,
    }
    await app.deps.writeSettings(async tx => void (await tx.update(trustSources).set(changes)))
    const phone = { viewport: { width: 390, height: 844 }, locale: 'de-DE' }
    const { page, browser } = await enter(app, openPage, `/dashboard?environment=live&tenant=${id}`, phone)
    await page.getByText(/hat einen neuen Signierer/).waitFor()
    await shoot(page, 'dashboard-de-attention-list')
    await page.getByRole('link', { name: 'Liste ansehen' }).click()
    await page.getByText('Kein Update', { exact: true }).waitFor()
    await page.getByText('Die letzte Liste hat diesen Signierer nicht angekündigt.').waitFor()
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true)
    await expectAccessible(page)
    await shoot(page, 'dashboard-de-trust-signer')
    await page.getByRole('button', { name: /^Signierer: / }).click()
    const dialog = page.getByRole('dialog')
    expect(await dialog.getByLabel('Neuer Signierer').inputValue()).toBe(next.fingerprint)
    await expectAccessible(page)
    await shoot(page, 'dashboard-de-signers')
    await dialog.getByRole('button', { name: 'Signierer hinzufügen' }).click()
    await dialog.waitFor({ state: 'detached' })
    const pins = async () => (await browser.get<TrustSources>('/trust/sources')).body.data[0]?.pins.map(pin => pin.fingerprint)
    expect(await pins()).toContain(next.fingerprint)
    await page.getByRole('button', { name: /^Signierer: / }).click()
    const unpin = dialog.getByRole('button', { name: `Entfernen: ${signer.fingerprint.slice(0, 8)}` })
    await unpin.click()
    const asking = page.getByRole('dialog', { name: 'Diesen Signierer entfernen?' })
    await asking.getByText(/gilt sie weiter bis/).waitFor()
    await expectAccessible(page)
    await shoot(page, 'dashboard-de-unpin')
    await asking.getByRole('button', { name: 'Zurück' }).click()
    expect(await pins()).toContain(signer.fingerprint)
    await unpin.click()
    await asking.getByLabel('Die geltende Liste').selectOption('withdraw')
    await asking.getByRole('button', { name: 'Entfernen' }).click()
    await asking.waitFor({ state: 'detached' })
    expect(await pins()).toEqual([next.fingerprint])
    expect((await browser.get<TrustSources>('/trust/sources')).body.data[0]).toMatchObject({ entries: 0, counts_for: [] })
    await page.getByRole('button', { name: 'Abbrechen' }).click()
    await page.getByRole('button', { name: 'Liste hinzufügen' }).click()
    await page.getByRole('heading', { name: 'Schritt 1 von 3' }).waitFor()
    await shoot(page, 'dashboard-de-add-list-1')
    await page.getByLabel('Aus einer Datei').check()
    await dialog.locator('input[type=file]').setInputFiles(file(listOf(app, next, 7)))
    await page.getByRole('button', { name: 'Ansehen' }).click()
    await page.getByRole('heading', { name: 'Schritt 2 von 3' }).waitFor()
    await shoot(page, 'dashboard-de-add-list-2')
    await page.getByRole('button', { name: 'Weiter' }).click()
    await page.getByRole('heading', { name: 'Schritt 3 von 3' }).waitFor()
    await shoot(page, 'dashboard-de-add-list-3')
    expect(page.complaints).toEqual([])
  },
)

browserTest('a bundle of another installation is imported, and says what it brought', async openPage => {
  const [home, venue] = [await startForBrowser({}), await startForBrowser({})]
  await venue.tenant()
  const signer = await makeLongSigner()
  const first = { environment: 'live', kind: 'vical', label: 'Licences', signers: [signer.fingerprint] } as const
  await addSource(home.deps, { ...first, bytes: listOf(home, signer, 7) }, 'test')
  const { bytes, signer: by } = await exportBundle(home.deps, {}, 'test')
  const { page } = await enter(venue, openPage, '/dashboard/trust?environment=live')
  await page.getByText('Other ways').click()
  await page.getByRole('button', { name: 'Import a bundle' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Import' }).click()
  await dialog.getByText('Choose the file of the bundle.').waitFor()
  await dialog.locator('input[type=file]').setInputFiles(file(bytes, 'trust.bundle'))
  await dialog.getByText('trust.bundle').waitFor()
  await expectAccessible(page)
  await dialog.getByRole('button', { name: 'Import' }).click()
  await dialog.getByText('Not taken', { exact: true }).waitFor()
  await expectAccessible(page)
  await shoot(page, 'dashboard-bundle-not-taken')
  await dialog.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('button', { name: 'Import a bundle' }).click()
  await dialog.locator('input[type=file]').setInputFiles(file(bytes, 'trust.bundle'))
  await dialog.getByLabel('Fingerprint of the other installation').fill(by)
  await shoot(page, 'dashboard-bundle')
  await dialog.getByRole('button', { name: 'Import' }).click()
  await dialog.getByText('Added', { exact: true }).waitFor()
  await dialog.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('heading', { name: 'Licences' }).waitFor()
  expect(page.complaints).toEqual([])
})
