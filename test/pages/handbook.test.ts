// The handbook in a real browser: search, copy buttons, deep links, keyboard, both themes, a phone.
import { afterAll, expect, test } from 'bun:test'
import type { Route } from 'playwright-core'
import { cleanUp, startApp } from '../helpers/app.ts'
import { browserTest, expectAccessible, shoot } from '../helpers/browser.ts'

afterAll(cleanUp)

/** At its public address, as a reader would open it. */
const app = await startApp({ config: { publicUrl: '' } })
const origin = app.deps.config.publicUrl

browserTest('the search of the handbook finds a code by keyboard, and leads to its row', async openPage => {
  const page = await openPage(origin)
  await page.goto('/docs/start')
  await page.keyboard.press('/')
  await page.keyboard.type('session_not_found')
  await page.getByRole('link', { name: /^Troubleshooting: session_not_found/ }).waitFor()
  expect(await page.getByRole('search').getByRole('status').textContent()).toMatch(/^\d+ results$/)
  await shoot(page, 'handbook-search')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press('Escape')
  expect(
    await page
      .getByRole('list')
      .getByRole('link', { name: /session_not_found/ })
      .count(),
  ).toBe(0)
  await page.getByRole('searchbox').fill('xyzzyqwvk')
  await page.getByText('Nothing found').waitFor()
  await page.getByRole('searchbox').fill('phone localhost')
  await page
    .getByRole('link', { name: /A phone cannot reach localhost/ })
    .first()
    .waitFor()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.waitForURL(/#a-phone-cannot-reach-localhost$/)
  expect(page.complaints).toEqual([])
})

browserTest('a search with a typing error finds the nearest word, and says which', async openPage => {
  const page = await openPage(origin)
  await page.goto('/docs')
  await page.getByRole('searchbox').fill('webhok signature')
  await page.getByText('Results for “webhook signature”', { exact: true }).waitFor()
  expect(await page.getByRole('search').getByRole('status').textContent()).toMatch(/^\d+ results for “webhook signature”$/)
  await page
    .getByRole('search')
    .getByRole('link', { name: /^Webhooks/ })
    .first()
    .waitFor()
  await page.getByRole('searchbox').fill('certficate')
  await page.getByText('Results for “certificate”', { exact: true }).waitFor()
})

browserTest('a search finds pages that have most of its words, and words that mean the same', async openPage => {
  const page = await openPage(origin)
  await page.goto('/docs')
  const first = page.getByRole('search').getByRole('link').first()
  for (const [typed, expected] of [
    ['gdpr', /privacy/i],
    ['erase customer data gdpr', /erase|privacy|erasure/i],
    ['logo', /look|logo/i],
    ['qr code too small', /code/i],
    ['cors', /origin/i],
  ] as const) {
    await page.getByRole('searchbox').fill(typed)
    await first.filter({ hasText: expected }).waitFor()
    expect(await page.getByText(/^Results for/).count()).toBe(0)
  }
})

browserTest(
  'the reference lists its endpoints beside the one that is read, and remembers the language of samples',
  async openPage => {
    const page = await openPage(origin, { viewport: { width: 1440, height: 900 } })
    await page.goto('/docs/api#getUsage')
    const current = page.locator('aside a[aria-current=location]')
    await current.and(page.locator('[href="#getUsage"]')).waitFor()
    const openNow = () =>
      page.locator('details[data-language][open]').evaluateAll(all => [...new Set(all.map(each => each.dataset.language))])
    expect(await openNow()).toEqual(['curl'])
    await page.locator('summary', { hasText: 'Python' }).first().click()
    expect(await openNow()).toEqual(['python'])
    await page.reload()
    await page.locator('details[data-language=python][open]').first().waitFor()
    expect(await openNow()).toEqual(['python'])
    const headings = await page.locator('article h2').allTextContents()
    expect(headings.at(-1)).toStartWith('Errors and limits')
    await shoot(page, 'handbook-reference')
    expect(page.complaints).toEqual([])
  },
)

test('lines of the handbook have the address of the service, and the command that started it', async () => {
  const { text } = await app.call('GET', '/docs/start')
  const blocks = [...text.matchAll(/<pre>[\s\S]*?<\/pre>/g)].join('\n')
  expect(blocks).toContain(origin)
  const commands = (await app.call('GET', '/docs/backup-and-restore')).text
  expect(commands).toContain('./scripts/bun src/main.ts backup')
  for (const page of [blocks, commands]) expect(page).not.toMatch(/<pre><code[^>]*>(?:[^<]*\n)?vidimus /)
  expect(origin === 'http://localhost:3000' || !blocks.includes('http://localhost:3000')).toBe(true)
})

browserTest('results of the search fit a phone, a tablet and a desktop', async openPage => {
  const page = await openPage(origin)
  await page.goto('/docs')
  await page.getByRole('searchbox').fill('certificate')
  const hits = page.getByRole('search').getByRole('list')
  for (const width of [320, 390, 801, 1440]) {
    await page.setViewportSize({ width, height: 844 })
    const box = (await hits.boundingBox())!
    expect([width, box.x >= 0, box.x + box.width <= width]).toEqual([width, true, true])
    expect(await hits.evaluate(list => list.scrollWidth <= list.clientWidth)).toBe(true)
  }
})

const FAILURES: Record<string, (route: Route) => Promise<void>> = {
  'does not answer': route => route.abort(),
  'refuses the request': route => route.fulfill({ status: 429, json: { error: { code: 'rate_limit_exceeded' } } }),
}

for (const [failure, fail] of Object.entries(FAILURES))
  browserTest(`a search while the service ${failure} says so, and works once it answers again`, async openPage => {
    const page = await openPage(origin)
    await page.goto('/docs')
    await page.route('**/docs/search.json', fail)
    await page.getByRole('searchbox').fill('localhost')
    await page.getByText('The service does not answer.').waitFor()
    await page.unroute('**/docs/search.json')
    await page.getByRole('searchbox').fill('localhost phone')
    await page
      .getByRole('link', { name: /A phone cannot reach localhost/ })
      .first()
      .waitFor()
  })

browserTest('the contents of the handbook show the page that is open, and the page stays at its top', async openPage => {
  const page = await openPage(origin)
  await page.setViewportSize({ width: 1440, height: 600 })
  await page.goto('/docs/benchmarks')
  const link = page.getByRole('navigation').getByRole('link', { name: 'Benchmarks and runs' })
  await link.waitFor()
  const { y, height } = (await link.boundingBox())!
  expect([y > 0, y + height < 600]).toEqual([true, true])
  expect(await page.evaluate<number>('scrollY')).toBe(0)
})

browserTest('a block of the handbook is copied, and a heading has an address', async openPage => {
  const page = await openPage(origin, { permissions: ['clipboard-read', 'clipboard-write'] })
  await page.goto('/docs/start')
  await page.getByRole('button', { name: 'Copy' }).first().click()
  await page.getByRole('button', { name: 'Copied' }).waitFor()
  expect(await page.evaluate<string>('navigator.clipboard.readText()')).toBe('./scripts/bun run dev\n')
  await page.getByRole('link', { name: 'Link to “Test and live”' }).click()
  await page.waitForURL(/\/docs\/start#test-and-live$/)
  expect(page.complaints).toEqual([])
})

browserTest(
  'a cashier with a German browser reads about the till in German, finds it, and can switch to English',
  async openPage => {
    const page = await openPage(origin, { locale: 'de-DE', viewport: { width: 320, height: 700 } })
    for (const [path, title] of [
      ['/docs/dashboard', 'Das Dashboard'],
      ['/docs/till', 'An der Kasse'],
    ] as const) {
      await page.goto(path)
      await page.getByRole('heading', { level: 1, name: title }).waitFor()
      expect([path, await page.evaluate<number>('document.documentElement.scrollWidth')]).toEqual([path, 320])
      await shoot(page, `handbook-german${path.replaceAll('/', '-')}`)
    }
    await expectAccessible(page)
    await page.getByRole('searchbox', { name: 'Das Handbuch durchsuchen' }).fill('letztes ergebnis')
    const hit = page.getByRole('search').getByRole('link', { name: /^An der Kasse: Was die Farben bedeuten/ })
    await hit.waitFor()
    expect(await page.getByRole('search').getByRole('status').textContent()).toMatch(/^\d+ Treffer$/)
    await hit.click()
    await page.waitForURL(/\/docs\/till\?language=de#what-the-colours-mean$/)
    await page.getByRole('main').getByRole('link', { name: 'English', exact: true }).click()
    await page.getByRole('heading', { level: 1, name: 'At the till' }).waitFor()
    expect(await page.evaluate<string>('document.documentElement.lang')).toBe('en')
    await page.getByRole('navigation').getByRole('link', { name: 'The dashboard' }).click()
    await page.getByRole('heading', { level: 1, name: 'The dashboard' }).waitFor()
    await page.getByRole('main').getByRole('link', { name: 'Deutsch', exact: true }).click()
    await page.getByRole('heading', { level: 1, name: 'Das Dashboard' }).waitFor()
    expect(page.complaints).toEqual([])
  },
)

browserTest('pages of the handbook are accessible, fit a phone and a desktop, and need no script to be read', async openPage => {
  const page = await openPage(origin)
  for (const path of ['/docs', '/docs/verdict', '/docs/recipes/lan-venue', '/docs/api']) {
    for (const viewport of [
      { width: 390, height: 844 },
      { width: 1440, height: 900 },
    ]) {
      await page.setViewportSize(viewport)
      await page.goto(path)
      await page.getByRole('heading', { level: 1 }).waitFor()
      expect([path, await page.evaluate<number>('document.documentElement.scrollWidth')]).toEqual([path, viewport.width])
    }
    // The other two are of the same parts, and long.
    if (path === '/docs' || path === '/docs/recipes/lan-venue') await expectAccessible(page)
    await shoot(page, `handbook${path.replaceAll('/', '-')}`)
  }
  expect(page.complaints).toEqual([])
  const plain = await openPage(origin, { javaScriptEnabled: false })
  await plain.goto('/docs/verdict')
  await plain.getByRole('navigation', { name: 'Handbook' }).getByRole('link', { name: 'Webhooks' }).click()
  await plain.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor()
  expect(await plain.getByRole('search').count()).toBe(0)
})
