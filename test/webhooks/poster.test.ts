// A node that stood still may have been taken for dead, and what it is about to send may be erased.
import { afterAll, expect, test } from 'bun:test'
import type { EgressCall } from '../../src/egress/client.ts'
import { createPoster, startPosterThread } from '../../src/webhooks/poster.ts'
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
