import { expect, test } from 'bun:test'
import { networkInterfaces } from 'node:os'
import { parseNetworks } from '../../src/egress/addresses.ts'
import { type ErrorBody, startApp } from '../helpers/app.ts'
import { FORWARDING_HEADERS } from '../helpers/forwarding-headers.ts'

const TOKEN = 'a-token-for-metrics-0123456789'
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

const OWN_ADDRESS = Object.values(networkInterfaces())
  .flat()
  .find(each => each?.family === 'IPv4' && !each.internal)?.address

test('GET /metrics answers a client on loopback, with and without a configured token', async () => {
  for (const metricsToken of [undefined, TOKEN]) {
    const app = await startApp({ config: { metricsToken } })
    expect((await app.call('GET', '/metrics')).text).toContain('vidimus_build_info')
  }
})

test('GET /metrics with any forwarding header is 401 with a hint', async () => {
  for (const trustedProxies of [[], parseNetworks('127.0.0.1')]) {
    const app = await startApp({ config: { metricsToken: TOKEN, trustedProxies } })
    for (const name of FORWARDING_HEADERS) {
      for (const value of ['127.0.0.1', '203.0.113.7', '::1', 'for=127.0.0.1', '1.1 proxy', '']) {
        const { status, body, headers } = await app.call<ErrorBody>('GET', '/metrics', { headers: { [name]: value } })
        expect([name, value, status, body.error?.code]).toEqual([name, value, 401, 'metrics_token_required'])
        expect(body.error.message).toContain('VIDIMUS_METRICS_TOKEN')
        expect(headers.get('www-authenticate')).toBe('Bearer')
      }
    }
  }
})

test('GET /metrics through a proxy accepts the token, and nothing similar', async () => {
  const app = await startApp({ config: { metricsToken: TOKEN } })
  const statusWith = async (headers: Record<string, string>) =>
    (await app.call('GET', '/metrics', { headers: { via: '1.1 proxy', ...headers } })).status
  expect(await statusWith(bearer(TOKEN))).toBe(200)
  for (const wrong of [`${TOKEN}x`, TOKEN.slice(0, -1), TOKEN.toUpperCase(), 'undefined', '']) {
    expect([wrong, await statusWith(bearer(wrong))]).toEqual([wrong, 401])
  }
  expect(await statusWith({ authorization: TOKEN })).toBe(401)
  expect(await statusWith({ authorization: `Basic ${btoa(`:${TOKEN}`)}` })).toBe(401)
})

test('GET /metrics through a proxy is 401 for every token while none is configured', async () => {
  const app = await startApp()
  for (const token of ['undefined', 'null', TOKEN]) {
    expect((await app.call('GET', '/metrics', { headers: { via: '1.1 proxy', ...bearer(token) } })).status).toBe(401)
  }
})

test.skipIf(!OWN_ADDRESS)(
  OWN_ADDRESS
    ? 'GET /metrics from an address that is not loopback needs the token'
    : 'SKIPPED, as there is no other address than loopback: GET /metrics from elsewhere',
  async () => {
    const app = await startApp({ config: { host: '0.0.0.0', metricsToken: TOKEN } })
    const url = `http://${OWN_ADDRESS}:${new URL(app.url).port}/metrics`
    expect((await fetch(url)).status).toBe(401)
    expect((await fetch(url, { headers: bearer(TOKEN) })).status).toBe(200)
  },
)

test('guesses of the metrics token are limited like guesses of keys', async () => {
  const app = await startApp({ rateLimitScale: 1, config: { metricsToken: TOKEN } })
  const guess = async () => (await app.call('GET', '/metrics', { headers: { via: '1.1 proxy', ...bearer('wrong') } })).status
  for (let i = 0; i < 30; i++) expect(await guess()).toBe(401)
  expect(await guess()).toBe(429)
})
