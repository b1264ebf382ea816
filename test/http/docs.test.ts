import { describe, expect, test } from 'bun:test'
import { startApp } from '../helpers/app.ts'
import { browserTest } from '../helpers/browser.ts'

/** At its public address, as a reader would open it. */
const startDocs = async () => {
  const app = await startApp({ config: { publicUrl: '' } })
  return { ...app, origin: app.deps.config.publicUrl }
}

describe('the page to try out the API at /docs/api/try', () => {
  browserTest(
    'lists every operation, can be tried out on the spot, asks nobody else for anything, and refuses scripts that are not its own',
    async openPage => {
      const { origin, call } = await startDocs()
      const page = await openPage(origin)
      await page.goto('/docs/api/try')
      await page.locator('.opblock').first().waitFor()
      const shown = await page
        .locator('.opblock-summary-path')
        .evaluateAll(all => all.map(each => each.getAttribute('data-path')))
      const { body } = await call<{ paths: Record<string, object>; webhooks: object }>('GET', '/openapi.json')
      const paths = Object.entries(body.paths).flatMap(([path, methods]) => Object.keys(methods).map(() => path))
      expect(shown.toSorted()).toEqual([...paths, ...Object.keys(body.webhooks)].toSorted())
      expect(await page.title()).toBe('Vidimus API')
      // Drawn once for all of this: that takes four seconds of processor time.
      await page.locator('#operations-Service-getHealth .opblock-summary-control').click()
      await page.getByRole('button', { name: 'Try it out' }).click()
      await page.getByRole('button', { name: 'Execute' }).click()
      await page.locator('.live-responses-table .response-col_status', { hasText: '200' }).waitFor()
      expect(page.complaints).toEqual([])
      await page.evaluate(
        `document.body.append(Object.assign(document.createElement('script'), { text: 'window.intruder = true' }))`,
      )
      expect(await page.evaluate('window.intruder')).toBeUndefined()
      expect(page.complaints).toEqual([expect.stringContaining('Content Security Policy')])
    },
  )

  browserTest('follows the theme of the system, and fits a phone', async openPage => {
    const { origin } = await startDocs()
    const page = await openPage(origin, { colorScheme: 'dark', viewport: { width: 390, height: 844 } })
    await page.goto('/docs/api/try#/Verifications/createVerification')
    for (const colorScheme of ['dark', 'light'] as const) {
      await page.emulateMedia({ colorScheme })
      // The page hears of a change with its next frame.
      await page.locator(colorScheme === 'dark' ? 'html.dark-mode' : 'html:not(.dark-mode)').waitFor()
      await page.locator('.opblock.is-open .responses-table').first().waitFor()
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
      const answer = await page.locator('.opblock.is-open .response .response-col_description').first().boundingBox()
      expect(answer?.width).toBeGreaterThan(280)
      const background = await page.evaluate<string>('getComputedStyle(document.documentElement).backgroundColor')
      expect(lightness(background)).toBe(colorScheme)
      expect(page.complaints).toEqual([])
    }
  })

  test('/docs/api/try has its own content security policy, and assets cacheable for a day', async () => {
    const app = await startApp()
    const page = await app.call('GET', '/docs/api/try')
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    expect(page.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; script-src 'self' 'sha256-\S{44}'; style-src/,
    )
    const assets = [...new Set([...page.text.matchAll(/(?:src="|url\()(\/[^")]+)/g)].map(([, path]) => path ?? ''))]
    expect(assets.toSorted()).toEqual(['/docs/reference.css', '/docs/reference.js'])
    for (const path of assets) {
      const { status, headers } = await app.call('GET', path)
      expect([status, headers.get('cache-control')]).toEqual([200, 'public, max-age=86400'])
      expect(headers.get('content-type')).toBe(
        path.endsWith('.js') ? 'text/javascript; charset=utf-8' : 'text/css; charset=utf-8',
      )
    }
  })

  test('/docs/api/try links its assets below the public path of the service', async () => {
    const app = await startApp({ config: { publicUrl: 'https://shop.example/verify' } })
    const { text } = await app.call('GET', '/docs/api/try')
    expect(text).toContain('src="/verify/docs/reference.js"')
    expect(text).toContain('data-url="/verify/openapi.json"')
  })

  test('there is no second document beside /openapi.json', async () => {
    const app = await startApp()
    expect((await app.call('GET', '/docs/json')).status).toBe(404)
    const { status, headers } = await app.call('GET', '/openapi.json')
    expect([status, headers.get('content-type')]).toEqual([200, 'application/json'])
  })
})

const lightness = (color: string): 'light' | 'dark' => {
  const [red = 0, green = 0, blue = 0, alpha = 1] = (color.match(/[\d.]+/g) ?? []).map(Number)
  return alpha === 0 || red + green + blue > 384 ? 'light' : 'dark'
}
