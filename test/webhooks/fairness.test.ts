// Slots of receivers and tenants, with receivers on loopback that hold every connection until the test answers.
import { afterAll, describe, expect, spyOn, test } from 'bun:test'
import { BEAT_EVERY_MS } from '../../src/db/postgres/nodes.ts'
import { cleanUp, NOON, type TestApp, until } from '../helpers/app.ts'
import { isOnPostgres } from '../helpers/database.ts'
import { declined, logOf, type RawReceiver, receive, receiveRaw, startAppFor } from '../helpers/receiver.ts'

afterAll(cleanUp)

const SECOND_MS = 1000
const HOUR_MS = 3_600_000
/** No call times out, however slow the machine is. */
const PATIENT = { limits: { resolveMs: 60_000, connectMs: 60_000, totalMs: 600_000, answerBytes: 4096 } }

/** A shop with a large quota. */
async function shop(app: TestApp) {
  const { id, key } = await app.tenant({ name: 'Shop', dailyQuota: 100_000 })
  return { id, key, app }
}

async function declineMany(party: { app: TestApp; key: string }, url: string, count: number): Promise<string[]> {
  const ids: string[] = []
  for (let left = count; left > 0; left -= 50)
    ids.push(...(await Promise.all(Array.from({ length: Math.min(50, left) }, () => declined(party, url)))))
  return ids
}

/** Creations of one millisecond are dated ahead of the test's clock; a little later all of them are due. */
const letAllBeDue = (app: TestApp) => app.clock.advance(10_000)

const isOpen = (receiver: RawReceiver, count: number) => until(async () => receiver.open().length === count)

/** Answers the one that has waited longest. */
const letOneGo = (receiver: RawReceiver) => receiver.open()[0]?.socket.end('HTTP/1.1 204 No Content\r\n\r\n')

const isDelivered = (app: TestApp, ids: string[]) => ids.every(id => logOf(app, id).delivery?.status === 'delivered')

test('500 messages to a receiver that hangs delay neither another tenant nor another receiver of the same tenant', async () => {
  const dead = await receiveRaw()
  const alive = receive()
  const app = await withoutIntervals(() => startAppFor([dead, alive], { sending: PATIENT }), SECOND_MS)
  const [one, other] = [await shop(app), await shop(app)]
  await declineMany(one, dead.url(), 500)
  letAllBeDue(app)
  await isOpen(dead, 4)
  const mine = await declined(one, alive.url('/mine'))
  const theirs = await declined(other, alive.url('/theirs'))
  letAllBeDue(app)
  await until(async () => alive.received.length === 2)
  expect(new Set(alive.received.map(({ body }) => JSON.parse(body).verification.id))).toEqual(new Set([mine, theirs]))
  // Nothing had to end for that: the four that were there are there.
  expect(dead.lines).toHaveLength(4)
  expect(dead.open()).toHaveLength(4)
  // A round that finds no free slot for those that wait writes nothing.
  await until(async () => isDelivered(app, [mine, theirs]))
  const before = await commitsOf(app)
  app.deps.publish('owed', '')
  // The round is over within one turn of the event loop, and a write of it within the next.
  for (let turn = 0; turn < 3; turn++) await new Promise(resolve => setImmediate(resolve))
  expect(await commitsOf(app)).toBe(before)
})

const commitsOf = async (app: TestApp) =>
  /^vidimus_commit_group_size_count (\d+)$/m.exec((await app.call('GET', '/metrics')).text)?.[1] ?? 'none'

describe('queues at any time', () => {
  test('a tenant has at most 8 calls and an origin 4; five busy tenants have four each and leave 12 slots for others', async () => {
    const receiver = await receiveRaw()
    // Nothing is due before the clock moves, and then everything is: one look deals out the places.
    const app = await startAppFor([receiver], { sending: PATIENT, config: { webhookDelaysMs: [HOUR_MS] } })
    const tenants = [await shop(app), await shop(app), await shop(app), await shop(app), await shop(app)]
    const origins = [0, 1, 2]
    const name = (tenant: number, origin: number) => `hook${origin}.shop${tenant}.example`
    const ids: string[] = []
    // Turns are in the order in which the queues were added.
    for (const origin of origins)
      for (const [tenant, party] of tenants.entries())
        ids.push(...(await declineMany(party, receiver.url(`/${tenant}`, name(tenant, origin)), 6)))
    expect(receiver.lines).toEqual([])
    app.clock.advance(2 * HOUR_MS)
    await isOpen(receiver, 20)
    const ofTenant = (tenant: number) => receiver.open().filter(({ request }) => request.startsWith(`POST /${tenant} `)).length
    expect(tenants.map((_, tenant) => ofTenant(tenant))).toEqual([4, 4, 4, 4, 4])
    // One more tenant has a place at once, in a round that has none for the five.
    const late = await declined(await shop(app), receiver.url('/late', 'late.example'))
    app.clock.advance(2 * HOUR_MS)
    await until(async () => receiver.mostOpen('late.example') === 1)
    ids.push(late)
    expect(ids.filter(id => logOf(app, id).delivery?.lease_until)).toHaveLength(21)

    let mostOfTenant = 0
    await until(async () => {
      mostOfTenant = Math.max(mostOfTenant, ...tenants.map((_, tenant) => ofTenant(tenant)))
      letOneGo(receiver)
      return isDelivered(app, ids)
    })
    expect(receiver.mostOpen()).toBeLessThanOrEqual(32)
    expect(mostOfTenant).toBeLessThanOrEqual(8)
    const perOrigin = tenants.flatMap((_, tenant) => origins.map(origin => receiver.mostOpen(name(tenant, origin))))
    expect(Math.max(...perOrigin)).toBeLessThanOrEqual(4)
    // Each was sent once: nobody waited so long as to be given up.
    expect(receiver.lines).toHaveLength(ids.length)
  })

  test('two tenants with the same receiver share its four slots, and both have some', async () => {
    const receiver = await receiveRaw()
    const app = await startAppFor([receiver], { sending: PATIENT })
    const [one, other] = [await shop(app), await shop(app)]
    const theirs = [declineMany(one, receiver.url('/one'), 12), declineMany(other, receiver.url('/other'), 12)]
    const ids = (await Promise.all(theirs)).flat()
    letAllBeDue(app)
    await isOpen(receiver, 4)
    await until(async () => {
      letOneGo(receiver)
      return isDelivered(app, ids)
    })
    expect(receiver.mostOpen()).toBe(4)
    // In turn: the second half does not belong to one of them.
    const secondHalf = receiver.lines.slice(12).map(({ request }) => request.split(' ')[1])
    expect(new Set(secondHalf)).toEqual(new Set(['/one', '/other']))
  })

  test('another name of the same server is another origin with slots of its own', async () => {
    const receiver = await receiveRaw()
    const app = await startAppFor([receiver], { sending: PATIENT })
    const party = await shop(app)
    await declineMany(party, receiver.url('/a', 'a.example'), 6)
    await declineMany(party, receiver.url('/b', 'b.example'), 6)
    letAllBeDue(app)
    await isOpen(receiver, 8)
    await until(async () => receiver.mostOpen('a.example') === 4 && receiver.mostOpen('b.example') === 4)
  })
})

describe('a worker without its timer', () => {
  test('a new delivery is sent at once, and the end of one call begins the next', async () => {
    const receiver = receive()
    const app = await withoutIntervals(() => startAppFor([receiver]))
    const party = await shop(app)
    await declined(party, receiver.url())
    await until(async () => receiver.received.length === 1)
    // More than there are places, all of them to one receiver.
    letAllBeDue(app)
    const ids = await declineMany(party, receiver.url(), 30)
    letAllBeDue(app)
    const last = await declined(party, receiver.url())
    await until(async () => isDelivered(app, [...ids, last]))
    expect(receiver.received).toHaveLength(32)
  })

  test('an attempt that is due right after a failure is made at once', async () => {
    const receiver = receive(({ headers }) => new Response(null, { status: headers['x-service-attempt'] === '3' ? 200 : 500 }))
    const app = await withoutIntervals(() => startAppFor([receiver], { config: { webhookDelaysMs: [0, 0, 0] } }))
    const id = await declined(await shop(app), receiver.url())
    await until(async () => isDelivered(app, [id]))
    expect(receiver.received).toHaveLength(3)
  })

  test('deliveries of the process before are sent at the start, and an unused slot goes to another queue', async () => {
    const receiver = await receiveRaw()
    const later = await startAppFor([receiver], { config: { webhookDelaysMs: [HOUR_MS] } })
    const party = await shop(later)
    for (const name of ['a.example', 'b.example']) await declined(party, receiver.url('/', name))
    await declineMany(party, receiver.url('/', 'c.example'), 4)
    expect(receiver.lines).toEqual([])
    await later.stop()
    await withoutIntervals(() => startAppFor([receiver], { dir: later.dir, now: NOON + 2 * HOUR_MS, sending: PATIENT }))
    // The six connections open in any order.
    await isOpen(receiver, 6)
    expect(receiver.mostOpen('c.example')).toBe(4)
  })
})

/** Intervals that `begin` starts never fire, except those shorter than `fromMs`, and beats: a dead node sends nothing. */
async function withoutIntervals<T>(begin: () => Promise<T>, fromMs = 0): Promise<T> {
  const { setInterval } = globalThis
  const start = (run: () => void, everyMs: number) =>
    everyMs < fromMs || (isOnPostgres && everyMs === BEAT_EVERY_MS) ? setInterval(run, everyMs) : { unref() {} }
  const silenced = spyOn(globalThis, 'setInterval').mockImplementation(start as never)
  try {
    return await begin()
  } finally {
    silenced.mockRestore()
  }
}
