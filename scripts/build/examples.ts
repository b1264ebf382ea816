#!/usr/bin/env bun
// Records the examples of the API reference from a real run: a service on a throw-away directory, the sandbox wallet, a receiver
// of webhooks. Writes src/handbook/examples.json; test/handbook/examples.test.ts compares them with the document of the API.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Examples } from '../../src/handbook/api.ts'

const ROOT = join(import.meta.dir, '../..')
const PUBLIC = 'https://verify.example'

const dir = mkdtempSync(join(tmpdir(), 'vidimus-examples-'))
const received: unknown[] = []
const receiver = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    received.push(await request.json())
    return new Response(null, { status: 204 })
  },
})
const env = {
  ...process.env,
  PORT: '0',
  VIDIMUS_DATA_DIR: dir,
  VIDIMUS_LOG: 'silent',
  VIDIMUS_EGRESS_ALLOW: `127.0.0.1:${receiver.port}`,
}
const service = Bun.spawn([process.execPath, 'src/main.ts', 'serve', '--dev', '--json'], {
  cwd: ROOT,
  env,
  stdout: 'pipe',
  stderr: 'inherit',
})
const [first = '{}'] = (
  await service.stdout
    .getReader()
    .read()
    .then(({ value }) => new TextDecoder().decode(value))
).split('\n')
const { listening, test_key: key } = JSON.parse(first) as { listening: string; test_key: string }

const examples: Examples = {}

type Options = { request?: unknown; key?: string | null; headers?: Record<string, string> }

/** Calls the service, and keeps what it said under the operation and the situation. */
async function record(operationId: string, title: string, call: string, options: Options = {}): Promise<Record<string, string>> {
  const [method = '', path = ''] = call.split(' ')
  const bearer = options.key === undefined ? key : options.key
  const response = await fetch(`${listening}${path}`, {
    method,
    headers: {
      ...(bearer && { authorization: `Bearer ${bearer}` }),
      ...(options.request !== undefined && { 'content-type': 'application/json' }),
      ...options.headers,
    },
    ...(options.request !== undefined && { body: JSON.stringify(options.request) }),
  })
  const body = (await response.json()) as Record<string, string>
  const own = examples[operationId] ?? {}
  own[title] = { ...(options.request !== undefined && { request: options.request }), status: response.status, body }
  examples[operationId] = own
  return body
}

/** The sandbox wallet answers; returns its output, which has the way back. */
async function answer(walletUri: string, persona: string): Promise<string> {
  const wallet = Bun.spawn([process.execPath, 'scripts/sandbox-wallet.ts', walletUri, '--persona', persona], {
    cwd: ROOT,
    env,
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const output = await new Response(wallet.stdout).text()
  await wallet.exited
  return output
}

const ASK = { template: 'age_over_18', purpose: 'To sell you wine', metadata: { order: '1001' } }
const hook = { webhook_url: `http://127.0.0.1:${receiver.port}/hook` }
const create = async (more: object = {}, token = key): Promise<Record<string, string>> => {
  const response = await fetch(`${listening}/v1/verifications`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...ASK, ...more }),
  })
  return (await response.json()) as Record<string, string>
}

const created = await record('createVerification', 'created', 'POST /v1/verifications', { request: ASK })
await record('getVerificationStatus', 'pending', `GET /v1/verifications/${created.id}/status`, { key: null })
await record('getVerification', 'pending', `GET /v1/verifications/${created.id}`)
await answer(created.wallet_uri ?? '', 'adult')
await record('getVerification', 'completed', `GET /v1/verifications/${created.id}`)
for (const [title, persona] of [
  ['failed, a minor', 'minor'],
  ['failed, expired document', 'expired'],
  ['failed, the holder declined', 'declines'],
] as const) {
  const session = await create()
  await answer(session.wallet_uri ?? '', persona)
  await record('getVerification', title, `GET /v1/verifications/${session.id}`)
}
const identity = await create({ template: 'identity_basic', purpose: 'To open an account for you' })
await answer(identity.wallet_uri ?? '', 'adult')
await record('getVerification', 'completed, name and date of birth', `GET /v1/verifications/${identity.id}`)
const redirected = await create({ redirect_url: 'https://shop.example/done' })
const back = await answer(redirected.wallet_uri ?? '', 'adult')
const code = /response_code=([\w-]+)/.exec(back)?.[1] ?? ''
await record('redeemResponseCode', 'completed', `POST /v1/verifications/${redirected.id}/redeem`, {
  request: { response_code: code },
})
const left = await create()
await record('cancelVerification', 'cancelled', `POST /v1/verifications/${left.id}/cancel`)
for (const [title, persona] of [
  ['verification.completed', 'adult'],
  ['verification.failed', 'minor'],
] as const) {
  const session = await create(hook)
  const before = received.length
  await answer(session.wallet_uri ?? '', persona)
  while (received.length === before) await Bun.sleep(50)
  examples.webhook = { ...examples.webhook, [title]: { status: 204, body: received.at(-1) } }
}
await record('listVerifications', 'two of them', 'GET /v1/verifications?limit=2')
await record('getUsage', 'today', 'GET /v1/usage')
await record('listTemplates', 'all', 'GET /v1/templates')
const shortened = examples.listTemplates?.all?.body as { data: unknown[] }
examples.listTemplates = { 'the first two': { status: 200, body: { data: shortened.data.slice(0, 2) } } }
const till = { name: 'Till 1', allowed_templates: ['age_over_18', 'age_over_18_photo'] }
const registered = await record('registerDevice', 'registered', 'POST /v1/devices', { request: till })
const pair = await record('enrollDevice', 'enrolled', 'POST /v1/devices/enroll', {
  request: { pairing_code: registered.pairing_code },
  key: null,
})
const photographed = await create({ template: 'age_over_18_photo' }, pair.access_token)
await answer(photographed.wallet_uri ?? '', 'adult')
const shown = await record('getComparison', 'a photo', `GET /v1/verifications/${photographed.id}/comparison`, {
  key: pair.access_token,
})
examples.getComparison!['a photo']!.body = { ...shown, portrait: 'data:image/jpeg;base64,/9j/4AAQ…' }
await record('decideComparison', 'the same person', `POST /v1/verifications/${photographed.id}/comparison`, {
  request: { same_person: true },
  key: pair.access_token,
})
await record('refreshDevice', 'refreshed', 'POST /v1/devices/token', {
  request: { refresh_token: pair.refresh_token },
  key: null,
})
const deviceId = (registered.device as unknown as { id: string }).id
await record('changeDevice', 'renamed', `PATCH /v1/devices/${deviceId}`, { request: { name: 'Till at the door' } })
await record('pairDevice', 'a new code', `POST /v1/devices/${deviceId}/pairing`)
await record('listDevices', 'one', 'GET /v1/devices')
await record('revokeDevice', 'revoked', `DELETE /v1/devices/${deviceId}`)
await record('eraseVerification', 'erased', `DELETE /v1/verifications/${identity.id}`)
await record('getHealth', 'alive', 'GET /healthz', { key: null })
await record('getReadiness', 'ready', 'GET /readyz', { key: null })

service.kill()
await service.exited
await receiver.stop(true)
rmSync(dir, { recursive: true })

// The addresses of this run, and of its receiver, are nobody's.
const text = JSON.stringify(examples, null, 2)
  .replaceAll(listening.replace('127.0.0.1', 'localhost'), PUBLIC)
  .replaceAll(encodeURIComponent(listening.replace('127.0.0.1', 'localhost')), encodeURIComponent(PUBLIC))
await Bun.write(join(ROOT, 'src/handbook/examples.json'), `${text}\n`)
console.log(`${Object.values(examples).flatMap(Object.keys).length} examples of ${Object.keys(examples).length} operations`)
