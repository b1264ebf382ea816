// Programs where people log in with a wallet: added, tried and removed by the pages.
import { afterAll, expect } from 'bun:test'
import { cleanUp } from '../helpers/app.ts'
import { browserTest, expectAccessible, shoot } from '../helpers/browser.ts'
import { enter, shareService, startForBrowser } from '../helpers/dashboard-page.ts'
import { rowsOf } from '../helpers/database.ts'

afterAll(cleanUp)
shareService()

const SECRET = /^ocs_[A-Za-z0-9]{46}$/

browserTest('a program is added with the settings that it needs, and its secret is shown once', async openPage => {
  const app = await startForBrowser()
  await app.tenant({ name: 'Wine & Co' })
  const { page } = await enter(app, openPage, '/dashboard/log-ins')
  await page.getByText('No log-ins in Test yet').waitFor()
  await expectAccessible(page)
  await shoot(page, 'dashboard-log-ins-empty')
  await page.getByRole('button', { name: 'Add a program' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('What is it?').selectOption('Nextcloud')
  await dialog.getByText('https://cloud.example/apps/user_oidc/code').waitFor()
  await dialog.getByLabel('Name', { exact: true }).fill('Cloud')
  await dialog.getByLabel('Redirect addresses').fill('cloud.example')
  await expectAccessible(page)
  await shoot(page, 'dashboard-log-in-add')
  await dialog.getByRole('button', { name: 'Add a program' }).click()
  await dialog.getByRole('alert').getByText('invalid_redirect_uri').waitFor()
  await dialog.getByLabel('Redirect addresses').fill('https://cloud.example/apps/user_oidc/code')
  await dialog.getByRole('button', { name: 'Add a program' }).click()
  await page.getByRole('heading', { name: '“Cloud” can log people in' }).waitFor()
  const secret = (await dialog.locator('.secret code').textContent()) ?? ''
  expect(secret).toMatch(SECRET)
  await dialog.getByText('openid vidimus:age_over_18').waitFor()
  await shoot(page, 'dashboard-log-in-made')
  await page.getByRole('button', { name: 'I have copied it' }).click()
  await page.getByRole('row', { name: /Cloud/ }).waitFor()
  expect(await page.content()).not.toContain(secret)
  await expectAccessible(page)
  await shoot(page, 'dashboard-log-ins')
  const [row] = rowsOf<{ auth: string; pkce: string; id_token_claims: number }>(
    app.dir,
    'SELECT auth, pkce, id_token_claims FROM oidc_clients',
  )
  expect(row).toEqual({ auth: 'client_secret', pkce: 'optional', id_token_claims: 1 })
  await page.getByRole('button', { name: 'Remove: Cloud' }).click()
  await dialog.getByLabel('To confirm, type: Cloud').fill('Cloud')
  await dialog.getByRole('button', { name: 'Remove' }).click()
  await page.getByText('No log-ins in Test yet').waitFor()
  expect(page.complaints.filter(complaint => !complaint.includes('422'))).toEqual([])
})

browserTest('a log-in is tried from the page, answered by the sandbox wallet, and its tokens are shown', async openPage => {
  const app = await startForBrowser()
  await app.tenant({ name: 'Wine & Co' })
  const { page } = await enter(app, openPage, '/dashboard/log-ins')
  await page.getByRole('button', { name: 'Try it' }).click()
  await page.getByRole('heading', { level: 1, name: /Wine & Co/ }).waitFor()
  const simulate = page.getByRole('button', { name: "Simulate the browser's wallet" })
  const [popup] = await Promise.all([page.waitForEvent('popup'), simulate.click()])
  await popup.getByRole('button', { name: 'Share', exact: true }).click()
  await page.getByRole('heading', { name: 'A log-in, as a program sees it' }).waitFor()
  expect(new URL(page.url()).pathname).toBe('/dashboard/log-ins')
  expect(new URL(page.url()).search).not.toContain('code')
  for (const fold of await page.locator('article summary').all()) await fold.click()
  const shown = await page.locator('article').textContent()
  expect(shown).toContain('"alg": "RS256"')
  expect(shown).toContain('"age_over_18": true')
  await expectAccessible(page)
  await shoot(page, 'dashboard-log-in-tried')
  expect(page.complaints).toEqual([])
})
