import { beforeAll, expect, test } from 'bun:test'
import { createClient, type VidimusError } from '../../src/sdk/client.ts'
import { createVerification, startApp, type TestApp, until } from '../helpers/app.ts'
import { answerWith, holderOf } from '../helpers/wallet.ts'

/** One more than the attempts of a read. */
const FAILURES = 5

let app: TestApp
let key: string

beforeAll(async () => {
  app = await startApp()
  key = (await app.tenant()).key
})

const nobodyThere = (): Response => {
  throw new TypeError('nobody there')
}

/** A client whose reads with the key fail as `fail` says. */
function clientWith(fail: (nthRead: number) => Response | undefined) {
  const reads: string[] = []
  const others: string[] = []
  const fetchOrFail = async (url: string, init: RequestInit) => {
    if (/\/v1\/verifications\/vs_\w+$/.test(url)) return fail(reads.push(url)) ?? (await fetch(url, init))
    others.push(url)
    return await fetch(url, init)
  }
  return { reads, others, vidimus: createClient({ baseUrl: app.url, apiKey: key, fetch: fetchOrFail }) }
}

test.concurrent.each([
  ['cannot be reached', nobodyThere],
  ['is a proxy that says 502', () => new Response('<h1>Bad Gateway</h1>', { status: 502 })],
])('wait survives a service that %s at its beginning', async (_, failure) => {
  const { id, wallet_uri = '' } = await createVerification(app, key)
  await answerWith(app, await holderOf(app), wallet_uri)
  const { vidimus, reads } = clientWith(nth => (nth <= FAILURES ? failure() : undefined))
  expect(await vidimus.verifications.wait(id)).toMatchObject({ id, status: 'completed' })
  expect(reads).toHaveLength(FAILURES + 1)
})

test.concurrent('wait survives a service that is unreachable after the session has ended', async () => {
  const { id, wallet_uri = '' } = await createVerification(app, key)
  const { vidimus, reads, others } = clientWith(nth => (nth > 1 && nth <= 1 + FAILURES ? nobodyThere() : undefined))
  const waiting = vidimus.verifications.wait(id)
  await until(async () => others.length > 0)
  await answerWith(app, await holderOf(app), wallet_uri)
  expect(await waiting).toMatchObject({ id, status: 'completed' })
  expect(reads).toHaveLength(FAILURES + 2)
})

test.concurrent('wait throws no_answer when the service stays unreachable: the outcome is unknown', async () => {
  const { id } = await createVerification(app, key)
  const { vidimus } = clientWith(nobodyThere)
  const error: VidimusError = await vidimus.verifications.wait(id, { timeoutMs: 300 }).catch(error => error)
  expect(error.code).toBe('no_answer')
})

/** Less than the shortest pause between two polls. */
const SHORT_MS = 450

/** A client of a service that answers at once, and sends no events or ends them. */
function clientOf(status: () => string, events: { status: number; type: string }) {
  const polls: string[] = []
  const fetch = async (url: string) => {
    if (url.endsWith('/events'))
      return new Response('data: {"status":"pending"}\n\n', { status: events.status, headers: { 'content-type': events.type } })
    if (url.endsWith('/status')) polls.push(url)
    return Response.json({ id: 'vs_1', status: status() })
  }
  return { polls, vidimus: createClient({ baseUrl: app.url, apiKey: key, fetch }) }
}

test.concurrent.each([
  ['no events arrive', { status: 404, type: 'application/json' }],
  ['events end at once', { status: 200, type: 'text/event-stream' }],
])('wait throws still_pending when no wallet answers in time, where %s', async (_, events) => {
  const { vidimus } = clientOf(() => 'pending', events)
  const error: VidimusError = await vidimus.verifications.wait('vs_1', { timeoutMs: SHORT_MS }).catch(error => error)
  expect(error).toMatchObject({ code: 'still_pending', maybeDone: false })
})

test.concurrent('wait looks a last time when its time is over, where no events arrive', async () => {
  const endsAt = performance.now() + SHORT_MS
  const isOver = () => performance.now() >= endsAt
  const { vidimus, polls } = clientOf(() => (isOver() ? 'completed' : 'pending'), { status: 404, type: 'application/json' })
  expect(await vidimus.verifications.wait('vs_1', { timeoutMs: SHORT_MS })).toMatchObject({ status: 'completed' })
  expect(polls.length).toBeGreaterThan(0)
})

test.concurrent('wait throws a refusal at the first read', async () => {
  const { vidimus, reads } = clientWith(() => undefined)
  const error: VidimusError = await vidimus.verifications.wait('vs_none').catch(error => error)
  expect([error.code, reads.length]).toEqual(['session_not_found', 1])
})
