import { expect } from 'bun:test'
import { browserTest, expectAccessible, shoot } from '../helpers/browser.ts'
import { enter, shareService, startForBrowser } from '../helpers/dashboard-page.ts'

shareService()

browserTest('Test is filled with examples from the empty list, and emptied after the word was typed', async openPage => {
  const app = await startForBrowser()
  const { id } = await app.tenant({ name: 'Wine bar' })
  const { page, browser } = await enter(app, openPage, '/dashboard/verifications')
  await page.getByRole('button', { name: 'Fill Test with 50 example checks' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('They count against today’s quota').waitFor()
  await expectAccessible(page)
  await dialog.getByRole('button', { name: 'Fill', exact: true }).click()
  await dialog.getByRole('progressbar').first().waitFor()
  await shoot(page, 'dashboard-fill-test')
  await dialog.waitFor({ state: 'detached' })
  await page.locator('.badge', { hasText: 'Declined' }).first().waitFor()
  const count = async () =>
    (await browser.get<{ data: unknown[] }>(`/tenants/${id}/verifications?environment=test&limit=100`)).body.data.length
  expect(await count()).toBe(50)
  await shoot(page, 'dashboard-filled-test')

  await page.getByRole('button', { name: 'Empty Test' }).click()
  const empty = dialog.getByRole('button', { name: 'Empty Test' })
  expect(await empty.isDisabled()).toBe(true)
  await dialog.getByLabel(/To confirm, type/).fill('empty')
  await expectAccessible(page)
  await empty.click()
  await dialog.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Fill Test with 50 example checks' }).waitFor()
  expect(await count()).toBe(0)
  expect(page.complaints).toEqual([])
})

browserTest('a run of examples that is stopped leaves those that were made', async openPage => {
  const app = await startForBrowser()
  const { id } = await app.tenant({ name: 'Wine bar' })
  const { page, browser } = await enter(app, openPage, '/dashboard/verifications')
  let steps = 0
  let goOn = () => {}
  await page.route('**/verifications/examples', async route => {
    if (++steps === 2) await new Promise<void>(resolve => (goOn = resolve))
    await route.continue()
  })
  await page.getByRole('button', { name: 'Fill Test with 50 example checks' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Fill', exact: true }).click()
  await dialog.getByText('5 of 50').first().waitFor()
  const ended = page.waitForResponse('**/verifications/examples')
  await dialog.getByRole('button', { name: 'Stop' }).click()
  goOn()
  await ended
  await page.getByRole('row').nth(1).waitFor()
  const { data } = (await browser.get<{ data: unknown[] }>(`/tenants/${id}/verifications?environment=test`)).body
  expect([data.length, steps]).toEqual([10, 2])
  expect(page.complaints).toEqual([])
})
