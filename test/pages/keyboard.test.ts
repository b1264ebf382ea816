// Each flow by keyboard alone, as the accessibility tree has it: roles, names, announcements, and where the focus goes.
import { afterAll, expect } from 'bun:test'
import type { Page } from 'playwright-core'
import { cleanUp, createVerification } from '../helpers/app.ts'
import { browserTest } from '../helpers/browser.ts'
import { enter, shareService, startForBrowser } from '../helpers/dashboard-page.ts'
import { register } from '../helpers/devices.ts'
import { isFocused, isHeard, press, tabTo, type } from '../helpers/focus.ts'
import { answer, walletUri } from '../helpers/till.ts'
import { verifyWith } from '../helpers/wallet.ts'
import { makeIssuer, makeSigner, makeVical } from '../trust-lists/make.ts'

afterAll(cleanUp)
shareService()

const DAY_MS = 86_400_000

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true })
const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { name, exact: true })
const field = (page: Page, name: string) => page.getByRole('textbox', { name, exact: true })

browserTest('a customer goes from the hosted page to the sandbox wallet, shares, and hears how it ended', async openPage => {
  const app = await startForBrowser()
  const { key } = await app.tenant({ name: 'Wine bar' })
  const { id } = await createVerification(app, key)
  const page = await openPage(app.deps.config.publicUrl)
  await page.goto(`/v/${id}`)
  await press(page.locator('summary', { hasText: 'No wallet yet?' }), 'Space')
  await page.getByRole('link', { name: 'About the EU Digital Identity Wallet' }).waitFor()
  const link = page.getByRole('link', { name: 'Answer with the sandbox wallet' })
  await tabTo(link)
  const wallet = await openPage(app.deps.config.publicUrl)
  await wallet.goto((await link.getAttribute('href')) ?? '')
  await isFocused(heading(wallet, /^Wine bar/))
  // The persona is a group of radio buttons: arrows choose.
  await tabTo(wallet.getByRole('radio', { name: /^Adult/ }))
  await wallet.keyboard.press('ArrowDown')
  await wallet.getByRole('radio', { name: /^Minor/, checked: true }).waitFor()
  await wallet.keyboard.press('ArrowUp')
  await press(button(wallet, 'Share'))
  await isHeard(wallet, 'Verified')
  await press(button(wallet, 'Back to the documents'))
  await field(wallet, 'Answer a request').waitFor()
  await isHeard(page, 'Verified. Thank you.')
  expect([...page.complaints, ...wallet.complaints]).toEqual([])
})

browserTest('a cashier pairs a till, compares a photo and hears each verdict', async openPage => {
  const app = await startForBrowser()
  const { key } = await app.tenant({ name: 'Wine bar' })
  const { pairing_code } = await register(app, key, { allowed_templates: ['age_over_18', 'age_over_18_photo'] })
  const page = await openPage(app.deps.config.publicUrl, { serviceWorkers: 'block' })
  await page.goto('/till')
  await type(field(page, 'Pairing code'), pairing_code)
  await page.keyboard.press('Enter')
  await heading(page, 'What do you want to check?').waitFor()
  await page.keyboard.press('1')
  await isHeard(page, 'Scan with your wallet')
  await answer(app, await walletUri(page))
  await isHeard(page, 'Yes. 18 or over.')
  await isFocused(button(page, 'Next customer'))
  await page.keyboard.press('Enter')
  await press(button(page, 'Age 18 or over, with photo'))
  await answer(app, await walletUri(page))
  await heading(page, 'Is this the customer?').waitFor()
  await page.getByRole('img', { name: 'Photo from the document' }).waitFor()
  await press(button(page, 'Not the same person'), 'Space')
  await button(page, 'Take it back').waitFor()
  await isHeard(page, 'Not the same person. The customer is not the person on the photo.')
  await page.keyboard.press('Escape')
  await heading(page, 'What do you want to check?').waitFor()
  // No template has this digit: the third does not exist.
  await page.keyboard.press('3')
  await heading(page, 'What do you want to check?').waitFor()
  expect((await app.call<{ data: unknown[] }>('GET', '/v1/verifications', { key })).body.data).toHaveLength(2)
  expect(page.complaints).toEqual([])
})

browserTest('an owner builds a template and invites somebody', async openPage => {
  const app = await startForBrowser()
  await app.tenant({ name: 'Wine bar' })
  const { page } = await enter(app, openPage)
  await press(page.getByRole('link', { name: 'Templates', exact: true }))
  await isFocused(heading(page, 'Templates'))
  await press(page.getByRole('link', { name: 'New template' }))
  await isFocused(heading(page, 'New template'))
  await type(field(page, 'Title'), 'Whisky')
  await press(page.getByRole('checkbox', { name: '21 or over', exact: true }), 'Space')
  await isHeard(page, 'The question is well formed.')
  await press(page.getByRole('button', { name: 'Save template' }))
  await heading(page, 'Whisky').waitFor()
  await page.keyboard.press('Escape')

  await press(page.locator('.rail summary', { hasText: 'Settings' }))
  await press(page.getByRole('link', { name: 'People', exact: true }))
  await isFocused(heading(page, 'People'))
  await press(button(page, 'Invite somebody'))
  await isFocused(field(page, 'Name'))
  await page.keyboard.type('mia')
  await page.keyboard.press('Enter')
  await page.locator('.secret code').waitFor()
  await press(button(page, 'I have copied it'))
  await page.getByRole('row', { name: /mia/ }).waitFor()
  await isFocused(button(page, 'Invite somebody'))
  expect(page.complaints).toEqual([])
})

browserTest('an owner adds a trust list, and finds, opens and erases a verification', async openPage => {
  const app = await startForBrowser()
  const { key } = await app.tenant({ name: 'Wine bar' })
  await verifyWith(app, key, 'adult', { body: { metadata: { order: '2026-0117' } } })
  await verifyWith(app, key, 'minor')
  const { page } = await enter(app, openPage, '/dashboard/verifications')
  await type(page.getByRole('searchbox'), '2026-0117')
  await page.keyboard.press('Enter')
  const row = page.getByRole('row', { name: /2026-0117/ }).getByRole('link')
  await page.waitForURL(/2026-0117/)
  await page.getByRole('row', { name: /Refused/ }).waitFor({ state: 'detached' })
  await row.waitFor()
  await press(row)
  const panel = page.locator('.panel')
  await isFocused(panel.getByRole('heading', { name: 'Age 18 or over' }).first())
  await page.keyboard.press('Escape')
  await isFocused(row)
  await page.keyboard.press('Enter')
  await press(button(page, 'Erase for good'))
  await isFocused(page.getByRole('dialog').getByRole('textbox'))
  await page.keyboard.type('erase')
  await page.keyboard.press('Enter')
  await isHeard(page, 'Erased for good.')
  await isFocused(heading(page, 'Verifications'))

  const signer = await makeSigner({ notAfter: Date.now() + 400 * DAY_MS, notBefore: Date.now() - DAY_MS })
  const { der } = await makeIssuer({ name: 'C=US, CN=Utah Root' })
  const list = makeVical(
    {
      provider: 'States',
      date: Date.now() - DAY_MS,
      nextUpdate: Date.now() + 30 * DAY_MS,
      issueId: 17,
      entries: [{ certificate: der }],
    },
    signer,
  )
  await press(page.locator('.rail summary', { hasText: 'Settings' }))
  await press(page.getByRole('link', { name: 'Trust', exact: true }))
  await press(button(page, 'Add a list'))
  const dialog = page.getByRole('dialog', { name: 'Add a list of issuers' })
  await tabTo(dialog.getByRole('radio').first())
  await page.keyboard.press('ArrowUp')
  await dialog.getByRole('radio', { name: 'From a file', checked: true }).waitFor()
  const chosen = page.waitForEvent('filechooser')
  await press(dialog.locator('input[type=file]'), 'Space')
  await (await chosen).setFiles({ name: 'states.vical', mimeType: 'application/octet-stream', buffer: Buffer.from(list) })
  await dialog.getByText('states.vical').waitFor()
  await press(button(page, 'Look at it'))
  await isFocused(dialog.getByRole('heading', { name: /^Step 2 of 3/ }))
  await press(button(page, 'Continue'))
  await isFocused(dialog.getByRole('heading', { name: /^Step 3 of 3/ }))
  await press(dialog.getByRole('checkbox', { name: /^I compared the fingerprint/ }), 'Space')
  await press(button(page, 'Add list'))
  await isHeard(page, /is added with 1 issuer\./)
  // The button of the empty page went with it; the heading is before the new one.
  await isFocused(heading(page, 'Trust'))
  await tabTo(button(page, 'Add a list'))
  expect(page.complaints).toEqual([])
})
