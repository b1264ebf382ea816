// Unknown paths, opened in a browser.
import { afterAll, expect, test } from 'bun:test'
import { cleanUp, type ErrorBody } from '../helpers/app.ts'
import { browserTest, expectAccessible, shoot } from '../helpers/browser.ts'
import { shareService, startForBrowser } from '../helpers/dashboard-page.ts'

afterAll(cleanUp)
shareService()

test('a browser that adds a slash to the address of the dashboard is led to it, and a program gets 404', async () => {
  const { url } = await startForBrowser()
  const answers = await Promise.all(
    [HTML, '*/*'].map(accept => fetch(`${url}/dashboard/`, { headers: { accept }, redirect: 'manual' })),
  )
  expect(answers.map(({ status }) => status)).toEqual([302, 404])
  expect(answers[0]!.headers.get('location')).toBe('../dashboard')
})

const HTML = 'text/html,application/xhtml+xml,*/*;q=0.8'

browserTest('a browser that asks for an unknown path gets a page with a way on, at any depth', async openPage => {
  const app = await startForBrowser()
  const page = await openPage(app.url, { locale: 'en-GB' })
  for (const path of ['/nowhere', '/dashboard/keys/one/two/']) {
    const response = await page.goto(path)
    expect(response?.status()).toBe(404)
    expect(response?.headers()['content-security-policy']).toContain("script-src 'self'")
    await page.getByRole('heading', { name: 'There is no such page.' }).waitFor()
    expect(await page.getByText(path, { exact: true }).isVisible()).toBe(true)
    expect(await page.getByRole('link', { name: 'Go to the start page' }).getAttribute('href')).toBe(`${app.url}/`)
    expect(await page.getByRole('link', { name: 'Read the handbook' }).getAttribute('href')).toBe(`${app.url}/docs`)
  }
  await expectAccessible(page)
  await shoot(page, 'lost')
  await page.goto(`${app.url}//other.example/`)
  const bare = page.getByRole('link', { name: 'Without the slash at the end' })
  expect(await bare.getAttribute('href')).toBe(`${app.url}//other.example`)
  await page.goto('/till/')
  expect(await bare.getAttribute('href')).toBe(`${app.url}/till`)
  await page.goto('/nowhere')
  await page.getByRole('heading', { name: 'There is no such page.' }).waitFor()
  expect(await bare.count()).toBe(0)
  await page.getByRole('button', { name: 'Deutsch' }).click()
  await page.getByRole('heading', { name: 'Diese Seite gibt es nicht.' }).waitFor()
  await shoot(page, 'lost-german')
  // Chromium reports the 404 itself.
  expect(page.complaints.filter(each => !each.includes('404'))).toEqual([])
})

test('an unknown path stays JSON for programs, for other methods, and under the paths of the API', async () => {
  const app = await startForBrowser()
  for (const [method, path, accept] of [
    ['GET', '/nowhere', '*/*'],
    ['GET', '/nowhere', 'application/json'],
    ['POST', '/nowhere', HTML],
    ['GET', '/v1/nowhere', HTML],
    ['GET', '/wallet/nowhere', HTML],
  ] as const) {
    const { status, body, headers } = await app.call<ErrorBody>(method, path, { headers: { accept } })
    expect([method, path, status, body.error?.code]).toEqual([method, path, 404, 'not_found'])
    expect(headers.get('content-type')).toMatch(/^application\/json/)
  }
  const page = await app.call('GET', '/nowhere', { headers: { accept: HTML } })
  expect([page.status, page.headers.get('content-type'), page.headers.get('cache-control')]).toEqual([
    404,
    'text/html; charset=utf-8',
    'no-store',
  ])
  expect(page.headers.get('x-request-id')).toMatch(/^req_/)
})
