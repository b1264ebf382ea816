import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { createExtraCa } from '../../src/egress/authorities.ts'
import { callAt, callOut, type EgressCall } from '../../src/egress/client.ts'
import type { EgressPolicy } from '../../src/egress/policy.ts'
import { temporaryDir } from '../helpers/app.ts'
import { words } from '../helpers/words.ts'

let server: ReturnType<typeof Bun.serve>
let seen: { host: string | null; method: string; path: string; body: string; encoding: string | null }[]

beforeAll(() => {
  seen = []
  server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { pathname } = new URL(request.url)
      seen.push({
        host: request.headers.get('host'),
        method: request.method,
        path: pathname,
        body: await request.text(),
        encoding: request.headers.get('accept-encoding'),
      })
      if (pathname === '/redirect') return Response.redirect(`http://127.0.0.1:${server.port}/elsewhere`, 302)
      if (pathname === '/large') return new Response('x'.repeat(1_000_000))
      if (pathname === '/hang') return await new Promise<Response>(() => {})
      return new Response('hello', { status: 202, headers: { 'x-answer': 'yes' } })
    },
  })
})
afterAll(() => void server.stop(true))

/** Loopback is open to this one port, as an operator may do it. */
const policy = (port: number): EgressPolicy => ({
  allow: [{ address: '127.0.0.1', prefix: 32, port }],
  listener: { addresses: [], port: 1 },
})
const here = async () => ['127.0.0.1']

const limits = { resolveMs: 5000, connectMs: 5000, totalMs: 15_000, answerBytes: 4096 }
const call = (url: string, changes: Partial<EgressCall> = {}): EgressCall => ({
  url,
  method: 'GET',
  headers: {},
  limits,
  onLargeAnswer: 'cut',
  ...changes,
})
const out = (path: string, changes?: Partial<EgressCall>, resolve = here) =>
  callOut(policy(server.port ?? 0), resolve, call(`http://hooks.shop.example:${server.port}${path}`, changes))

test('a call connects to the resolved address with the Host of the URL, and returns status, headers and body', async () => {
  const answer = await out('/in?a=b', { method: 'POST', body: '{"ä":1}', headers: { 'content-type': 'application/json' } })
  expect(answer).toMatchObject({ ok: true, address: '127.0.0.1', status: 202, headers: { 'x-answer': 'yes' } })
  expect(answer.ok && Buffer.from(answer.body).toString()).toBe('hello')
  expect(seen.at(-1)).toEqual({
    host: `hooks.shop.example:${server.port}`,
    method: 'POST',
    path: '/in',
    body: '{"ä":1}',
    encoding: 'identity',
  })
})

test('a call resolves its name once', async () => {
  let asked = 0
  const answers = [['127.0.0.1'], ['169.254.169.254']]
  await out('/in', {}, async () => answers[asked++] ?? [])
  expect(asked).toBe(1)
})

test('a call tries the next address when none listens at one, and no more than three', async () => {
  const allow = ['127.0.0.1', '127.0.0.2', '127.0.0.3', '127.0.0.4'].map(address => ({
    address,
    prefix: 32,
    port: server.port ?? 0,
  }))
  const to = (...addresses: string[]) =>
    callOut({ ...policy(0), allow }, async () => addresses, call(`http://hooks.shop.example:${server.port}/next`))
  expect(await to('127.0.0.2', '127.0.0.3', '127.0.0.1')).toMatchObject({ ok: true, address: '127.0.0.1' })
  expect(await to('127.0.0.2', '127.0.0.3', '127.0.0.4', '127.0.0.1')).toMatchObject({ ok: false, failure: 'connection_failed' })
})

test('a call with a body larger than the buffers of a connection arrives whole', async () => {
  const body = 'ä'.repeat(5_000_000)
  expect(await out('/large-call', { method: 'POST', body, limits: { ...limits, totalMs: 30_000 } })).toMatchObject({
    status: 202,
  })
  expect(seen.pop()?.body === body).toBe(true)
})

test('a call with a header that would begin another line is not made', async () => {
  const before = seen.length
  await expect(out('/in', { headers: { 'x-a': 'b\r\nx-c: d' } })).rejects.toThrow(TypeError)
  expect(seen).toHaveLength(before)
})

test('a redirect is returned and not followed', async () => {
  const before = seen.length
  expect(await out('/redirect')).toMatchObject({ ok: true, status: 302 })
  expect(seen.slice(before).map(({ path }) => path)).toEqual(['/redirect'])
})

test('a proxy in the environment is ignored', async () => {
  let proxied = 0
  const proxy = await listening(socket => {
    proxied += 1
    socket.destroy()
  })
  const names = ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'https_proxy', 'ALL_PROXY', 'all_proxy']
  const env = { ...Object.fromEntries(names.map(name => [name, `http://127.0.0.1:${portOf(proxy)}`])), NODE_USE_ENV_PROXY: '1' }
  await withEnvironment(env, async () => {
    expect(await out('/in')).toMatchObject({ ok: true, status: 202 })
    expect(await callOut(policy(server.port ?? 0), here, call(`https://hooks.shop.example:${server.port}/`))).toMatchObject({
      ok: false,
    })
  })
  expect(proxied).toBe(0)
  proxy.close()
})

test('a large answer is cut at its limit or is a failure, as the caller chose', async () => {
  const cut = await out('/large')
  expect(cut.ok && cut.body.length).toBe(4096)
  expect(await out('/large', { onLargeAnswer: 'fail' })).toMatchObject({ ok: false, failure: 'too_large' })
})

describe('failures, each by its name', () => {
  test('an answer that never arrives is a timeout', async () => {
    expect(await out('/hang', { limits: { ...limits, totalMs: 200 } })).toMatchObject({ ok: false, failure: 'timeout' })
  })

  test('a name that does not resolve, or not in time, is dns_failed', async () => {
    expect(await out('/in', {}, () => Promise.reject(new Error('NXDOMAIN')))).toMatchObject({ ok: false, failure: 'dns_failed' })
    const never = () => new Promise<string[]>(() => {})
    expect(await out('/in', { limits: { ...limits, resolveMs: 50 } }, never)).toMatchObject({ ok: false, failure: 'dns_failed' })
  })

  test('an address that must not be called is never connected to', async () => {
    const before = seen.length
    for (const addresses of [['10.0.0.1'], ['127.0.0.1', '10.0.0.1'], ['::1']]) {
      expect(await out('/in', {}, async () => addresses)).toMatchObject({ ok: false, failure: 'refused_address' })
    }
    const closed = { allow: [], listener: { addresses: [], port: 1 } }
    expect(await callOut(closed, here, call(`http://hooks.shop.example:${server.port}/in`))).toMatchObject({
      ok: false,
      failure: 'refused_address',
    })
    expect(seen).toHaveLength(before)
  })

  test('a closed port and a reset connection are connection_failed', async () => {
    const dropper = await listening(socket => socket.destroy())
    expect(await to(dropper)).toMatchObject({ ok: false, failure: 'connection_failed' })
    await new Promise(resolve => dropper.close(resolve))
    expect(await to(dropper, portOf(dropper))).toMatchObject({ ok: false, failure: 'connection_failed' })
    for (const [address, url] of [
      ['', `http://hooks.shop.example:${server.port}/`],
      ['127.0.0.1', 'http://hooks.shop.example:0/'],
    ] as const)
      expect(await callAt(address, call(url))).toMatchObject({ ok: false, failure: 'connection_failed' })
  })

  test('an answer that trickles is cut when the whole has taken too long', async () => {
    const trickler = await listening(socket => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n')
      const timer = setInterval(() => socket.write('x'), 20)
      socket.on('close', () => clearInterval(timer))
      socket.on('error', () => clearInterval(timer))
    })
    expect(await to(trickler, undefined, { totalMs: 300 })).toMatchObject({ ok: false, failure: 'timeout' })
    trickler.close()
  })

  test('an untrusted certificate is tls_failed, and so is a server without TLS', async () => {
    expect(await callAt('127.0.0.1', call(`https://hooks.shop.example:${server.port}/`))).toMatchObject({
      ok: false,
      failure: 'tls_failed',
    })
    const tls = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      tls: certificate(),
      fetch: () => new Response('secret'),
    })
    const out = () => callOut(policy(tls.port ?? 0), here, call(`https://hooks.shop.example:${tls.port}/in`))
    expect(await out()).toMatchObject({ ok: false, failure: 'tls_failed' })
    await withEnvironment({ NODE_TLS_REJECT_UNAUTHORIZED: '0' }, async () => {
      expect(await out()).toMatchObject({ ok: false, failure: 'tls_failed' })
    })
    tls.stop(true)
  })
})

async function withEnvironment(changes: Record<string, string>, act: () => Promise<void>): Promise<void> {
  const before = Object.fromEntries(Object.keys(changes).map(name => [name, process.env[name]]))
  Object.assign(process.env, changes)
  try {
    await act()
  } finally {
    for (const [name, value] of Object.entries(before)) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
  }
}

const listening = (onConnection: (socket: Socket) => void) =>
  new Promise<Server>(resolve => {
    const made = createServer(onConnection)
    made.listen(0, '127.0.0.1', () => {
      ports.set(made, (made.address() as { port: number }).port)
      resolve(made)
    })
  })
const ports = new WeakMap<Server, number>()
const portOf = (made: Server) => ports.get(made) ?? 0
const to = (made: Server, port = portOf(made), changes: Partial<typeof limits> = {}) =>
  callOut(policy(port), here, call(`http://hooks.shop.example:${port}/`, { limits: { ...limits, ...changes } }))

test('a call that may not be sent once it is connected is interrupted, and the receiver gets nothing', async () => {
  const before = seen.length
  const url = `http://hooks.shop.example:${server.port}/late`
  for (const maySend of [() => false, async () => false])
    expect(await callAt('127.0.0.1', call(url), { maySend })).toMatchObject({ ok: false, failure: 'interrupted' })
  const unknown = () => Promise.reject(new Error('lost'))
  expect(await callAt('127.0.0.1', call(url), { maySend: unknown })).toMatchObject({ ok: false, failure: 'connection_failed' })
  expect(await callAt('127.0.0.1', call(url), { maySend: async () => true })).toMatchObject({ ok: true })
  expect(seen.slice(before).map(({ path }) => path)).toEqual(['/late'])
})

/** For hooks.shop.example, signed by itself. */
function certificate(): { key: string; cert: string } {
  const dir = temporaryDir()
  const [key, cert] = [join(dir, 'key.pem'), join(dir, 'cert.pem')]
  const made = words(
    'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=x -addext subjectAltName=DNS:hooks.shop.example',
  )
  execFileSync('openssl', [...made, '-keyout', key, '-out', cert], { stdio: 'ignore' })
  return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') }
}

test('a call sends nothing while it waits for its permission, with and without TLS', async () => {
  let received = 0
  const count = (bytes: number) => {
    received += bytes
  }
  const plain = await listening(socket => socket.on('data', ({ length }) => count(length)))
  const made = certificate()
  const answering = () => {
    count(1)
    return new Response()
  }
  const tls = Bun.serve({ port: 0, hostname: '127.0.0.1', tls: made, fetch: answering })
  const maySend = async () => {
    for (let turn = 0; turn < 100; turn++) await new Promise(resolve => setImmediate(resolve))
    return false
  }
  const extraCa = createExtraCa(made.cert)
  for (const url of [`http://hooks.shop.example:${portOf(plain)}/`, `https://hooks.shop.example:${tls.port}/`])
    expect(await callAt('127.0.0.1', call(url), { extraCa, maySend })).toMatchObject({ ok: false, failure: 'interrupted' })
  expect(await callAt('127.0.0.1', call(`https://hooks.shop.example:${tls.port}/`), { extraCa })).toMatchObject({ ok: true })
  expect(received).toBe(1)
  // What comes first is no answer.
  const hasty = await listening(socket => socket.write('HTTP/1.1 204 No Content\r\n\r\n'))
  const never = () => new Promise<boolean>(() => {})
  const url = `http://hooks.shop.example:${portOf(hasty)}/`
  expect(await callAt('127.0.0.1', call(url), { maySend: never })).toMatchObject({ ok: false, failure: 'connection_failed' })
  hasty.close()
  plain.close()
  tls.stop(true)
})
