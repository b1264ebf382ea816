// Real `kill -9` of a real process while it delivers 200 messages, several times on one directory.
import { afterAll, expect, test } from 'bun:test'
import { verifyAudit } from '../../src/audit/verify.ts'
import { verifyWebhook } from '../../src/sdk/webhook.ts'
import { createTenant } from '../../src/tenants/settings.ts'
import { startApp, temporaryDir } from '../helpers/app.ts'
import { type Served, serve, stopServing } from '../helpers/cli.ts'
import { expectSound, rowsOf } from '../helpers/database.ts'
import { declined, type Received, type Receiver, receive, startAppFor, stopReceiving } from '../helpers/receiver.ts'

afterAll(async () => {
  await stopServing()
  stopReceiving()
})

const KILLS = 6
const TENANTS = 4
const PER_RECEIVER = 25
const HOUR_MS = 3_600_000

test('each of 200 messages arrives though the process is killed again and again, and the log has every attempt', async () => {
  // Two for each tenant. They take their time, so that a kill meets many, and refuse one in ten at first.
  const refused = new Set<string>()
  const receivers = Array.from({ length: 2 * TENANTS }, (_, i) =>
    receive(async ({ headers }) => {
      await Bun.sleep(60)
      const id = headers['webhook-id'] ?? ''
      const isRefused = i % 2 === 0 && id < 'whd_C' && !refused.has(id)
      if (isRefused) refused.add(id)
      return new Response(null, { status: isRefused ? 500 : 200 })
    }),
  )
  const dir = temporaryDir()
  const secrets = await prepare(dir, receivers)
  expect(secrets.size).toBe(200)
  const env = {
    VIDIMUS_PUBLIC_URL: 'https://verify.example',
    VIDIMUS_EGRESS_ALLOW: receivers.map(({ port }) => `127.0.0.1:${port}`).join(','),
    VIDIMUS_WEBHOOK_DELAYS: '0s,1s,1s,1s,1s,1s',
  }
  const received = () => receivers.flatMap(receiver => receiver.received)

  for (let round = 0; round < KILLS; round++) {
    const before = received().length
    const service = await serve(dir, [], env)
    await untilSlowly(() => received().length >= before + 12 + 4 * round)
    await kill(service)
  }
  const service = await serve(dir, [], env)
  await untilSlowly(() => countIn(dir, "webhook_deliveries WHERE status = 'delivered'") === secrets.size)
  await kill(service)

  expect(new Set(received().map(idOf))).toEqual(new Set(secrets.keys()))
  for (const message of received()) await verifyNow(message, secrets.get(idOf(message)) ?? '')
  expectEveryOneLogged(dir, received())
  expect(refused.size).toBeGreaterThan(0)
  expect(countIn(dir, "webhook_attempts WHERE outcome = 'interrupted'")).toBeGreaterThan(KILLS)
  expect(countIn(dir, 'webhook_deliveries WHERE lease_until IS NOT NULL')).toBe(0)
  await checkFile(dir)
})

/** Results that owe a message since an hour ago; gives each verification with the secret that signs for it. */
async function prepare(dir: string, receivers: Receiver[]): Promise<Map<string, string>> {
  const app = await startAppFor(receivers, { dir, now: Date.now() - 2 * HOUR_MS, config: { webhookDelaysMs: [HOUR_MS / 2] } })
  const secrets = new Map<string, string>()
  for (let i = 0; i < TENANTS; i++) {
    const { tenant, webhookSecret } = await createTenant(app.deps, { name: `Shop ${i}` }, 'test')
    const party = { app, key: await app.key(tenant.id) }
    const urls = receivers.slice(2 * i, 2 * i + 2).map(({ url }) => url('/hook', '127.0.0.1'))
    const made = urls.flatMap(url => Array.from({ length: PER_RECEIVER }, () => declined(party, url)))
    for (const id of await Promise.all(made)) secrets.set(id, webhookSecret)
  }
  await app.stop()
  return secrets
}

const idOf = ({ body }: Received): string => JSON.parse(body).verification.id

const verifyNow = ({ body, headers }: Received, secret: string) =>
  verifyWebhook({ payload: body, header: headers['x-service-signature'], secret })

/** Every call that a receiver saw is in the log, as often as it was made. */
function expectEveryOneLogged(dir: string, received: Received[]): void {
  const logged = rowsOf<{ name: string }>(dir, "SELECT delivery_id || ' ' || attempt AS name FROM webhook_attempts")
  const times = Map.groupBy(logged, ({ name }) => name)
  const seen = Map.groupBy(received, ({ headers }) => `${headers['webhook-id']} ${headers['x-service-attempt']}`)
  for (const [name, messages] of seen) {
    expect([name, (times.get(name)?.length ?? 0) >= messages.length]).toEqual([name, true])
  }
}

async function checkFile(dir: string): Promise<void> {
  expectSound(dir)
  const app = await startApp({ dir, now: Date.now() })
  expect((await verifyAudit(app.deps)).problem).toBeUndefined()
  await app.stop()
}

const countIn = (dir: string, what: string) => rowsOf<{ n: number }>(dir, `SELECT count(*) AS n FROM ${what}`)[0]?.n

/** For what takes a process some seconds. */
async function untilSlowly(condition: () => boolean): Promise<void> {
  for (let i = 0; i < 3000; i++) {
    if (condition()) return
    await Bun.sleep(20)
  }
  throw new Error('it never came true')
}

async function kill({ process }: Served): Promise<void> {
  process.kill('SIGKILL')
  await process.exited
}
