// The runtime's router compares the paths of the dashboard's routes as sent, like all others.
import { afterAll, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { cleanUp, startApp, type TestApp } from '../helpers/app.ts'

afterAll(cleanUp)

const app = await startApp()

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

test('paths of the dashboard are compared as sent, also with a host name of two letters', async () => {
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
