// What the worker tells its thread, and when. A node that stood still may have been taken for dead, and what it is about to
// send may be erased.
import { afterAll, expect, test } from 'bun:test'
import type { EgressCall } from '../../src/egress/client.ts'
import { createPoster, startPosterThread } from '../../src/webhooks/delivery/poster.ts'
import type { Order, Report } from '../../src/webhooks/delivery/poster-thread.ts'
import { cleanUp } from '../helpers/app.ts'
import { receive } from '../helpers/receiver.ts'

afterAll(cleanUp)

const limits = { resolveMs: 10_000, connectMs: 10_000, totalMs: 30_000, answerBytes: 4096 }
const log = { debug() {}, info() {}, warn() {}, error() {} }

test('a message is sent after its time only when the node still may', async () => {
  const receiver = receive()
  const poster = createPoster({ log, extraCa: undefined, startThread: startPosterThread })
  const post = async (path: string, ...answers: (number | undefined)[]) => {
    const call: EgressCall = { url: receiver.url(path), method: 'POST', headers: {}, body: '{}', limits, onLargeAnswer: 'cut' }
    const permit = { signal: new AbortController().signal, mayUntil: () => answers.shift() }
    const answer = await poster.post(path, '127.0.0.1', call, permit)
    return answer.ok ? answer.status : answer.failure
  }
  const [past, future] = [Date.now() - 1, Date.now() + 3_600_000]
  expect(await post('/in-time', future)).toBe(204)
  expect(await post('/renewed', past, future)).toBe(204)
  expect(await post('/lapsed', past, undefined)).toBe('interrupted')
  expect(await post('/stood-still', past, past)).toBe('interrupted')
  expect(await post('/never', undefined, undefined)).toBe('interrupted')
  expect(receiver.received.map(({ path }) => path)).toEqual(['/in-time', '/renewed'])
  poster.stop()
})

test('orders of one turn are one message to the thread, in their order, and one message settles several calls', async () => {
  const given: Order[][] = []
  const listeners = new Map<string, (event: { data: Report[] }) => void>()
  const thread = {
    postMessage: (orders: Order[]) => given.push(orders),
    addEventListener: (kind: string, hear: (event: { data: Report[] }) => void) => listeners.set(kind, hear),
    terminate() {},
  } as unknown as Worker
  const poster = createPoster({ log, extraCa: undefined, startThread: () => thread })
  const call: EgressCall = { url: 'http://shop.example/', method: 'POST', headers: {}, limits, onLargeAnswer: 'cut' }
  const erasure = new AbortController()
  const post = (id: string) => poster.post(id, '127.0.0.1', call, { signal: erasure.signal, mayUntil: () => undefined })
  const answers = [post('a'), post('b')]
  erasure.abort()
  expect(given).toEqual([])
  await Promise.resolve()
  const named = (orders: Order[]) => orders.map(order => (order.kind === 'ping' ? 'ping' : `${order.kind} ${order.id}`))
  expect(given.map(named)).toEqual([['ping', 'post a', 'post b', 'cancel a', 'cancel b']])

  const [gone, lost] = (['cancelled', 'timeout'] as const).map(failure => ({ ok: false, failure, detail: '' }) as const)
  listeners.get('message')?.({
    data: [
      { kind: 'answer', id: 'b', answer: lost! },
      { kind: 'late', id: 'a' },
      { kind: 'answer', id: 'a', answer: gone! },
    ],
  })
  expect(await Promise.all(answers)).toEqual([gone!, lost!])
  expect(given.slice(1).map(named)).toEqual([['until a']])
  // A thread that is gone is told nothing.
  void post('c')
  poster.stop()
  await Promise.resolve()
  expect(given).toHaveLength(2)
})
