// Requests as bytes on a socket: a client library would normalise the paths under test.
import { describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { startWithTenant } from '../helpers/app.ts'
import { words } from '../helpers/words.ts'

const { app, key } = await startWithTenant()

function ask(target: string, { method = 'GET', host = 'verify.example' } = {}): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    let text = ''
    const { hostname, port } = new URL(app.url)
    const head = `${method} ${target} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${key}\r\nConnection: close\r\n\r\n`
    const socket = connect(Number(port), hostname, () => socket.write(head))
    socket.on('data', data => {
      text += data
    })
    socket.on('close', () => resolve({ status: Number(text.slice(9, 12)), text }))
    socket.on('error', reject)
  })
}

const ROUTES = words(`
  /metrics /healthz /readyz /openapi.json /docs /docs/start /docs/reference.css /dashboard /dashboard/keys /v/vs_x /till
  /sandbox /sandbox/status-list /v1/usage /v1/verifications
`)

describe('a path is matched only as written', () => {
  test.each(ROUTES)('GET %s is answered, and none of its other spellings', async route => {
    expect([route, (await ask(route)).status]).toEqual([route, 200])
    const [first = '', ...rest] = route.slice(1)
    const encoded = `/%${first.charCodeAt(0).toString(16)}${rest.join('')}`
    const others = [
      `${route}/`,
      `${route}//`,
      `/${route}`,
      `/.${route}`,
      `/%2e${route}`,
      `/a/..${route}`,
      `/a/%2E%2e${route}`,
      `${route}/.`,
      `${route}/%2e`,
      `${route}/a/..`,
      `${route}\\`,
      `/.\\..${route}`,
      encoded,
      `${route}%2f`,
      `${route}%00`,
      `${route}#x`,
    ]
    for (const other of others) {
      const { status, text } = await ask(other)
      expect([other, status]).toEqual([other, 404])
      expect(text).toContain('"code":"not_found"')
    }
  })

  test('/metrics with a matrix parameter is 404', async () => {
    expect((await ask('/metrics;x')).status).toBe(404)
  })

  test.each(['', 'x', 'xy', '[', 'a b', 'x/y', 'x?'])('the Host "%s" does not shorten a path', async host => {
    for (const path of ['/a/metrics', '/aa/metrics', '/aaa/metrics', '/x/metrics', '//x/metrics', '/metrics/']) {
      expect([path, (await ask(path, { host })).status]).toEqual([path, 404])
    }
  })

  test('an id of dots, or with a slash, a backslash or U+0000, is 404', async () => {
    for (const id of ['.', '..', '%2e', '%2E%2E', 'a%2fb', 'a%5cb', 'a\\b', 'a%00', '%00']) {
      for (const path of [`/v/${id}`, `/v1/verifications/${id}`, `/v1/verifications/${id}/status`, `/wallet/request/${id}`]) {
        const { status, text } = await ask(path)
        expect([path, status]).toEqual([path, 404])
        expect(text).toContain('"code":"not_found"')
      }
    }
  })

  test('HEAD is answered like GET', async () => {
    for (const route of ROUTES) expect([route, (await ask(route, { method: 'HEAD' })).status]).toEqual([route, 200])
    expect((await ask('/metrics/', { method: 'HEAD' })).status).toBe(404)
  })

  test('a wrong method is 405 on the exact path, and 404 with a trailing slash', async () => {
    expect((await ask('/metrics', { method: 'POST' })).status).toBe(405)
    expect((await ask('/metrics/', { method: 'POST' })).status).toBe(404)
  })
})

test('U+0000 in a query that a route reads is 400', async () => {
  for (const query of ['before=%00', 'limit=%00', 'limit=1%00']) {
    expect([query, (await ask(`/v1/verifications?${query}`)).status]).toEqual([query, 400])
  }
})
