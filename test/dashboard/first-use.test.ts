// Routes of the dashboard's pages are made with their first request, by http/on-first-use.ts.
import { afterAll, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { Elysia } from 'elysia'
import { createApp } from '../../src/app.ts'
import { onFirstUse } from '../../src/http/on-first-use.ts'
import { cleanUp, startApp, type TestApp } from '../helpers/app.ts'

afterAll(cleanUp)

const app = await startApp()

test('a start makes none of them', () => {
  const paths = createApp(app.deps).routes.map(({ path }) => path)
  expect(paths.filter(path => path.startsWith('/dashboard/api'))).toEqual([])
})

test('each of many first requests at once gets its own answer', async () => {
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, i) => app.call('GET', `/dashboard/api/${i % 2 === 0 ? 'session' : `none-${i}`}`)),
  )
  expect(answers.map(({ status }) => status)).toEqual(answers.map((_, i) => (i % 2 === 0 ? 401 : 404)))
  const ids = new Set(answers.map(({ headers }) => headers.get('x-request-id')))
  expect(ids.size).toBe(answers.length)
})

test('a failed making is not kept: the next request makes them', async () => {
  let attempts = 0
  const make = async () => {
    attempts += 1
    if (attempts === 1) throw new Error('not this time')
    return new Elysia().get('/part/:id', ({ params }) => `parameter ${params.id}`).get('/part/new', 'exact')
  }
  const server = Bun.serve({
    port: 0,
    development: false,
    error,
    routes: onFirstUse({ prefix: '/part', make }),
  })
  using _ = server
  const get = async (path: string) => await (await fetch(new URL(path, server.url))).text()
  expect(await get('/part/one')).toBe('failed: not this time')
  expect(await get('/part/one')).toBe('parameter one')
  expect(await get('/part/new')).toBe('exact')
})

const error = ({ message }: Error) => new Response(`failed: ${message}`, { status: 500 })

const ANSWERS = {
  'GET /dashboard/api/session': 401,
  'HEAD /dashboard/api/session': 401,
  'OPTIONS /dashboard/api/session': 405,
  'PUT /dashboard/api/session': 405,
  'DELETE /dashboard/api/session': 405,
  'GET /dashboard/api/login': 405,
  'GET /dashboard/api/': 404,
  'GET /dashboard/api/session/': 404,
  'GET /dashboard/api//session': 404,
  'GET /dashboard/api/./session': 404,
  'GET /dashboard/api/x/../session': 404,
  'GET /dashboard/api/%73ession': 404,
  'GET /dashboard/api/Session': 404,
  'GET /dashboard/api/tenants/ten_x/keys': 401,
  'GET /dashboard/api/tenants/a%2Fb/keys': 404,
  'GET /dashboard/api/tenants/%2e%2e/keys': 404,
  'GET /dashboard/api/tenants/ten_x/keys/1/2/3/4/5/6/7/8/9': 404,
  'DELETE /dashboard/api/tenants/ten_x/keys': 405,
  'GET /dashboard/api/../../healthz': 404,
  'GET /x/../dashboard/api/session': 404,
}

test('their paths are compared as sent, also with a host name of two letters', async () => {
  const answers = await Promise.all(
    Object.keys(ANSWERS).map(async request => [request, Number((await sent(app, request)).split(' ')[1])]),
  )
  expect(Object.fromEntries(answers)).toEqual(ANSWERS)
})

/** The first line of the answer to a request line that no client changes. */
function sent({ url }: TestApp, request: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1' })
  socket.on('data', data => resolve(String(data).split('\r\n', 1)[0]!)).on('error', reject)
  socket.end(`${request} HTTP/1.1\r\nHost: pi\r\nConnection: close\r\n\r\n`)
  return promise
}
