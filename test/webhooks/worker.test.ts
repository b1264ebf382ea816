// The thread that sends is lost, stuck or ended from outside; the file cannot be written; the clock jumps.
import { afterAll, describe, expect, test } from 'bun:test'
import { decline } from '../../src/sandbox/wallet/wallet.ts'
import { replayById } from '../../src/webhooks/replay.ts'
import { cleanUp, createVerification, NOON, type TestApp, until } from '../helpers/app.ts'
import { execute, isOnPostgres } from '../helpers/database.ts'
import { openSession, postTo } from '../helpers/exchange.ts'
import {
  answer200,
  declined,
  type Line,
  logOf,
  outcomesOf,
  receive,
  receiveRaw,
  startAppFor,
  startTenantFor,
  untilAttempted,
} from '../helpers/receiver.ts'

afterAll(cleanUp)

const BREAKABLE_THREAD = new URL('./breakable-thread.ts', import.meta.url).href
/** A call that has no end after its time and three seconds more is taken for one that its thread forgot. */
const IMPATIENT = { limits: { resolveMs: 1000, connectMs: 1000, totalMs: 1000, answerBytes: 4096 } }

/** Long enough that a stuck thread is noticed by its silence only. */
const PATIENT = { limits: { ...IMPATIENT.limits, totalMs: 120_000 } }

type Options = Parameters<typeof startAppFor>[1]

/** A service whose sending thread can be broken, and a shop in it. */
async function startBreakable(receivers: Parameters<typeof startAppFor>[0], options: Options = {}) {
  const threads: { worker: Worker; isClosed: boolean }[] = []
  const startThread = () => {
    const thread = { worker: new Worker(BREAKABLE_THREAD), isClosed: false }
    thread.worker.addEventListener('close', () => {
      thread.isClosed = true
    })
    threads.push(thread)
    return thread.worker
  }
  const app = await startAppFor(receivers, { ...options, sending: { startThread, ...options.sending } })
  return { app, threads, ...(await app.tenant()) }
}

/** Waits while the test's clock goes on, a second at a time. */
const untilLater = (app: TestApp, condition: () => boolean) =>
  until(async () => {
    app.clock.advance(1000)
    return condition()
  })

/** Tenths of a second; one in which the machine was late does not count. */
async function onTime(tenths: number, isOver: () => boolean = () => false): Promise<void> {
  for (let counted = 0; counted < tenths && !isOver(); ) {
    const before = performance.now()
    await Bun.sleep(100)
    if (performance.now() - before < 150) counted++
  }
}

const attemptOf = ({ request }: Line) => /^x-service-attempt: (\d+)\r$/im.exec(request)?.[1]

const lossesIn = (app: TestApp) => app.logs.filter(line => line.includes('webhooks.thread_lost')).length

describe('a thread that breaks', () => {
  for (const way of ['throw', 'reject', 'exit', 'loop']) {
    test(`(${way}) is replaced; the attempt is in the log as interrupted, other messages arrive, and the API answers`, async () => {
      const receiver = receive()
      const sound = await startBreakable([receiver], { sending: IMPATIENT })
      await untilAttempted(sound.app, await declined(sound, receiver.url('/sound')), 1)
      const { app, threads, key } = await startBreakable([receiver], { sending: PATIENT })
      const breaking = await declined({ app, key }, receiver.url(`/${way}`))
      await until(async () => threads.length === 1)
      await createVerification(app, key)
      expect((await app.call('GET', '/readyz')).status).toBe(200)
      // A second, and some for the machine.
      await onTime(30, () => lossesIn(app) === 1 && logOf(app, breaking).delivery?.lease_until === null)
      expect(outcomesOf(app, breaking)).toEqual([[1, 'interrupted']])
      expect(logOf(app, breaking).delivery).toMatchObject({ status: 'pending', attempts: 0 })
      // No thread stays behind, not even one that runs in circles.
      await until(async () => threads[0]!.isClosed)

      const other = await declined({ app, key }, receiver.url('/fine', 'other.example'))
      app.clock.advance(100)
      await untilAttempted(app, other, 1)
      expect(logOf(app, other).delivery?.status).toBe('delivered')
      expect(threads).toHaveLength(2)
      expect(receiver.received.map(({ path }) => path)).toEqual(['/sound', '/fine'])
      // A thread that has reported is not taken for stuck, when by now it would be.
      expect([lossesIn(sound.app), sound.threads.length]).toEqual([0, 1])
      expect((await app.call('DELETE', `/v1/verifications/${breaking}`, { key })).status).toBe(200)
    })
  }

  test('(loop) is replaced, also by a service that is late now and then, long before its call has had its time', async () => {
    const receiver = receive()
    const { app, key } = await startBreakable([receiver], { sending: PATIENT })
    // A thread that has not reported yet may be silent for ten seconds.
    await untilAttempted(app, await declined({ app, key }, receiver.url('/sound')), 1)
    const id = await declined({ app, key }, receiver.url('/loop', 'other.example'))
    app.clock.advance(100)
    await until(async () => {
      Bun.sleepSync(170)
      await onTime(3)
      return lossesIn(app) === 1 && logOf(app, id).delivery?.lease_until === null
    })
    expect(outcomesOf(app, id)).toEqual([[1, 'interrupted']])
  })

  test('that answers pings but forgot a call is replaced once the call has had its time', async () => {
    const receiver = await receiveRaw()
    const { app, key, threads } = await startBreakable([receiver], { sending: IMPATIENT })
    const id = await declined({ app, key }, receiver.url('/forgotten'))
    await onTime(80, () => lossesIn(app) === 1 && logOf(app, id).delivery?.lease_until === null)
    expect(outcomesOf(app, id)).toEqual([[1, 'interrupted']])
    expect([lossesIn(app), receiver.lines.length]).toEqual([1, 0])
    await until(async () => threads[0]!.isClosed)
  })

  test('interrupts an attempt three times at most: then the attempt counts, and the schedule goes on', async () => {
    const receiver = receive(() => new Response(null, { status: 500 }))
    const { app, key } = await startBreakable([receiver], { config: { webhookDelaysMs: [0, 5000, 5000] } })
    const id = await declined({ app, key }, receiver.url('/throw-at-2'))
    await untilLater(app, () => logOf(app, id).delivery?.status === 'failed')
    const numbers = [1, 2, 2, 2, 3]
    expect(outcomesOf(app, id)).toEqual(numbers.map(attempt => [attempt, attempt === 2 ? 'interrupted' : 'http_status']))
  })
})

describe('a thread is not taken to be stuck', () => {
  test('while it is busy for a while', async () => {
    const receiver = receive()
    const { app, key, threads } = await startBreakable([receiver], { sending: PATIENT })
    const ids = [await declined({ app, key }, receiver.url('/busy')), await declined({ app, key }, receiver.url('/busy'))]
    app.clock.advance(100)
    await until(async () => ids.every(id => logOf(app, id).delivery?.status === 'delivered'))
    for (const id of ids) expect(outcomesOf(app, id)).toEqual([[1, 'delivered']])
    expect([lossesIn(app), threads.length]).toEqual([0, 1])
  })

  test('while it waits for a receiver', async () => {
    const receiver = await receiveRaw()
    const { app, key, threads } = await startBreakable([receiver], { sending: PATIENT })
    const id = await declined({ app, key }, receiver.url())
    await until(async () => receiver.open().length === 1)
    await onTime(10)
    answer200(receiver.open()[0]!)
    await untilAttempted(app, id, 1)
    expect([outcomesOf(app, id), lossesIn(app), threads.length]).toEqual([[[1, 'delivered']], 0, 1])
  })

  test('while the thread that pings is late itself: both may lack processor time', async () => {
    const receiver = receive()
    const { app, key, threads } = await startBreakable([receiver], { sending: PATIENT })
    // A thread that has reported is taken for stuck sooner than one that starts.
    await untilAttempted(app, await declined({ app, key }, receiver.url('/sound')), 1)
    const id = await declined({ app, key }, receiver.url('/starved', 'other.example'))
    app.clock.advance(100)
    await until(async () => logOf(app, id).attempts.length === 1)
    for (let i = 0; i < 13; i++) {
      Bun.sleepSync(170)
      await new Promise(resolve => setTimeout(resolve, 0))
    }
    await untilAttempted(app, id, 1)
    expect([outcomesOf(app, id), lossesIn(app), threads.length]).toEqual([[[1, 'delivered']], 0, 1])
  })
})

test('all attempts under way are repeated after the thread is ended from outside, and six attempts stay six', async () => {
  const holding = await receiveRaw()
  const receiver = receive(() => new Response('no', { status: 500 }))
  const { app, threads, key } = await startBreakable([holding, receiver])
  const held = await Promise.all([1, 2, 3, 4].map(i => declined({ app, key }, holding.url(`/${i}`))))
  app.clock.advance(1000)
  await until(async () => holding.open().length === held.length)
  threads[0]!.worker.terminate()
  await until(async () => held.every(id => logOf(app, id).delivery?.lease_until === null))
  for (const id of held) expect(outcomesOf(app, id)).toEqual([[1, 'interrupted']])
  // Not all in one moment, in which one of them might end the others again.
  expect(new Set(held.map(id => logOf(app, id).delivery?.due_at)).size).toBeGreaterThan(1)
  expect(app.logs.some(line => line.includes('"webhooks.thread_lost"') && line.includes('"count":4'))).toBe(true)
  // The connections of the ended thread are closed with it.
  await until(async () => holding.open().length === 0)

  await untilLater(app, () => holding.open().length === held.length)
  expect(holding.open().map(attemptOf)).toEqual(['1', '1', '1', '1'])
  holding.open().map(answer200)
  for (const id of held) await untilAttempted(app, id, 1)
  for (const id of held)
    expect(outcomesOf(app, id)).toEqual([
      [1, 'interrupted'],
      [1, 'delivered'],
    ])

  const failing = await declined({ app, key }, receiver.url())
  app.clock.advance(1000)
  await untilAttempted(app, failing, 1)
  threads.at(-1)!.worker.terminate()
  await until(async () => lossesIn(app) === 2)
  await until(async () => {
    app.clock.advance(10 * 3_600_000)
    return logOf(app, failing).delivery?.status === 'failed'
  })
  expect(receiver.received.map(({ headers }) => headers['x-service-attempt'])).toEqual(['1', '2', '3', '4', '5', '6'])
})

test('ended attempts of the same number before a replay are not counted as interruptions', async () => {
  let answers = 3
  const receiver = await receiveRaw(line => {
    if (answers-- > 0) answer200(line)
  })
  const { app, threads, id: tenantId, key } = await startBreakable([receiver])
  const id = await declined({ app, key }, receiver.url())
  for (const replays of [0, 1, 2]) {
    await untilAttempted(app, id, 1)
    expect(outcomesOf(app, id)).toHaveLength(replays + 1)
    await replayById(app.deps, tenantId, { id: logOf(app, id).delivery?.id ?? '' }, { actor: 'test' })
  }
  await until(async () => receiver.open().length === 1)
  threads.at(-1)!.worker.terminate()
  await until(async () => logOf(app, id).delivery?.lease_until === null)
  expect(outcomesOf(app, id).at(-1)).toEqual([1, 'interrupted'])
  expect(logOf(app, id).delivery).toMatchObject({ status: 'pending', attempts: 0 })
})

describe('a failure of the service itself', () => {
  test('a message that cannot be made is an interrupted attempt, three times each, and delays no other message', async () => {
    const receiver = receive()
    const app = await startAppFor([receiver], { config: { webhookDelaysMs: [0, 5000] } })
    const [damaged, whole] = [await app.tenant(), await app.tenant()]
    await inDatabase(
      app,
      `UPDATE webhook_secrets SET sealed = ${isOnPostgres ? "'\\x00'" : "x'00'"} WHERE tenant_id = '${damaged.id}'`,
    )
    const id = await declined({ app, key: damaged.key }, receiver.url())
    const other = await declined({ app, key: whole.key }, receiver.url())
    await untilLater(app, () => logOf(app, id).delivery?.status === 'failed')
    expect(outcomesOf(app, id)).toEqual([1, 1, 1, 2, 2, 2].map(attempt => [attempt, 'interrupted']))
    await untilAttempted(app, other, 1)
    expect(receiver.received.map(({ body }) => JSON.parse(body).verification.id)).toEqual([other])
  })

  test('the end of an attempt that cannot be written is kept until it can be, and the message is not sent again', async () => {
    const receiver = receive()
    const { app, key } = await startTenantFor([receiver])
    await refuseAttempts(app, 'UPDATE')
    const id = await declined({ app, key }, receiver.url())
    await until(async () => app.logs.some(line => line.includes('webhooks.record_failed')))
    app.clock.advance(3_600_000)
    await inDatabase(app, isOnPostgres ? 'DROP TRIGGER no_room ON webhook_attempts' : 'DROP TRIGGER no_room')
    await untilAttempted(app, id, 1)
    expect(outcomesOf(app, id)).toEqual([[1, 'delivered']])
    expect(receiver.received).toHaveLength(1)
  })

  test('an attempt that cannot be logged is not made until it can be, and the log of the service says so once', async () => {
    const receiver = receive()
    const { app, key } = await startTenantFor([receiver])
    await refuseAttempts(app, 'INSERT')
    const ids = [await declined({ app, key }, receiver.url()), await declined({ app, key }, receiver.url('/', 'b.example'))]
    const failures = () => app.logs.filter(line => line.includes('webhooks.round_failed')).length
    await until(async () => failures() > 0)
    for (const host of ['c.example', 'd.example']) {
      app.clock.advance(1000)
      ids.push(await declined({ app, key }, receiver.url('/', host)))
    }
    expect(receiver.received).toEqual([])
    await inDatabase(app, isOnPostgres ? 'DROP TRIGGER no_room ON webhook_attempts' : 'DROP TRIGGER no_room')
    await untilLater(app, () => ids.every(id => logOf(app, id).delivery?.status === 'delivered'))
    expect(receiver.received).toHaveLength(4)
    for (const id of ids) expect(outcomesOf(app, id)).toEqual([[1, 'delivered']])
    expect(failures()).toBe(1)
  })

  test('a clock that jumps ahead while a message is under way does not send it twice', async () => {
    const receiver = await receiveRaw()
    const { app, key } = await startTenantFor([receiver])
    const first = await declined({ app, key }, receiver.url('/first'))
    await until(async () => receiver.open().length === 1)
    app.clock.advance(24 * 3_600_000)
    await declined({ app, key }, receiver.url('/second'))
    app.clock.advance(24 * 3_600_000)
    await until(async () => receiver.open().length === 2)
    expect(receiver.lines.map(({ request }) => request.split(' ')[1])).toEqual(['/first', '/second'])
    receiver.open().map(answer200)
    await untilAttempted(app, first, 1)
    expect(outcomesOf(app, first)).toEqual([[1, 'delivered']])
  })
})

test('a stop ends attempts under way and begins none; the next start repeats them under the same number', async () => {
  const holding = await receiveRaw()
  let found = Promise.resolve(['127.0.0.1'])
  const resolve = () => found
  const sending = { limits: { ...IMPATIENT.limits, resolveMs: 60_000, totalMs: 30_000 } }
  const { app, threads, key } = await startBreakable([holding], { resolve, sending })
  const held = await declined({ app, key }, holding.url('/held'))
  await until(async () => holding.open().length === 1)
  const session = await openSession({ app, key }, { webhook_url: holding.url('/slow', 'slow.example') })
  app.clock.advance(1000)
  // The service waits two seconds for what is under way: this name is looked up until the thread is gone.
  const lookUp = Promise.withResolvers<string[]>()
  found = lookUp.promise
  await postTo(session, (await decline(session.request)).form)
  await until(async () => logOf(app, session.created.id).attempts.length === 1)
  const stopping = app.stop()
  await until(async () => threads[0]?.isClosed === true)
  lookUp.resolve(['127.0.0.1'])
  await stopping
  expect(threads).toHaveLength(1)
  expect(holding.lines).toHaveLength(1)

  const again = await startAppFor([holding], { dir: app.dir, now: NOON + 60_000 })
  for (const id of [held, session.created.id]) expect(outcomesOf(again, id)[0]).toEqual([1, 'interrupted'])
  await until(async () => holding.open().length === 2)
  expect(holding.open().map(attemptOf)).toEqual(['1', '1'])
})

/** On the service's own connection: a write by another one would make the worker list again. */
const inDatabase = async ({ deps }: TestApp, statement: string): Promise<void> =>
  void (await deps.write(async tx => void (await execute(tx, statement))))

/** As on a full disk. */
async function refuseAttempts(app: TestApp, act: 'INSERT' | 'UPDATE'): Promise<void> {
  const before = `CREATE TRIGGER no_room BEFORE ${act} ON webhook_attempts`
  if (!isOnPostgres) return await inDatabase(app, `${before} BEGIN SELECT RAISE(ABORT, 'full'); END`)
  const body = "BEGIN RAISE EXCEPTION 'full'; END"
  await inDatabase(app, `CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS $$ ${body} $$`)
  await inDatabase(app, `${before} FOR EACH ROW EXECUTE FUNCTION no_room()`)
}
