// Each flow by keyboard alone, as the accessibility tree has it: roles, names, announcements, and where the focus goes.
import { afterAll, expect } from 'bun:test'
import type { Page } from 'playwright-core'
import { codeOfStep } from '../../src/people/one-time-code.ts'
import { cleanUp, createVerification, type TestApp } from '../helpers/app.ts'
import { browserTest, readCode } from '../helpers/browser.ts'
import { PASSWORD } from '../helpers/dashboard.ts'
import { enter, OWNER, shareService, startForBrowser } from '../helpers/dashboard-page.ts'
import { register } from '../helpers/devices.ts'
import { isFocused, isHeard, press, tabTo, type } from '../helpers/focus.ts'
import { answer, walletUri } from '../helpers/till.ts'
import { verifyWith } from '../helpers/wallet.ts'
import { makeIssuer, makeSigner, makeVical } from '../trust-lists/make.ts'

afterAll(cleanUp)
shareService()

const DAY_MS = 86_400_000
const STEP_MS = 30_000

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
  expect(page.complaints).toEqual([])
})

const codeFor = (app: TestApp, secret: string, steps: number): Promise<string> => {
  const bits = [...secret].map(each => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(each).toString(2).padStart(5, '0')).join('')
  const bytes = Uint8Array.from(bits.match(/.{8}/g) ?? [], byte => Number.parseInt(byte, 2))
  return codeOfStep(bytes, Math.floor(app.clock.now() / STEP_MS) + steps)
}

async function logIn(page: Page): Promise<void> {
  await isFocused(field(page, 'Name'))
  await page.keyboard.type(OWNER)
  await page.keyboard.press('Tab')
  await page.keyboard.type(PASSWORD)
  await page.keyboard.press('Enter')
  await heading(page, 'Confirm it is you').waitFor()
}

browserTest('an owner sets up one-time codes, and signs in with a code and with a recovery code', async openPage => {
  const app = await startForBrowser({})
  await app.tenant()
  const { page } = await enter(app, openPage, '/dashboard/settings/security')
  await press(button(page, 'Set up one-time codes'))
  await page.getByRole('dialog', { name: 'Set up one-time codes' }).waitFor()
  const secret = new URL(await readCode(page)).searchParams.get('secret') ?? ''
  await type(field(page, 'Code'), '000000')
  await page.keyboard.press('Enter')
  await isHeard(page, 'This code is wrong.')
  await type(field(page, 'Code'), await codeFor(app, secret, 0))
  await page.keyboard.press('Enter')
  const codes = (await page.locator('.secret code').textContent())?.trim().split(/\s+/) ?? []
  // What is shown once is not closed by Escape.
  await page.keyboard.press('Escape')
  await press(button(page, 'I have copied it'))
  await page.getByText('In use').waitFor()
  await press(button(page, 'Sign out'))
  await isHeard(page, 'You are signed out.')
  await logIn(page)
  await isFocused(field(page, 'Code'))
  await page.keyboard.type(await codeFor(app, secret, 1))
  await page.keyboard.press('Enter')
  await heading(page, 'Settings').waitFor()
  await page.getByText('In use').waitFor()
  await press(button(page, 'Sign out'))
  await logIn(page)
  await press(button(page, 'Use a recovery code'))
  await isFocused(field(page, 'Recovery code'))
  await page.keyboard.type(codes[3] ?? '')
  await page.keyboard.press('Enter')
  await page.getByText('9 left').waitFor()
  // The browser reports the wrong code.
  expect(page.complaints.filter(each => !each.includes('status of 400'))).toEqual([])
})

browserTest('an owner creates a key, builds a template and invites somebody', async openPage => {
  const app = await startForBrowser()
  await app.tenant({ name: 'Wine bar' })
  const { page } = await enter(app, openPage)
  await press(page.getByRole('link', { name: 'API keys', exact: true }))
  await isFocused(heading(page, 'API keys'))
  await press(button(page, 'Create key').first())
  const dialog = page.getByRole('dialog')
  await isFocused(field(page, 'Label'))
  await page.keyboard.type('Web shop')
  await press(dialog.getByRole('checkbox', { name: /^Manage devices/ }), 'Space')
  await press(dialog.getByRole('button', { name: 'Create key' }))
  await page.getByRole('dialog', { name: 'Your new key' }).waitFor()
  await press(button(page, 'I have copied it'))
  await page.getByRole('row', { name: /Web shop/ }).waitFor()
  await isFocused(button(page, 'Create key'))

  await press(page.getByRole('link', { name: 'Templates', exact: true }))
  await isFocused(heading(page, 'Templates'))
  await press(page.getByRole('link', { name: 'New template' }))
  await isFocused(heading(page, 'New template'))
  await type(field(page, 'Title'), 'Whisky')
  await press(page.getByRole('checkbox', { name: '21 or over', exact: true }), 'Space')
  await isHeard(page, 'Wallets can answer this.')
  await press(page.getByRole('button', { name: 'Save template' }))
  await heading(page, 'Whisky').waitFor()
  await page.keyboard.press('Escape')

  await press(page.getByRole('link', { name: 'Settings', exact: true }))
  await tabTo(page.getByRole('tab', { name: 'Shop' }))
  for (const name of ['Profile', 'Security', 'People']) {
    await page.keyboard.press('ArrowRight')
    await isFocused(page.getByRole('tab', { name, selected: true }))
  }
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
  await isFocused(button(page, 'Add a list'))
  expect(page.complaints).toEqual([])
})
