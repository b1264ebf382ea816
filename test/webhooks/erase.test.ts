// Erasure while a message is due, on its way, or held by its receiver: after the 200 nothing is sent any more.
import { afterAll, expect, test } from 'bun:test'
import { verifyAudit } from '../../src/audit/verify.ts'
import { decline } from '../../src/sandbox/wallet/wallet.ts'
import { changeTenant } from '../../src/tenants/settings.ts'
import { sweepRetention } from '../../src/verifications/erasure/retain.ts'
import { replayById } from '../../src/webhooks/replay.ts'
import { cleanUp, type TestApp, until } from '../helpers/app.ts'
import { rowsOf } from '../helpers/database.ts'
import { openSession, postTo } from '../helpers/exchange.ts'
import {
  answer200,
  declined,
  logOf,
  type RawReceiver,
  receiveRaw,
  type startAppFor,
  startTenantFor,
  untilAttempted,
} from '../helpers/receiver.ts'

afterAll(cleanUp)

const DAY_MS = 86_400_000

/** A thread that takes its time to end a call, or does not end it at all. */
const startThread = () => new Worker(new URL('./breakable-thread.ts', import.meta.url).href)

type Options = Parameters<typeof startAppFor>[1]

async function startShop(receivers: Parameters<typeof startAppFor>[0], options: Options = {}) {
  const { app, id, key } = await startTenantFor(receivers, options)
  /** Answers with the moment at which the caller knew. */
  const erase = async (verificationId: string) => {
    const { status, text } = await app.call('DELETE', `/v1/verifications/${verificationId}`, { key })
    return { status, text, at: performance.now() }
  }
  return { app, id, key, erase }
}

/** A closed connection is noticed within a few turns of the event loop. */
async function hasClosed({ lines }: RawReceiver): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise(resolve => setImmediate(resolve))
  expect(lines.map(({ closedAt }) => closedAt !== undefined)).toEqual([true])
}

/** In every table that can name a verification or its deliveries. */
function rowsLeftIn(app: TestApp): number {
  const tables = ['verification_sessions', 'verification_results', 'webhook_deliveries', 'webhook_attempts']
  const counts = tables.map(table => rowsOf(app, `SELECT 1 FROM ${table}`).length)
  return counts.reduce((sum, count) => sum + count)
}

const cancelledIn = async ({ app }: { app: TestApp }) =>
  Number(
    /^vidimus_webhook_attempts_total\{outcome="cancelled"\} (\d+)$/m.exec((await app.call('GET', '/metrics')).text)?.[1] ?? 0,
  )

test('a call that a receiver holds is ended by the erasure, which answers when the connection is closed', async () => {
  const receiver = await receiveRaw()
  const shop = await startShop([receiver], { sending: { startThread } })
  const id = await declined(shop, receiver.url('/late'))
  await until(async () => receiver.open().length === 1)
  const { status } = await shop.erase(id)
  expect(status).toBe(200)
  await hasClosed(receiver)
  expect(await cancelledIn(shop)).toBe(1)

  // Nor is it ever sent again: a later message arrives, and no other.
  shop.app.clock.advance(2 * DAY_MS)
  await declined(shop, receiver.url('/afterwards'))
  await until(async () => receiver.open().some(({ request }) => request.startsWith('POST /afterwards')))
  expect(receiver.lines).toHaveLength(2)
  expect(logOf(shop.app, id)).toEqual({ delivery: undefined, deliveries: [], attempts: [] })
})

test('an erasure waits for a call that the thread does not end', async () => {
  const receiver = await receiveRaw()
  const limits = { resolveMs: 5000, connectMs: 5000, totalMs: 3000, answerBytes: 4096 }
  const shop = await startShop([receiver], { sending: { startThread, limits } })
  const id = await declined(shop, receiver.url('/deaf'))
  await until(async () => receiver.open().length === 1)
  await shop.erase(id)
  await hasClosed(receiver)
  expect(rowsLeftIn(shop.app)).toBe(0)
})

test('a verification that is erased while its receiver is looked up is not sent', async () => {
  const receiver = await receiveRaw()
  let found = Promise.resolve(['127.0.0.1'])
  let asked = 0
  const resolve = () => {
    asked++
    return found
  }
  const shop = await startShop([receiver], { resolve })
  const session = await openSession(shop, { webhook_url: receiver.url() })
  const lookUp = Promise.withResolvers<string[]>()
  found = lookUp.promise
  const askedBefore = asked
  await postTo(session, (await decline(session.request)).form)
  await until(async () => asked > askedBefore)
  const cancelled = new Promise(resolve => shop.app.deps.subscribe('cancel', resolve))
  const erasure = shop.erase(session.created.id)
  await cancelled
  expect(rowsLeftIn(shop.app)).toBe(0)
  lookUp.resolve(['127.0.0.1'])
  expect((await erasure).status).toBe(200)
  expect(await cancelledIn(shop)).toBe(1)
  expect(receiver.lines).toEqual([])
})

test('an erasure by retention ends a call in the same way', async () => {
  const receiver = await receiveRaw()
  const shop = await startShop([receiver], { sending: { startThread } })
  await changeTenant(shop.app.deps, shop.id, { retentionDays: 1 }, 'test')
  await declined(shop, receiver.url('/late'))
  await until(async () => receiver.open().length === 1)
  shop.app.clock.advance(2 * DAY_MS)
  await sweepRetention(shop.app.deps)
  await hasClosed(receiver)
  expect(rowsLeftIn(shop.app)).toBe(0)
})

test('no message arrives after an erasure at any moment of a delivery or a replay, and nothing is left', async () => {
  const arrivals = new Map<string, number[]>()
  const receiver = await receiveRaw(line => {
    const note = () => {
      const id = /"verification":\{"id":"(\w+)"/.exec(line.request)?.[1]
      if (id === undefined) return void line.socket.once('data', note)
      arrivals.set(id, [...(arrivals.get(id) ?? []), performance.now()])
      setTimeout(() => answer200(line), 3)
    }
    note()
  })
  const shop = await startShop([receiver])
  const erased = new Map<string, number>()
  for (let i = 0; i < 60; i++) {
    shop.app.clock.advance(1000)
    const session = await openSession(shop, { webhook_url: receiver.url('/', `shop${i}.example`) })
    const { id } = session.created
    const { form } = await decline(session.request)
    if (i % 3 === 2) {
      await postTo(session, form)
      await untilAttempted(shop.app, id, 1)
      void replayById(shop.app.deps, shop.id, { id: logOf(shop.app, id).delivery?.id ?? '' }, { actor: 'test' })
    } else {
      const answer = postTo(session, form)
      if (i % 3 === 1) await answer
    }
    // A different moment each time: from before the claim until after the answer.
    for (let turn = 0; turn < i % 20; turn++) await new Promise(resolve => setTimeout(resolve, 0))
    const { status, text, at } = await shop.erase(id)
    expect([status, text]).toEqual([200, text])
    erased.set(id, at)
  }
  // Everything that may still be pending is due now.
  shop.app.clock.advance(30 * DAY_MS)
  const last = await declined(shop, receiver.url('/', 'shop0.example'))
  await untilAttempted(shop.app, last, 1)
  for (const [id, at] of erased) expect((arrivals.get(id) ?? []).filter(arrival => arrival > at)).toEqual([])
  // The race was one: some came too late, and some did not.
  const reached = [...erased.keys()].filter(id => arrivals.has(id)).length
  expect(reached).toBeGreaterThan(0)
  expect(reached).toBeLessThan(erased.size)
  await shop.erase(last)
  expect(rowsLeftIn(shop.app)).toBe(0)
  // An erasure causes no error, at any step of an attempt.
  expect(shop.app.logs.filter(line => line.includes('"level":"error"'))).toEqual([])
  expect((await verifyAudit(shop.app.deps)).problem).toBeUndefined()
})
