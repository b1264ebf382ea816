import { afterAll, beforeAll, expect, test } from 'bun:test'
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { loadConfig } from '../../src/config.ts'
import { createVerification, startApp, type TestApp, temporaryDir, until } from '../helpers/app.ts'
import { type FaultyProxy, startFaultyProxy, stopProxies } from '../helpers/faulty-proxy.ts'
import { freePort } from '../helpers/free-port.ts'
import { environmentOf, recipeBlock, replaced } from '../helpers/recipe.ts'

const NGINX = Bun.which('nginx') ?? Bun.which('nginx', { PATH: '/usr/sbin:/usr/local/sbin' })
const CADDY = Bun.which('caddy')

let app: TestApp
/** Between nginx and the service, to see what nginx sends. */
let wire: FaultyProxy
let nginx: ReturnType<typeof Bun.spawn> | undefined
let url: string

beforeAll(async () => {
  app = await startApp()
  wire = await startFaultyProxy(app.url)
  if (NGINX) await startNginx(NGINX)
})
afterAll(async () => {
  nginx?.kill()
  await nginx?.exited
  stopProxies()
})

async function startNginx(program: string): Promise<void> {
  const dir = temporaryDir()
  const [key, cert] = [join(dir, 'key.pem'), join(dir, 'cert.pem')]
  const made = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-subj', '/CN=verify.example']
  execFileSync('openssl', [...made, '-keyout', key, '-out', cert], { stdio: 'ignore' })
  const port = await freePort()
  let block = replaced(recipeBlock('reverse-proxy.md', 'nginx'), 'listen 443 ssl', `listen 127.0.0.1:${port} ssl`)
  block = replaced(block, '127.0.0.1:3000', new URL(wire.url).host)
  block = replaced(block, '/etc/letsencrypt/live/verify.example/fullchain.pem', cert)
  block = replaced(block, '/etc/letsencrypt/live/verify.example/privkey.pem', key)
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(name => `${name}_temp_path ${dir}/${name};`)
  const file = join(dir, 'nginx.conf')
  // Started by root it would work as somebody else, who cannot write here.
  const user = process.getuid?.() === 0 ? 'user root;' : ''
  writeFileSync(
    file,
    `${user} daemon off; worker_processes 1; pid ${dir}/pid; error_log ${dir}/error.log; events {}\nhttp { ${temporary.join(' ')}\n${block}\n}`,
  )
  nginx = Bun.spawn([program, '-c', file, '-p', dir, '-e', join(dir, 'error.log')], { stdout: 'ignore', stderr: 'inherit' })
  url = `https://127.0.0.1:${port}`
  await until(async () =>
    ask('/healthz').then(
      ({ ok }) => ok,
      () => false,
    ),
  )
}

const ask = (path: string, init: RequestInit = {}): Promise<Response> =>
  fetch(`${url}${path}`, { ...init, tls: { rejectUnauthorized: false } } as RequestInit)

function nginxTest(title: string, check: () => Promise<void>): void {
  test.skipIf(!NGINX)(NGINX ? `nginx: ${title}` : `SKIPPED, as there is no nginx here: ${title}`, check)
}

test('the environment is one that the service starts with', () => {
  const config = loadConfig(environmentOf(recipeBlock('reverse-proxy.md', 'proxy environment')))
  expect(config.publicUrl).toBe('https://verify.example')
  expect(config.trustedProxies).toHaveLength(2)
})

nginxTest('a caller cannot claim an address: the service hears of the one that nginx saw', async () => {
  await ask('/v1/usage', { headers: { 'x-forwarded-for': '203.0.113.9' } })
  const seen = wire.seen.findLast(({ path }) => path === '/v1/usage')
  expect([seen?.headers['x-forwarded-for'], seen?.headers.host]).toEqual(['127.0.0.1', '127.0.0.1'])
})

nginxTest('a session is made, and its events come while it is still pending', async () => {
  const { key } = await app.tenant()
  const made = await ask('/v1/verifications', {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: '{"template":"age_over_18"}',
  })
  expect(made.status).toBe(201)
  const { id } = await createVerification(app, key)
  const stream = await ask(`/v1/verifications/${id}/events`)
  const reader = stream.body!.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  while (!text.includes('"pending"')) text += (await reader.read()).value
  await reader.cancel()
})

nginxTest("a body of more than nginx's usual limit is for the service to judge", async () => {
  const answer = await ask('/wallet/response/vs_none', {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: `response=${'x'.repeat(1024 * 1024 + 100_000)}`,
  })
  expect(answer.headers.get('x-request-id')).toStartWith('req_')
  expect(answer.status).toBeOneOf([404, 413])
})

nginxTest('no spelling of /metrics, with any Host, reaches the figures', async () => {
  expect((await fetch(`${app.url}/metrics`)).status).toBe(200)
  for (const host of ['verify.example', 'x']) {
    for (const target of SPELLINGS) {
      const answer = await askRaw(target, host)
      expect([host, target, answer.slice(9, 12)]).toEqual([host, target, expect.stringMatching(/^(400|404)$/)])
      expect(answer).not.toContain('vidimus_build_info')
    }
  }
})

const SPELLINGS = [
  '/metrics',
  '/metrics/',
  '/metrics//',
  '//metrics',
  '/./metrics',
  '/a/../metrics',
  '/a/%2e%2e/metrics',
  '/%6detrics',
  '/metrics;x',
  '/metrics%2f',
  '/metrics%00',
  '/metrics\\',
  '/metrics/.',
  '/aa/metrics',
  '/metrics?x',
  '/metrics%3f',
]

/** A client library would tidy up the path. */
const askRaw = (target: string, host: string): Promise<string> =>
  new Promise((resolve, reject) => {
    let answer = ''
    const { hostname, port } = new URL(url)
    const head = `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`
    const socket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false }, () => socket.write(head))
    socket.on('data', data => {
      answer += data
    })
    socket.on('close', () => resolve(answer))
    socket.on('error', reject)
  })

test.skipIf(!CADDY)(
  CADDY ? 'caddy: the file is understood' : 'SKIPPED, as there is no caddy here: the file is understood',
  () => {
    const file = join(temporaryDir(), 'Caddyfile')
    writeFileSync(file, recipeBlock('reverse-proxy.md', 'caddy'))
    execFileSync(CADDY ?? '', ['adapt', '--config', file, '--adapter', 'caddyfile'], { stdio: 'pipe' })
  },
)
