// The Host header as bytes on a socket, over http and https: a client library would send one that is well-formed.
import { afterAll, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import { issueAuthority, issueLeaf } from '../../src/signing/authority.ts'
import { cleanUp, startApp, type TestApp, temporaryDir } from '../helpers/app.ts'

afterAll(cleanUp)

const plain = await startApp()
const secure = await startApp({ config: { tls: await certificateIn(temporaryDir()) } })

async function certificateIn(folder: string): Promise<{ certFile: string; keyFile: string }> {
  const [at, random] = [Date.now(), (count: number) => crypto.getRandomValues(new Uint8Array(count))]
  const authority = await issueAuthority({ name: 'Test', at, random })
  const leaf = await issueLeaf({ authority, name: 'localhost', hosts: ['localhost'], days: 1, forServers: true, at, random })
  const files = { certFile: join(folder, 'c.pem'), keyFile: join(folder, 'k.pem') }
  writeFileSync(files.certFile, leaf.chain)
  writeFileSync(files.keyFile, leaf.privateKey.export({ format: 'pem', type: 'pkcs8' }))
  return files
}

const open = (app: TestApp): Socket => {
  const port = Number(new URL(app.url).port)
  return app === plain ? connect(port, '127.0.0.1') : connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false })
}

function ask(app: TestApp, start: string, lines: string[]): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    let text = ''
    const socket = open(app)
    socket.on('data', data => {
      text += data
    })
    socket.on('close', () => resolve({ status: Number(text.slice(9, 12)), text }))
    socket.on('error', reject)
    socket.write(`${[start, ...lines, 'Connection: close'].join('\r\n')}\r\n\r\n`)
  })
}

describe.each([
  ['http', plain],
  ['https', secure],
])('Host over %s', (_, app) => {
  test.each([
    ['two names', ['Host: verify.example', 'Host: evil.example']],
    ['the same name twice', ['Host: verify.example', 'Host: verify.example']],
    ['two names in other cases, with a header between', ['Host: verify.example', 'X-A: 1', 'hOST: evil.example']],
    ['an empty second one', ['Host: verify.example', 'Host:']],
    ['an empty first one', ['Host:', 'Host: evil.example']],
    ['one with two names', ['Host: verify.example, evil.example']],
    ['one with two names and no space', ['Host: verify.example,evil.example']],
  ])('a request with %s as Host is 400, at every kind of route', async (_, lines) => {
    for (const start of [
      'GET /healthz',
      'GET /v1/verifications',
      'GET /dashboard',
      'GET /dashboard/api/entrance',
      'GET /docs',
      'POST /wallet/response/vs_x',
      'GET /nowhere',
      'DELETE /healthz',
    ]) {
      const { status, text } = await ask(app, `${start} HTTP/1.1`, lines)
      expect([start, status, text.includes('"code":"invalid_request"')]).toEqual([start, 400, true])
      expect(text).toContain('Host: is repeated, or names several hosts; send one')
    }
  })

  test('a request with a target in absolute form is refused with two Hosts as well', async () => {
    const lines = ['Host: verify.example', 'Host: evil.example']
    expect((await ask(app, 'GET http://evil.example/healthz HTTP/1.1', lines)).status).toBe(400)
  })

  test('a target in absolute form, and a Host of another name, are answered: nothing is taken from either', async () => {
    for (const [start, host] of [
      ['GET http://evil.example/healthz HTTP/1.1', 'verify.example'],
      ['GET https://verify.example/healthz HTTP/1.1', 'verify.example'],
      ['GET /healthz HTTP/1.1', 'evil.example'],
      ['GET /healthz HTTP/1.1', 'verify.example:8443'],
    ] as const)
      expect([start, host, (await ask(app, start, [`Host: ${host}`])).status]).toEqual([start, host, 200])
    const { text } = await ask(app, 'GET http://evil.example/openapi.json HTTP/1.1', ['Host: evil.example'])
    expect(text).not.toContain('evil.example')
  })

  test('a request of HTTP/1.1 without a Host is 400, one of HTTP/1.0 is answered', async () => {
    expect((await ask(app, 'GET /healthz HTTP/1.1', [])).status).toBe(400)
    expect((await ask(app, 'GET /healthz HTTP/1.0', [])).status).toBe(200)
  })
})
