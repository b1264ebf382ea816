// A page of another origin can make a browser send a request with its cookie. Each defence alone stops it.
import { afterAll, describe, expect, test } from 'bun:test'
import { createApp } from '../../src/app.ts'
import { startApp } from '../helpers/app.ts'
import { openBrowser, outcome, PASSWORD, setUpOwner } from '../helpers/dashboard.ts'

const app = await startApp()
await app.tenant()
const browser = await setUpOwner(app)

afterAll(() => app.stop())

/** An empty value means that the header is not sent. */
const FORGED: [string, Record<string, string>, string][] = [
  ['no Origin', { origin: '' }, '403 csrf_refused'],
  ['another Origin', { origin: 'https://evil.example' }, '403 csrf_refused'],
  ['an Origin that ends alike', { origin: 'https://verify.example.evil.example' }, '403 csrf_refused'],
  ['an Origin that begins alike', { origin: 'https://verify.exampl' }, '403 csrf_refused'],
  ['the Origin with another port', { origin: 'https://verify.example:8443' }, '403 csrf_refused'],
  ['the Origin over plain http', { origin: 'http://verify.example' }, '403 csrf_refused'],
  ['an opaque Origin', { origin: 'null' }, '403 csrf_refused'],
  ['Sec-Fetch-Site: cross-site', { 'sec-fetch-site': 'cross-site' }, '403 csrf_refused'],
  ['Sec-Fetch-Site: same-site', { 'sec-fetch-site': 'same-site' }, '403 csrf_refused'],
  ['Sec-Fetch-Site: none', { 'sec-fetch-site': 'none' }, '403 csrf_refused'],
  ['no token', { 'x-csrf-token': '' }, '403 csrf_refused'],
  ['another token', { 'x-csrf-token': 'A'.repeat(43) }, '403 csrf_refused'],
  ['a form', { 'content-type': 'application/x-www-form-urlencoded' }, '400 invalid_request'],
  ['text', { 'content-type': 'text/plain' }, '400 invalid_request'],
  ['no type', { 'content-type': '' }, '400 invalid_request'],
]

describe.each(FORGED)('a change with %s', (_, headers, refused) => {
  test.each(['POST', 'PUT', 'DELETE'])('by %s is refused, and changes nothing', async method => {
    const { data } = (await browser.get<{ data: { id: string; name: string }[] }>('/tenants')).body
    const before = JSON.stringify(data)
    const path = { POST: '/tenants', PUT: `/tenants/${data[0]?.id}`, DELETE: '/sessions' }[method] ?? ''
    const body = method === 'DELETE' ? {} : { name: 'Forged' }
    expect(outcome(await browser.send(method, path, { body, headers }))).toBe(refused)
    expect(JSON.stringify((await browser.get<{ data: unknown }>('/tenants')).body.data)).toBe(before)
  })
})

test('a change with valid headers succeeds, also without Sec-Fetch-Site', async () => {
  expect((await browser.post('/tenants', { name: 'Real' })).status).toBe(201)
  expect((await browser.post('/tenants', { name: 'Older' }, { headers: { 'sec-fetch-site': '' } })).status).toBe(201)
})

test('a log-in from another origin is refused', async () => {
  const body = { name: 'olivia', password: PASSWORD }
  for (const [, headers, refused] of FORGED.filter(([what]) => !what.includes('token'))) {
    const stranger = openBrowser(app)
    expect(outcome(await stranger.post('/login', body, { headers }))).toBe(refused)
    expect(stranger.state.cookie).toBeUndefined()
  }
})

test('the CSRF token of one session is refused for another', async () => {
  const other = openBrowser(app)
  await other.logIn('olivia')
  const headers = { 'x-csrf-token': browser.state.csrf ?? '' }
  expect(outcome(await other.post('/tenants', { name: 'Forged' }, { headers }))).toBe('403 csrf_refused')
})

test('pages of other origins cannot read, by fetch or as an image', async () => {
  for (const site of ['cross-site', 'same-site'])
    expect(outcome(await browser.get('/session', { headers: { 'sec-fetch-site': site } }))).toBe('403 csrf_refused')
  for (const site of ['same-origin', 'none'])
    expect((await browser.get('/session', { headers: { 'sec-fetch-site': site } })).status).toBe(200)
  const answer = await browser.get('/session', { headers: { origin: 'https://evil.example' } })
  expect(answer.headers.get('access-control-allow-origin')).toBeNull()
  expect(answer.headers.get('cross-origin-resource-policy')).toBe('same-origin')
})

test('every route is GET, or POST, PUT or DELETE with a JSON object', () => {
  type Route = { method: string; path: string; hooks: { body?: unknown; detail?: { hide?: boolean } } }
  const routes = (createApp(app.deps).routes as unknown as Route[]).filter(({ path }) => path.startsWith('/dashboard/api'))
  expect(routes.length).toBeGreaterThan(40)
  expect(routes.filter(({ hooks }) => !hooks.detail?.hide)).toEqual([])
  const changing = routes.filter(({ method }) => method !== 'GET')
  expect(new Set(changing.map(({ method }) => method))).toEqual(new Set(['POST', 'PUT', 'DELETE']))
  expect(changing.filter(({ hooks }) => hooks.body === undefined).map(({ path }) => path)).toEqual([])
})

test('an unknown route answers 404 in the error envelope, and a wrong method 405', async () => {
  expect(outcome(await browser.get('/none'))).toBe('404 not_found')
  expect(outcome(await browser.get('/login'))).toBe('405 method_not_allowed')
  expect(outcome(await browser.send('PATCH', '/session'))).toBe('405 method_not_allowed')
})

test('a body that is not an object, too large or too deep gets an error envelope', async () => {
  for (const raw of [
    '[]',
    '"x"',
    'null',
    '',
    '{"name":',
    `{"name":"${'x'.repeat(70_000)}"}`,
    `{"name":${'['.repeat(40)}${']'.repeat(40)}}`,
  ]) {
    const answer = await browser.send('POST', '/tenants', { raw })
    expect([400, 413]).toContain(answer.status)
    expect(answer.body.error.code).toBe('invalid_request')
  }
})
