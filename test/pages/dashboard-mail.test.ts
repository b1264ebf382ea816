import { afterAll, expect } from 'bun:test'
import { tokenIn } from '../helpers/alerts.ts'
import { cleanUp, type TestApp } from '../helpers/app.ts'
import { browserTest, expectAccessible, shoot } from '../helpers/browser.ts'
import { enter, startForBrowser } from '../helpers/dashboard-page.ts'
import { readMail, startBadServer, startMailServer } from '../helpers/mail-server.ts'

afterAll(cleanUp)

async function startWithMail(): Promise<{ app: TestApp; server: Awaited<ReturnType<typeof startMailServer>> }> {
  const server = await startMailServer()
  const app = await startForBrowser({ resolve: async () => ['127.0.0.1'], config: { mail: server.mail } })
  await app.tenant()
  return { app, server }
}

browserTest('an owner enters a mail address, confirms it by the link, and sends a test', async openPage => {
  const { app, server } = await startWithMail()
  const { page } = await enter(app, openPage, '/dashboard/settings/you')
  await page.getByLabel('Mail address').fill('olivia@shop.example')
  await page.getByRole('button', { name: 'Send the link' }).click()
  await page.getByText('Follow the link in the mail to olivia@shop.example.').waitFor()
  await shoot(page, 'dashboard-mail-waits')
  await page.goto(`/dashboard#mail=${tokenIn(readMail(server.received[0]!).text)}`)
  await page.getByRole('heading', { name: 'Is this your mail address?' }).waitFor()
  expect(page.url()).not.toContain('#')
  await expectAccessible(page)
  await shoot(page, 'dashboard-mail-confirm')
  await page.getByRole('button', { name: 'Confirm' }).click()
  await page.getByRole('heading', { name: 'Your mail address is confirmed.' }).waitFor()
  await page.goto('/dashboard/settings/you')
  await page.getByText('Mail goes to olivia@shop.example.').waitFor()
  await page.getByRole('button', { name: 'Send a test' }).click()
  await page.getByText('The mail server took the mail to olivia@shop.example.').waitFor()
  expect(readMail(server.received[1]!).headers.get('subject')).toEndWith(': a test')
  app.deps.config.mail = await startBadServer(socket => void socket.end('554 Go away\r\n'))
  await page.getByRole('button', { name: 'Send a test' }).click()
  await page.getByText('Not sent: it refused the mail.').waitFor()
  await page.getByText('554 Go away').waitFor()
  await expectAccessible(page)
  await shoot(page, 'dashboard-mail')
  await page.getByRole('button', { name: 'Remove address' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove address' }).click()
  await page.getByRole('button', { name: 'Send the link' }).waitFor()
})

browserTest('a link for somebody who is invited is sent by mail beside being shown', async openPage => {
  const { app, server } = await startWithMail()
  const { page } = await enter(app, openPage, '/dashboard/settings/people')
  await page.getByRole('button', { name: 'Invite somebody' }).click()
  await page.getByRole('dialog').getByLabel('Name', { exact: true }).fill('mia')
  await page.getByRole('button', { name: 'Make the link' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Mail address').fill('mia@shop.example')
  await dialog.getByRole('button', { name: 'Send by mail' }).click()
  await dialog.getByText('The mail server took the mail to mia@shop.example.').waitFor()
  expect(tokenIn(readMail(server.received[0]!).text)).toHaveLength(43)
  await expectAccessible(page)
  await shoot(page, 'dashboard-mail-link')
})
