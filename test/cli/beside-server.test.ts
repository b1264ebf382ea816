// Commands beside a running server: the very next request sees the change, without a restart.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, statSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { type Answer, call, type ErrorBody, temporaryDir } from '../helpers/app.ts'
import { type Served, serve, vidimusJson as spawnVidimusJson, stopServing } from '../helpers/cli.ts'
import { vidimus, vidimusJson } from '../helpers/command.ts'
import { AUDIT_ENTRIES, rowsOf } from '../helpers/database.ts'

afterAll(stopServing)

type Made = { id: string; key: string }
type Verdict = { ok: boolean; count: number; signed_to: number }

const AGE = { template: 'age_over_18' }

let dir: string
let server: Served

beforeAll(async () => {
  dir = join(temporaryDir(), 'data')
  server = await serve(dir)
})

const create = (key: string, body: object = AGE) => call<ErrorBody>(server.url, 'POST', '/v1/verifications', { key, body })

const outcome = ({ status, body }: Answer<ErrorBody>): string => [status, body.error?.code].join(' ').trim()

let shops = 0

async function newTenant(...settings: string[]): Promise<{ tenant: string; key: Made }> {
  const { id: tenant } = await vidimusJson<{ id: string }>(dir, 'tenant', 'create', '--name', `Shop ${++shops}`, ...settings)
  return { tenant, key: await newKey(tenant) }
}

const newKey = (tenant: string, callJson = vidimusJson<Made>): Promise<Made> =>
  callJson(dir, 'key', 'create', '--tenant', tenant, '--env', 'test')

describe('the very next request after a command', () => {
  test('is accepted with a new key, and refused with a revoked one', async () => {
    const { key } = await newTenant()
    expect(outcome(await create(key.key))).toBe('201')
    await vidimusJson(dir, 'key', 'revoke', key.id)
    expect(outcome(await create(key.key))).toBe('401 invalid_api_key')
  })

  test('is accepted with the successor of a rolled key; the old key is refused at once, or works for a while', async () => {
    const { key: first } = await newTenant()
    const second = await vidimusJson<Made>(dir, 'key', 'roll', first.id, '--old-expires', 'now')
    expect(outcome(await create(first.key))).toBe('401 api_key_expired')
    expect(outcome(await create(second.key))).toBe('201')
    const third = await vidimusJson<Made>(dir, 'key', 'roll', second.id)
    expect(outcome(await create(second.key))).toBe('201')
    expect(outcome(await create(third.key))).toBe('201')
  })

  test('is refused under a quota of 0, and accepted once the quota of the plan is back', async () => {
    const { tenant, key } = await newTenant()
    expect(outcome(await create(key.key))).toBe('201')
    await vidimusJson(dir, 'tenant', 'set', tenant, '--daily-quota', '0')
    const refused = await create(key.key)
    expect(outcome(refused)).toBe('429 quota_exceeded')
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    const usage = await call<{ daily_quota: number; remaining: number }>(server.url, 'GET', '/v1/usage', { key: key.key })
    expect(usage.body).toMatchObject({ daily_quota: 0, remaining: 0 })
    await vidimusJson(dir, 'tenant', 'set', tenant, '--daily-quota', 'plan')
    expect(outcome(await create(key.key))).toBe('201')
  })

  test('uses a template that was put, changed or deleted, for its tenant only', async () => {
    const [{ tenant, key }, stranger] = [await newTenant(), await newTenant()]
    const file = join(temporaryDir(), 'query.json')
    const put = async (claim: string) => {
      const meta = { vct_values: ['https://club.example/member'] }
      const credentials = [{ id: 'member', format: 'dc+sd-jwt', meta, claims: [{ path: [claim] }] }]
      await Bun.write(file, JSON.stringify({ credentials }))
      await vidimusJson(dir, 'template', 'put', '--tenant', tenant, '--key', 'membership', '--file', file)
    }
    const membership = { template: 'membership' }
    expect(outcome(await create(key.key, membership))).toBe('422 unknown_template')
    await put('level')
    expect(outcome(await create(key.key, membership))).toBe('201')
    expect(outcome(await create(stranger.key.key, membership))).toBe('422 unknown_template')
    await put('since')
    expect(outcome(await create(key.key, membership))).toBe('201')
    await vidimusJson(dir, 'template', 'delete', '--tenant', tenant, '--key', 'membership')
    expect(outcome(await create(key.key, membership))).toBe('422 unknown_template')
  })
})

describe('commands under load', () => {
  /** Acts during this many concurrent creations; each of them must be answered 201. */
  async function whileCreating<T>(key: string, atOnce: number, act: () => Promise<T>): Promise<T> {
    const busy = { on: true }
    const creating = Array.from({ length: atOnce }, async () => {
      do expect(outcome(await create(key))).toBe('201')
      while (busy.on)
    })
    const acting = act().finally(() => {
      busy.on = false
    })
    const [answer] = await Promise.all([acting, ...creating])
    return answer
  }

  test('audit verify and export find a whole chain while 200 creations are under way', async () => {
    const { key } = await newTenant()
    const target = join(temporaryDir(), 'audit.jsonl')
    const [during, exported] = await whileCreating(key.key, 200, () =>
      Promise.all([spawnVidimusJson<Verdict>(dir, 'audit', 'verify'), spawnVidimusJson<Verdict>(dir, 'audit', 'export', target)]),
    )
    expect(during.ok).toBe(true)
    expect(exported).toMatchObject({ ok: true, signed_to: exported.count })
    const after = await vidimusJson<Verdict>(dir, 'audit', 'verify')
    expect(after).toMatchObject({ ok: true, count: recordsIn(dir) })
  })

  test('20 commands at once create their keys while the server creates verifications, and the chain is whole', async () => {
    const { tenant, key } = await newTenant()
    const before = recordsIn(dir)
    const keys = await whileCreating(key.key, 8, () =>
      Promise.all(Array.from({ length: 20 }, () => newKey(tenant, spawnVidimusJson))),
    )
    const usage = await call<{ verifications_created: number }>(server.url, 'GET', '/v1/usage', { key: key.key })
    const created = usage.body.verifications_created
    expect(created).toBeGreaterThanOrEqual(8)
    expect(new Set(keys.map(({ id }) => id)).size).toBe(20)
    expect(await vidimusJson<Verdict>(dir, 'audit', 'verify')).toMatchObject({ ok: true, count: before + created + 20 })
    const answers = await Promise.all(keys.map(each => create(each.key)))
    expect(new Set(answers.map(outcome))).toEqual(new Set(['201']))
  })
})

describe('stopping a server', () => {
  test('with SIGTERM answers open requests, then exits 0 with an empty write-ahead log', async () => {
    const own = join(temporaryDir(), 'data')
    const { url, first, process: child } = await serve(own, ['--dev'])
    const body = JSON.stringify(AGE)
    const request = await openSocket(url)
    // Before the signal, the server has accepted the connection and waits for the rest of a body.
    await request.exchange('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n', /"ok"/)
    const head =
      `POST /v1/verifications HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${first.test_key}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\nExpect: 100-continue\r\n\r\n`
    await request.exchange(head, /100 Continue/)
    request.socket.write(body.slice(0, 5))

    const signalled = performance.now()
    child.kill('SIGTERM')
    await refusesConnections(url)
    await request.exchange(body.slice(5), /HTTP\/1\.1 201 .*"id":"vs_.*\}/s)
    expect(await child.exited).toBe(0)
    // Ten seconds is the limit for open requests, not the duration of every stop.
    expect(performance.now() - signalled).toBeLessThan(9000)

    const log = join(own, 'vidimus.db-wal')
    expect(existsSync(log) ? statSync(log).size : 0).toBe(0)
    expect(await vidimusJson<Verdict>(own, 'audit', 'verify')).toMatchObject({ ok: true, count: 3 })
  })

  test('with SIGINT exits 0; SIGKILL leaves a directory that commands and the next server can open', async () => {
    const own = join(temporaryDir(), 'data')
    const killed = await serve(own, ['--dev'])
    const key = killed.first.test_key
    expect((await call(killed.url, 'POST', '/v1/verifications', { key, body: AGE })).status).toBe(201)
    killed.process.kill('SIGKILL')
    await killed.process.exited
    expect(await vidimusJson<Verdict>(own, 'audit', 'verify')).toMatchObject({ ok: true, count: 3 })
    const next = await serve(own)
    expect((await call(next.url, 'POST', '/v1/verifications', { key, body: AGE })).status).toBe(201)
    next.process.kill('SIGINT')
    expect(await next.process.exited).toBe(0)
  })
})

describe('serve --dev --json', () => {
  test('prints a working test key on the first start, and none on the second', async () => {
    const own = join(temporaryDir(), 'data')
    const start = await serve(own, ['--dev'])
    expect(start.first).toEqual({
      listening: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      setup_url: expect.stringMatching(/^http:\/\/localhost:\d+\/dashboard#setup=[\w-]{43}$/),
      test_key: expect.stringMatching(/^vk_test_[0-9A-Za-z]{38}$/),
    })
    const key = start.first.test_key
    expect((await call(start.url, 'POST', '/v1/verifications', { key, body: AGE })).status).toBe(201)
    start.process.kill('SIGKILL')
    await start.process.exited

    const again = await serve(own, ['--dev'])
    expect(Object.keys(again.first)).toEqual(['listening', 'setup_url'])
    expect((await call(again.url, 'POST', '/v1/verifications', { key, body: AGE })).status).toBe(201)
    const { data } = await vidimusJson<{ data: unknown[] }>(own, 'tenant', 'list')
    expect(data).toHaveLength(1)
  })

  test('prints no key and creates no tenant without --dev', async () => {
    expect(Object.keys(server.first)).toEqual(['listening', 'setup_url'])
    const own = join(temporaryDir(), 'data')
    const { first } = await serve(own)
    expect(first).toEqual({ listening: expect.any(String), setup_url: expect.stringContaining('#setup=') })
    expect((await vidimus(own, ['tenant', 'list', '--json'])).stdout).toBe('{"data":[]}\n')
  })
})

/** Linked or not. */
const recordsIn = (directory: string): number => rowsOf(directory, `SELECT at FROM ${AUDIT_ENTRIES}`).length

/** A bare connection, because a client library would not send half a body. */
async function openSocket(url: string) {
  const socket = await new Promise<Socket>((resolve, reject) => {
    const made: Socket = connect(Number(new URL(url).port), '127.0.0.1', () => resolve(made)).once('error', reject)
  })
  /** Sends text, and resolves with the answer once it matches. */
  const exchange = (text: string, wanted: RegExp) =>
    new Promise<string>((resolve, reject) => {
      let got = ''
      const onData = (chunk: Buffer) => {
        got += chunk
        if (!wanted.test(got)) return
        socket.off('data', onData)
        resolve(got)
      }
      const onClose = () => reject(new Error(`the connection was closed after: ${got}`))
      if (socket.destroyed) return onClose()
      socket.on('data', onData).once('close', onClose)
      socket.write(text)
    })
  return { socket, exchange }
}

const REFUSAL_WAIT_MS = 10_000

async function refusesConnections(url: string): Promise<void> {
  const deadline = performance.now() + REFUSAL_WAIT_MS
  for (;;) {
    try {
      const { socket } = await openSocket(url)
      socket.destroy()
    } catch {
      return
    }
    if (performance.now() > deadline) throw new Error('the server still takes connections')
    await new Promise(resolve => setTimeout(resolve, 5))
  }
}
