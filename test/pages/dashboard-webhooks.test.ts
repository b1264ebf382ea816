// Webhooks: secret, endpoint, deliveries.
import { afterAll, expect } from 'bun:test'
import { verifyWebhook } from '../../src/sdk/webhook.ts'
import { cleanUp, createVerification, until } from '../helpers/app.ts'
import { browserTest, expectAccessible, shoot } from '../helpers/browser.ts'
import { PASSWORD } from '../helpers/dashboard.ts'
import { ageLogIn, enter, shareService, startForBrowser } from '../helpers/dashboard-page.ts'
import { type Receiver, receive, stopReceiving, untilAttempted } from '../helpers/receiver.ts'
import { answerWith, holderOf } from '../helpers/wallet.ts'

shareService()
afterAll(async () => {
  await cleanUp()
  stopReceiving()
})

const startWith = (receiver: Receiver) =>
  startForBrowser({ resolve: async () => ['127.0.0.1'], config: { egressAllow: [receiver.allow] } })

browserTest(
  'the webhook secret is revealed after a password prompt, rotated with an overlap, and hidden again',
  async openPage => {
    const app = await startForBrowser()
    await app.tenant()
    const { page, browser } = await enter(app, openPage, '/dashboard/webhooks')
    const shown = page.locator('.card .copyable code')
    await ageLogIn(app, browser)
    await page.getByRole('button', { name: 'Show the secret' }).click()
    await page.getByRole('dialog').getByLabel('Password').fill(PASSWORD)
    await page.getByRole('dialog').getByRole('button', { name: 'Continue' }).click()
    await shown.waitFor()
    const first = (await shown.textContent()) ?? ''
    expect(first).toMatch(/^whsec_/)
    await page.getByRole('button', { name: 'Hide the secret' }).click()
    expect(await page.content()).not.toContain(first)
    await page.getByRole('button', { name: 'Rotate' }).click()
    await page
      .getByRole('dialog')
      .getByText(/For 24 hours every event carries two signatures/)
      .waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Make a new secret' }).click()
    await page.getByText(/Two secrets sign at the moment/).waitFor()
    expect(await shown.textContent()).not.toBe(first)
    await expectAccessible(page)
    await shoot(page, 'dashboard-webhook-rotated')
    await page.getByRole('button', { name: 'Let the old one stop now' }).click()
    await page.getByText(/Two secrets sign at the moment/).waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'Overview' }).first().click()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    expect(await page.content()).not.toContain('whsec_')
  },
)

browserTest('each environment has its webhook secret, and switching hides a revealed one', async openPage => {
  const app = await startForBrowser()
  const { id } = await app.tenant()
  const { page, browser } = await enter(app, openPage, '/dashboard/webhooks')
  const revealed = async (environment: string) =>
    (await browser.post<{ webhook_secret: string }>(`/tenants/${id}/webhook-secret/reveal?environment=${environment}`)).body
      .webhook_secret
  const shown = page.locator('.card .copyable code')
  for (const [environment, other] of [
    ['test', 'live'],
    ['live', 'test'],
  ] as const) {
    await page.goto(`/dashboard/webhooks?environment=${environment}`)
    await page.getByText(`It signs ${environment} events only; ${other} events have another one.`).waitFor()
    await page.getByRole('button', { name: 'Show the secret' }).click()
    await shown.waitFor()
    expect(await shown.textContent()).toBe(await revealed(environment))
  }
  await page.getByRole('radio', { name: 'Test' }).check()
  await shown.waitFor({ state: 'detached' })
  expect(page.complaints).toEqual([])
})

browserTest('a forbidden webhook endpoint is refused; an allowed one is set, tested and removed', async openPage => {
  const receiver = receive()
  const app = await startWith(receiver)
  const { id } = await app.tenant()
  const { page, browser } = await enter(app, openPage, '/dashboard/webhooks')
  const read = async () =>
    (await browser.get<{ webhook_url: string | null }>(`/tenants/${id}/webhook-endpoint?environment=test`)).body.webhook_url
  const field = page.getByLabel('URL')
  // Problems of a field are ours, below it, and it gets the focus.
  await field.fill('nonsense')
  const isBubbleStopped = await field.evaluate(input => {
    const stopped = new Promise<boolean>(resolve => {
      input.addEventListener('invalid', event => queueMicrotask(() => resolve(event.defaultPrevented)), { once: true })
    })
    input.closest('form')?.requestSubmit()
    return stopped
  })
  expect(isBubbleStopped).toBe(true)
  await page.locator('.field .problem').getByText('Write a whole address, like https://shop.example/hooks.').waitFor()
  expect(await field.evaluate(input => [input === document.activeElement, input.ariaInvalid])).toEqual([true, 'true'])
  await field.fill('http://10.0.0.1/hook')
  await page.getByRole('button', { name: 'Save' }).click()
  // Under the field, with the command that helps a developer.
  await page.locator('.field .problem').getByText('This address may not be called').waitFor()
  await page.getByText('vidimus listen --forward http://10.0.0.1/hook').waitFor()
  await expectAccessible(page)
  await shoot(page, 'dashboard-webhook-endpoint-refused')
  await field.fill(receiver.url())
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved.').waitFor()
  expect(await read()).toBe(receiver.url())
  await page.getByRole('button', { name: 'Send a test event' }).click()
  await page.getByText('Delivered · answered 204').waitFor()
  receiver.answer(() => new Response('no such path', { status: 404 }))
  await page.getByRole('button', { name: 'Send a test event' }).click()
  await page.getByText('Not accepted · answered 404').waitFor()
  await page.getByText('no such path').waitFor()
  expect(receiver.received.map(({ body }) => JSON.parse(body).verification.id)).toEqual(['vs_test_event', 'vs_test_event'])
  await expectAccessible(page)
  await shoot(page, 'dashboard-webhook-endpoint')
  await page.getByRole('button', { name: 'Deutsch' }).click()
  await page.getByText('Nicht angenommen · antwortete 404').waitFor()
  await shoot(page, 'dashboard-webhook-endpoint-german')
  await page.getByRole('button', { name: 'English' }).click()
  await page.getByRole('button', { name: 'Remove' }).click()
  await page.getByRole('button', { name: 'Remove' }).waitFor({ state: 'detached' })
  expect(await read()).toBeNull()
  expect(page.complaints.filter(each => !each.includes('422'))).toEqual([])
})

browserTest('a delivery shows its attempts and the exact signed bytes, and can be sent again', async openPage => {
  const receiver = receive(() => new Response('out of order', { status: 500 }))
  const app = await startWith(receiver)
  const { id: tenantId, key } = await app.tenant()
  const session = await createVerification(app, key, { webhook_url: receiver.url() })
  app.clock.advance(900)
  await answerWith(app, await holderOf(app), session.wallet_uri ?? '')
  await untilAttempted(app, session.id, 1)
  const { page, browser } = await enter(app, openPage)
  await page.getByText(/is not accepting events\. 1 is being retried\./).waitFor()
  await page.goto(`/dashboard/verifications/${session.id}`)
  await page.locator('.timeline').getByText('Not accepted · 500').waitFor()
  await page.getByRole('link', { name: 'Webhook, attempt 1' }).click()
  const panel = page.locator('.panel')
  await panel.getByText(/Not accepted · answered 500/).waitFor()
  await panel.getByText('Retrying').waitFor()
  expect(await panel.getByText('Waiting').count()).toBe(0)
  await panel.getByText('Answer (its first 4 KiB)').click()
  await panel.getByText('out of order').waitFor()
  const bytes = await panel.getByRole('region', { name: 'Event' }).textContent()
  expect(bytes).toBe(receiver.received[0]?.body ?? '')
  await panel.getByText('The event, byte for byte as attempt 1 sent it.').waitFor()
  await panel.getByText('Headers with the signatures').click()
  const headers = (await panel.getByRole('region', { name: 'Headers with the signatures' }).textContent()) ?? ''
  const { webhook_secret: secret } = (
    await browser.post<{ webhook_secret: string }>(`/tenants/${tenantId}/webhook-secret/reveal?environment=test`)
  ).body
  const header = /^x-service-signature: (.*)$/im.exec(headers)?.[1]
  await verifyWebhook({ payload: bytes ?? '', header, secret, now: Math.floor(app.clock.now() / 1000) })
  await expectAccessible(page)
  await shoot(page, 'dashboard-delivery')
  const { promise: mayAnswer, resolve: answer } = Promise.withResolvers<void>()
  receiver.answer(() => mayAnswer.then(() => new Response(null, { status: 204 })))
  await panel.getByRole('button', { name: 'Send again' }).click()
  await panel.getByText('It is on its way again.').waitFor()
  answer()
  await until(async () => receiver.received.length === 2)
  await panel.getByText(/Delivered · answered 204/).waitFor()
  expect(await panel.getByText('It is on its way again.').count()).toBe(0)
  await page.getByRole('table').getByText('Delivered').waitFor()
  expect(page.complaints).toEqual([])
})

browserTest('failed deliveries are shown on the overview, filtered, and sent again together', async openPage => {
  const receiver = receive(() => new Response(null, { status: 410 }))
  const app = await startWith(receiver)
  const { key } = await app.tenant()
  const ids: string[] = []
  for (let i = 0; i < 2; i++) {
    const session = await createVerification(app, key, { webhook_url: receiver.url() })
    ids.push(session.id)
    app.clock.advance(900)
    await answerWith(app, await holderOf(app), session.wallet_uri ?? '')
    await untilAttempted(app, session.id, 1)
  }
  const { page } = await enter(app, openPage)
  await page.getByText(/is not accepting events\. 2 failed/).waitFor()
  await page.goto('/dashboard/webhooks')
  const { host } = new URL(receiver.url())
  for (const id of ids) {
    const row = page.getByRole('row').filter({ hasText: id.slice(0, 11) })
    expect(await row.getByRole('link').textContent()).toContain(host)
  }
  await shoot(page, 'dashboard-deliveries')
  await page.getByRole('combobox', { name: 'Status' }).selectOption('delivered')
  await page.getByText('Nothing matches this filter.').waitFor()
  await page.getByRole('combobox', { name: 'Status' }).selectOption('failed')
  receiver.answer(() => new Response(null, { status: 200 }))
  await page.getByRole('button', { name: 'Send failed ones again' }).click()
  await expectAccessible(page)
  await page.getByRole('dialog').getByRole('button', { name: 'Send failed ones again' }).click()
  await until(async () => receiver.received.length === 4)
  await page.getByRole('combobox', { name: 'Status' }).selectOption('delivered')
  await until(async () => (await page.getByRole('table').getByRole('row').count()) === 3)
})
