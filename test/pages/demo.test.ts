import { afterAll, expect } from 'bun:test'
import type { FrameLocator } from 'playwright-core'
import { PERSONAS } from '../../src/sandbox/personas.ts'
import { outcomes } from '../../src/web/shared/words/en.ts'
import { startApp, temporaryDir } from '../helpers/app.ts'
import { browserTest, expectAccessible, type OpenPage, shoot, type WatchedPage } from '../helpers/browser.ts'
import { type RunningDemo, startDemo, stopDemos } from '../helpers/demo.ts'

afterAll(stopDemos)

let shared: Promise<RunningDemo> | undefined

const demo = () => {
  shared ??= startDemo(temporaryDir())
  return shared
}

async function openDemo(openPage: OpenPage, options: Parameters<OpenPage>[1] = {}): Promise<WatchedPage> {
  const { url } = await demo()
  const page = await openPage(new URL(url).origin, { viewport: { width: 1440, height: 900 }, ...options })
  await page.goto('/demo')
  return page
}

const till = (page: WatchedPage): FrameLocator => page.frameLocator('iframe[title="At the till"]')
const phone = (page: WatchedPage): FrameLocator => page.frameLocator('iframe[title="On the phone"]')
const office = (page: WatchedPage) => page.getByRole('region', { name: 'In the back office' })
const next = (page: WatchedPage) => page.getByRole('region', { name: 'Next step' })

browserTest(
  'the demo story runs from the request to the webhook and the erasure, and the audit chain verifies',
  async openPage => {
    const page = await openDemo(openPage)
    await next(page).getByRole('button', { name: 'Ask for 18 or over' }).click()
    await next(page).getByRole('button', { name: 'Scan with the phone' }).waitFor()
    await till(page)
      .getByRole('img', { name: /QR code/ })
      .waitFor()
    await shoot(page, 'demo-scan')
    // The whole request fits beside the code.
    expect(
      await till(page)
        .locator('main')
        .evaluate(main => main.scrollHeight <= main.clientHeight && main.scrollWidth <= main.clientWidth),
    ).toBe(true)
    expect(await till(page).getByText('leads to localhost').count()).toBe(0)
    await next(page).getByRole('button', { name: 'Scan with the phone' }).click()

    await phone(page).getByRole('heading', { name: 'Corner shop asks for a proof' }).waitFor()
    await till(page).getByText("Waiting for the customer's consent").first().waitFor()
    await shoot(page, 'demo-share')
    await phone(page).getByRole('button', { name: 'Share', exact: true }).click()

    await phone(page).getByRole('heading', { name: 'Verified' }).waitFor()
    await till(page).getByText('Yes', { exact: true }).first().waitFor()
    await office(page).getByText('Signature verified').waitFor()
    const received = (await office(page).textContent()) ?? ''
    expect(received).toMatch(/x-service-signature: t=\d+,v1=[0-9a-f]{64}/)
    expect(received).toContain('"type": "verification.completed"')
    expect(received).toContain('"age_over_18": true')
    await shoot(page, 'demo-green')
    await expectAccessible(page)
    // In the small till of a narrow screen, too, nothing is hidden by the buttons at the foot.
    await page.setViewportSize({ width: 1120, height: 740 })
    const foot = await till(page).locator('.foot').boundingBox()
    const told = await till(page)
      .getByText(/issued by/)
      .boundingBox()
    expect((told?.y ?? 0) + (told?.height ?? 999)).toBeLessThanOrEqual(foot?.y ?? 0)

    await next(page).getByRole('button', { name: 'Erase for good' }).click()
    await office(page).getByText('Erased for good: 1 session, 1 result, 1 webhook.').waitFor()
    await office(page).getByText('The audit chain still verifies').waitFor()
    const id = /vs_\w{22}/.exec((await office(page).textContent()) ?? '')?.[0]
    const { url, key } = await demo()
    const gone = await fetch(new URL(`/v1/verifications/${id}`, url), { headers: { authorization: `Bearer ${key}` } })
    expect(gone.status).toBe(404)
    await next(page).getByText('Now try to cheat, buy in the online shop').waitFor()
    await shoot(page, 'demo-erased')
    expect(page.complaints).toEqual([])
  },
)

browserTest('each of eight cheats is refused and explained, and the demo ends with next steps', async openPage => {
  const page = await openDemo(openPage)
  const tries = {
    'Send an old answer again': 'replay',
    'Show an expired document': 'expired',
    'Make your own issuer': 'untrusted_issuer',
    'Use a withdrawn document': 'revoked',
    'Change the age': 'tampered_claim',
    'Be fifteen': 'minor',
  } as const
  const codes = new Set<string>()
  await next(page).getByRole('button', { name: 'Ask for 18 or over' }).waitFor()
  for (const [label, persona] of Object.entries(tries)) {
    const code = PERSONAS[persona].expects
    const { sentence } = outcomes[code as keyof typeof outcomes]
    codes.add(code)
    const button = page.getByRole('button', { name: label })
    await button.click()
    await button.getByText(code).waitFor()
    await till(page).getByText('No', { exact: true }).first().waitFor()
    // A cashier reads the age that was asked for.
    const atTill = code === 'claim_not_satisfied' ? 'Not proven to be 18 or over.' : sentence
    await till(page).getByText(atTill).first().waitFor()
    expect(await button.textContent()).toContain(sentence)
    await office(page).getByText(sentence).waitFor()
    await office(page).getByText('Signature verified').waitFor()
    expect(await office(page).textContent()).toContain('"type": "verification.failed"')
  }
  expect(codes.size).toBe(6)
  for (const name of ['Use an answer that was given to another site', 'Show an answer in person that was recorded']) {
    const button = page.getByRole('button', { name })
    await button.click()
    await button.getByText('holder_binding_invalid').waitFor()
    // Its story is in the shop: the till does not show the cheat before it.
    if (name.includes('another site')) await till(page).getByRole('heading', { name: 'What do you want to check?' }).waitFor()
  }
  // Without an erasure before: the headline moves on after the last cheat.
  await next(page).getByText('Eight tries, eight times no.').waitFor()
  const onwards = page.getByRole('navigation', { name: 'Where to go now' }).getByRole('link')
  const paths = (await onwards.all()).map(async link => new URL((await link.getAttribute('href')) ?? '').pathname)
  expect(await Promise.all(paths)).toEqual(['/dashboard', '/docs', '/docs/install'])
  await shoot(page, 'demo-caught')
  await expectAccessible(page)
  expect(page.complaints).toEqual([])
})

browserTest(
  'the online shop asks on its own page, the phone answers for its origin, and the shop redeems the code',
  async openPage => {
    const page = await openDemo(openPage)
    const shop = page.getByRole('region', { name: 'Online shop', exact: true })
    await shop.getByRole('button', { name: 'Buy' }).click()
    await next(page).getByText('The shop asks on its own page.').waitFor()
    await shop.getByRole('button', { name: 'Answer with the sandbox wallet' }).click()
    await phone(page)
      .getByText(new URL((await demo()).url).origin)
      .first()
      .waitFor()
    await shoot(page, 'demo-shop')
    await phone(page).getByRole('button', { name: 'Share', exact: true }).click()
    await shop.getByText('Ordered. The server redeemed the code of this page').waitFor()
    await office(page).getByText('Signature verified').waitFor()
    await shoot(page, 'demo-ordered')
    await expectAccessible(page)
    expect(page.complaints).toEqual([])
  },
)

browserTest('a till without internet reads the code of the phone, which shares by simulated Bluetooth', async openPage => {
  const page = await openDemo(openPage)
  await next(page).getByRole('button', { name: 'Ask for 18 or over' }).click()
  await next(page).getByRole('button', { name: 'Scan with the phone' }).click()
  await phone(page).getByRole('button', { name: 'Share', exact: true }).click()
  await next(page).getByRole('button', { name: 'Erase for good' }).click()
  await next(page).getByRole('button', { name: 'At the counter, without internet' }).click()
  await phone(page).getByRole('img', { name: 'Code for a till' }).waitFor()
  await next(page).getByText('Bluetooth, which is simulated here').waitFor()
  await shoot(page, 'demo-counter')
  await next(page).getByRole('button', { name: 'Hold it to the till' }).click()
  await phone(page)
    .getByRole('heading', { name: /asks for a proof/ })
    .waitFor()
  await till(page).getByText("Waiting for the customer's consent").first().waitFor()
  await next(page).getByText('Now decide on the phone').waitFor()
  await shoot(page, 'demo-counter-share')
  await expectAccessible(page)
  await phone(page).getByRole('button', { name: 'Share', exact: true }).click()
  await till(page).getByText('Yes', { exact: true }).first().waitFor()
  await office(page).getByText('the till scanned the phone').waitFor()
  await office(page).getByText('Signature verified').waitFor()
  expect(page.complaints).toEqual([])
})

browserTest('a narrow screen shows one pane at a time, that of the next step', async openPage => {
  const page = await openDemo(openPage, { viewport: { width: 390, height: 844 } })
  const isShown = (name: string) => page.getByRole('region', { name, exact: true }).isVisible()
  await next(page).getByRole('button', { name: 'Ask for 18 or over' }).click()
  await next(page).getByRole('button', { name: 'Scan with the phone' }).click()
  await phone(page).getByRole('button', { name: 'Share', exact: true }).waitFor()
  expect([await isShown('At the till'), await isShown('On the phone')]).toEqual([false, true])
  await phone(page).getByRole('button', { name: 'Share', exact: true }).click()
  await next(page).getByRole('button', { name: 'Erase for good' }).waitFor()
  expect(await isShown('In the back office')).toBe(true)
  await page.getByRole('button', { name: 'Till', exact: true }).click()
  await till(page).getByText('Yes', { exact: true }).first().waitFor()
  expect([await isShown('At the till'), await isShown('In the back office')]).toEqual([true, false])
  await expectAccessible(page)
  expect(page.complaints).toEqual([])
})

browserTest('the panes of the demo are in German', async openPage => {
  const page = await openDemo(openPage, { locale: 'de-DE' })
  await page.getByRole('button', { name: 'Altersnachweis ab 18 anfordern' }).click()
  await page.getByRole('button', { name: 'Mit dem Telefon scannen' }).click()
  await page.frameLocator('iframe[title="Auf dem Telefon"]').getByRole('button', { name: 'Teilen', exact: true }).click()
  await page.frameLocator('iframe[title="An der Kasse"]').getByText('Ja', { exact: true }).first().waitFor()
  await page.frameLocator('iframe[title="An der Kasse"]').getByText('Kasse 1', { exact: true }).waitFor()
  await page.getByText('Signatur geprüft', { exact: true }).waitFor()
  await shoot(page, 'demo-german')
  expect(page.complaints).toEqual([])
})

browserTest('a reload continues the demo with the same till', async openPage => {
  const page = await openDemo(openPage)
  await next(page).getByRole('button', { name: 'Ask for 18 or over' }).click()
  await next(page).getByRole('button', { name: 'Scan with the phone' }).waitFor()
  const tills = async () => {
    const { url, key } = await demo()
    const answer = await fetch(new URL('/v1/devices', url), { headers: { authorization: `Bearer ${key}` } })
    return ((await answer.json()) as { data: unknown[] }).data.length
  }
  const before = await tills()
  await page.reload()
  await next(page).getByRole('button', { name: 'Scan with the phone' }).waitFor()
  expect(await tills()).toBe(before)
})

browserTest('the page of the demo is missing without it, and till and wallet may not be framed', async () => {
  const app = await startApp()
  for (const path of ['/demo', '/demo/data', '/demo/audit', '/demo/sessions/vs_1']) {
    expect([path, (await app.call('GET', path)).status]).toEqual([path, 404])
  }
  expect((await app.call('POST', '/demo/tills', { body: { name: 'Till 1' } })).status).toBe(404)
  for (const path of ['/till', '/sandbox']) {
    const { headers } = await app.call('GET', path)
    expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
  }
})

browserTest('the back office of the demo learns whether a rule judges an answer', async openPage => {
  const page = await openDemo(openPage)
  const { url, key } = await demo()
  const claims = [{ path: ['given_name'] }]
  const query = { credentials: [{ id: 'pid', format: 'dc+sd-jwt', meta: { vct_values: ['urn:eudi:pid:1'] }, claims }] }
  const isJudged = async (body: object) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const created = await fetch(new URL('/v1/verifications', url), { method: 'POST', headers, body: JSON.stringify(body) })
    const { id } = (await created.json()) as { id: string }
    return await page.evaluate(async path => (await (await fetch(path)).json()).is_judged, `/demo/sessions/${id}`)
  }
  expect([await isJudged({ template: 'age_over_18' }), await isJudged({ query })]).toEqual([true, false])
})

browserTest('a page that knows OpenID Connect alone logs the customer in, and learns the age', async openPage => {
  const page = await openDemo(openPage)
  const shop = page.getByRole('region', { name: 'Online shop' })
  const [club] = await Promise.all([
    page.waitForEvent('popup'),
    shop.getByRole('link', { name: 'Or log in to a wine club with the wallet' }).click(),
  ])
  await club.getByRole('button', { name: 'Log in with your wallet' }).click()
  await club.getByText('to log in to Wine club').waitFor()
  const simulate = club.getByRole('button', { name: "Simulate the browser's wallet" })
  const [wallet] = await Promise.all([club.waitForEvent('popup'), simulate.click()])
  await wallet.getByRole('button', { name: 'Share', exact: true }).click()
  await club.getByText(/^You are in\./).waitFor()
  expect(await club.getByText('"age_over_18": true').count()).toBe(1)
  expect(await club.content()).not.toMatch(/birthdate|family_name/)
  expect(new URL(club.url()).search).not.toContain('code')
  await expectAccessible(club as WatchedPage)
  await shoot(club as WatchedPage, 'demo-club')
})
