// The webhook commands beside a running server, with results from the sandbox wallet.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { verifyWebhook } from '../../src/sdk/webhook.ts'
import type { Verification } from '../../src/verifications/schema.ts'
import type { Delivery } from '../../src/webhooks/schema.ts'
import { call, temporaryDir, until } from '../helpers/app.ts'
import { type Served, serve, stopServing } from '../helpers/cli.ts'
import { vidimus, vidimusJson } from '../helpers/command.ts'
import { databaseOf } from '../helpers/database.ts'
import { receive, stopReceiving } from '../helpers/receiver.ts'
import { runOf } from '../helpers/run.ts'

afterAll(async () => {
  await stopServing()
  stopReceiving()
})

type Secret = { webhook_secret: string; previous_valid_until: string | null }

const receiver = receive(() => new Response('busy', { status: 500 }))
let dir: string
let server: Served
let tenant: string
let key: string

beforeAll(async () => {
  dir = join(temporaryDir(), 'data')
  server = await serve(dir, [], { VIDIMUS_EGRESS_ALLOW: `127.0.0.1:${receiver.port}`, VIDIMUS_WEBHOOK_DELAYS: '0s' })
  tenant = (await vidimusJson<{ id: string }>(dir, 'tenant', 'create', '--name', 'Shop')).id
  key = (await vidimusJson<{ key: string }>(dir, 'key', 'create', '--tenant', tenant, '--env', 'test')).key
})

/** Creates a verification, and answers it with the sandbox wallet as a process of its own. */
async function verify(body: object = {}): Promise<string> {
  const created = await call<Verification>(server.url, 'POST', '/v1/verifications', {
    key,
    body: { template: 'age_over_18', ...body },
  })
  expect(created.status).toBe(201)
  expect((await answerWith(created.body.wallet_uri ?? '')).exitCode).toBe(0)
  return created.body.id
}

async function answerWith(walletUri: string, { persona = 'adult', from = dir } = {}) {
  const { PATH = '', HOME = '' } = process.env
  const script = resolve(import.meta.dir, '../../scripts/sandbox-wallet.ts')
  const child = Bun.spawn([process.execPath, script, walletUri, '--persona', persona], {
    env: { PATH, HOME, VIDIMUS_DATA_DIR: from, ...(await databaseOf(from)) },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  return await runOf(child)
}

describe('the sandbox wallet', () => {
  const create = async () =>
    (await call<Verification>(server.url, 'POST', '/v1/verifications', { key, body: { template: 'age_over_18' } })).body

  test('prints the answer of the service and the new status of the verification', async () => {
    const session = await create()
    const { exitCode, stdout } = await answerWith(session.wallet_uri ?? '')
    expect([exitCode, stdout]).toEqual([
      0,
      expect.stringMatching(/the service answered 200 .*\nThe verification is completed now\.\n$/),
    ])
    const minor = await answerWith((await create()).wallet_uri ?? '', { persona: 'minor' })
    expect(minor.stdout).toMatch(/The verification is failed.* now\.\n$/)
  })

  test('refuses in one line without data, service or wallet_uri, and for an answered session', async () => {
    const session = await create()
    const uri = session.wallet_uri ?? ''
    const elsewhere = join(temporaryDir(), 'data')
    const nobody = uri.replace(
      encodeURIComponent(server.url.replace('127.0.0.1', 'localhost')),
      encodeURIComponent('http://localhost:1'),
    )
    expect(nobody).not.toBe(uri)
    const runs = [await answerWith(uri, { from: elsewhere }), await answerWith(nobody), await answerWith('age_over_18')]
    expect(existsSync(elsewhere)).toBe(false)
    await answerWith(uri)
    runs.push(await answerWith(uri))
    const says = [
      /there is no database in|the database of VIDIMUS_DATABASE_URL is empty/,
      /nobody answers at http:\/\/localhost:1/,
      /is no wallet_uri/,
      /the service answered 4\d\d: session_/,
    ]
    for (const [i, run] of runs.entries()) {
      expect(run).toEqual({ exitCode: 1, stdout: '', stderr: expect.stringMatching(/^sandbox-wallet: [^\n]+\n$/) })
      expect(run.stderr).toMatch(says[i]!)
    }
  })
})

const listDeliveries = async (...flags: string[]) =>
  (await vidimusJson<{ data: Delivery[] }>(dir, 'deliveries', 'list', '--tenant', tenant, ...flags)).data

describe('webhook-secret', () => {
  test('show prints the secret; rotate prints a new one, and until when the old one signs', async () => {
    const before = await vidimusJson<Secret>(dir, 'webhook-secret', 'show', '--tenant', tenant)
    expect(before.webhook_secret).toMatch(/^whsec_[A-Za-z0-9+/]{40}$/)
    expect(before.previous_valid_until).toBeNull()
    const rotated = await vidimusJson<Secret>(dir, 'webhook-secret', 'rotate', '--tenant', tenant)
    expect(rotated.webhook_secret).not.toBe(before.webhook_secret)
    const hours = (Date.parse(rotated.previous_valid_until ?? '') - Date.now()) / 3_600_000
    expect(hours).toBeGreaterThan(23.9)
    expect(hours).toBeLessThan(24.1)
    expect(await vidimusJson<Secret>(dir, 'webhook-secret', 'show', '--tenant', tenant)).toEqual(rotated)
  })

  test('--env live shows, rotates and drops the live secret, and leaves that of test alone', async () => {
    const secret = (act: string, env: string) => vidimusJson<Secret>(dir, 'webhook-secret', act, '--tenant', tenant, '--env', env)
    const [test, live] = [await secret('show', 'test'), await secret('show', 'live')]
    expect(test).toEqual(await vidimusJson<Secret>(dir, 'webhook-secret', 'show', '--tenant', tenant))
    expect(live.webhook_secret).not.toBe(test.webhook_secret)
    const rotated = await secret('rotate', 'live')
    expect(await secret('show', 'live')).toEqual(rotated)
    expect(await secret('show', 'test')).toEqual(test)
    await secret('drop-previous', 'live')
    expect(await secret('show', 'live')).toEqual({ ...rotated, previous_valid_until: null })
    expect((await vidimus(dir, ['webhook-secret', 'show', '--tenant', tenant, '--env', 'both'])).exitCode).toBe(2)
  })

  test('drop-previous ends the old secret at once, and says so when there is none', async () => {
    const { webhook_secret } = await vidimusJson<Secret>(dir, 'webhook-secret', 'rotate', '--tenant', tenant)
    const dropped = await vidimusJson<Secret>(dir, 'webhook-secret', 'drop-previous', '--tenant', tenant)
    expect(dropped).toEqual({ webhook_secret, previous_valid_until: null })
    const again = await vidimus(dir, ['webhook-secret', 'drop-previous', '--tenant', tenant])
    expect(again).toMatchObject({ exitCode: 1, stdout: '' })
    expect(again.stderr).toContain('only the current one signs')
  })
})

describe('deliveries', () => {
  test('list shows each attempt with the answer of the receiver; replay sends it again under the same id', async () => {
    const id = await verify({ webhook_url: receiver.url('/orders', '127.0.0.1') })
    await until(async () => (await listDeliveries('--status', 'failed')).some(each => each.verification_id === id))
    const [failed] = await listDeliveries()
    expect(failed).toMatchObject({ verification_id: id, type: 'verification.completed', status: 'failed', next_attempt_at: null })
    expect(failed?.attempts).toEqual([
      {
        attempt: 1,
        at: expect.any(String),
        outcome: 'http_status',
        http_status: 500,
        ms: expect.any(Number),
        address: '127.0.0.1',
        answer: 'busy',
        detail: null,
      },
    ])
    const { stdout } = await vidimus(dir, ['deliveries', 'list', '--tenant', tenant])
    expect(stdout).toMatch(
      /^ID +CREATED +TYPE +STATUS +REQUEST\nwhd_\w+ .*failed.*\n {2}1\. \S+Z {2}127\.0\.0\.1 {2}http_status 500 {2}\d+ ms {2}busy\n$/,
    )
    receiver.answer(() => new Response(null, { status: 204 }))
    await vidimusJson(dir, 'deliveries', 'replay', failed?.id ?? '')
    await until(async () => receiver.received.length === 2)
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id']))).toEqual(new Set([failed?.id]))
    await until(async () => (await listDeliveries('--status', 'delivered')).length === 1)
    const [delivered] = await listDeliveries()
    expect(delivered?.attempts.map(({ outcome }) => outcome)).toEqual(['http_status', 'delivered'])
  })

  test('replay of an unknown delivery names the command that lists them', async () => {
    const run = await vidimus(dir, ['deliveries', 'replay', 'whd_0000000000000000000000'])
    expect(run).toMatchObject({ exitCode: 1, stdout: '' })
    expect(run.stderr).toContain('vidimus deliveries list')
    expect((await vidimus(dir, ['deliveries', 'replay', 'vs_x'])).exitCode).toBe(2)
  })
})

test('listen forwards every result of the tenant, signed like the webhook, without a webhook_url', async () => {
  const { webhook_secret: secret } = await vidimusJson<Secret>(dir, 'webhook-secret', 'show', '--tenant', tenant)
  const local = receive()
  const { PATH = '', HOME = '' } = process.env
  const listening = Bun.spawn(
    [
      process.execPath,
      resolve(import.meta.dir, '../../src/main.ts'),
      'listen',
      '--forward',
      local.url('/hook', 'localhost'),
      '--tenant',
      tenant,
    ],
    { env: { PATH, HOME, VIDIMUS_DATA_DIR: dir, ...(await databaseOf(dir)) }, stdout: 'pipe', stderr: 'pipe' },
  )
  const reader = listening.stdout.getReader()
  expect(new TextDecoder().decode((await reader.read()).value)).toContain(`Forwarding results of ${tenant}`)
  const ids = [await verify(), await verify()]
  await until(async () => local.received.length >= 2)
  const events = await Promise.all(
    local.received.map(({ body, headers }) => verifyWebhook({ payload: body, header: headers['x-service-signature'], secret })),
  )
  expect(events.map(({ verification }) => verification.id)).toEqual(ids)
  const { text } = await call(server.url, 'GET', `/v1/verifications/${ids[0]}`, { key })
  expect(local.received[0]?.body).toContain(`"verification":${text},`)
  listening.kill('SIGINT')
  expect(await listening.exited).toBe(0)
  await Bun.sleep(300)
  expect(local.received).toHaveLength(2)
})

test('listen needs a URL to forward to', async () => {
  for (const flags of [[], ['--forward', 'localhost:4000'], ['--forward', 'ftp://localhost/']]) {
    const run = await vidimus(dir, ['listen', ...flags])
    expect(run).toMatchObject({ exitCode: 2, stdout: '' })
    expect(run.stderr).toContain('--forward')
  }
})
