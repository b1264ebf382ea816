// Where a message may go is asked again at each attempt: names that lead elsewhere by then, and the operator's own exceptions.
import { afterAll, expect, test } from 'bun:test'
import { createResolver } from '../../src/egress/resolve.ts'
import { decline } from '../../src/sandbox/wallet/wallet.ts'
import { cleanUp, outcome, type TestApp } from '../helpers/app.ts'
import { openSession, type Party, postTo, type Session } from '../helpers/exchange.ts'
import { startNameServer } from '../helpers/name-server.ts'
import { logOf, receive, receiveRaw, startAppFor, startTenantFor, untilAttempted } from '../helpers/receiver.ts'

afterAll(cleanUp)

const IMPATIENT = { resolveMs: 300, connectMs: 5000, totalMs: 15_000, answerBytes: 4096 }
const PUBLIC = '93.184.215.14'

/** A shop, and a name system that the test changes as it likes. */
const startShop = (receivers: Parameters<typeof startTenantFor>[0], resolve: () => Promise<string[]>) =>
  startTenantFor(receivers, { resolve, sending: { limits: IMPATIENT } })

const open = (party: Party, url: string) => openSession(party, { webhook_url: url })

/** The wallet declines, and the message is tried once. */
async function attemptOf(session: Session) {
  const { app, created } = session
  await postTo(session, (await decline(session.request)).form)
  app.clock.advance(10)
  await untilAttempted(app, created.id, 1)
  const { delivery, attempts } = logOf(app, created.id)
  return [attempts[0]?.outcome, delivery?.status]
}

const createAt = ({ app, key }: { app: TestApp; key: string }, url: string) =>
  app.call<{ error: { code: string } }>('POST', '/v1/verifications', { key, body: { template: 'age_over_18', webhook_url: url } })

test('a name that cannot be found is looked up again at the next attempt', async () => {
  const receiver = receive()
  let isPublished = false
  const shop = await startShop([receiver], async () =>
    isPublished ? ['127.0.0.1'] : await Promise.reject(new Error('ENOTFOUND')),
  )
  const session = await open(shop, receiver.url())
  expect(await attemptOf(session)).toEqual(['dns_failed', 'pending'])
  isPublished = true
  shop.app.clock.advance(6000)
  await untilAttempted(shop.app, session.created.id, 2)
  expect(logOf(shop.app, session.created.id).delivery?.status).toBe('delivered')
})

test('a name that no name server answers for counts as not found', async () => {
  let isSilent = false
  const shop = await startShop([], () => (isSilent ? new Promise<string[]>(() => {}) : Promise.resolve([PUBLIC])))
  const session = await open(shop, 'https://shop.example/')
  isSilent = true
  expect(await attemptOf(session)).toEqual(['dns_failed', 'pending'])
})

test('a tenant whose names are never answered creates its sessions, and its look-ups count as its own', async () => {
  const servers = await startNameServer(() => undefined)
  const lookUp = createResolver({ servers: servers.servers, limits: { placeMs: 1, lookUpMs: 1, otherFamilyMs: 1 } })
  const asked: (string | undefined)[] = []
  const app = await startAppFor([], {
    resolve: (host, tenantId) => {
      asked.push(tenantId)
      return lookUp(host, tenantId)
    },
    sending: { limits: IMPATIENT },
  })
  const { id, key } = await app.tenant()
  const names = Array.from({ length: 20 }, (_, i) => `https://shop.dead${i}.example/hook`)
  const sessions = await Promise.all(names.map(url => open({ app, key }, url)))
  expect(asked).toEqual(Array.from({ length: 20 }, () => id))
  // Sessions of one moment are dated a millisecond apart, in the order in which they were written.
  app.clock.advance(names.length)
  expect(await attemptOf(sessions[0]!)).toEqual(['dns_failed', 'pending'])
  expect(asked.slice(20)).toEqual([id])
  servers.stop()
})

test('a name that was public at creation and is forbidden at delivery is never connected to', async () => {
  const inside = await receiveRaw()
  let answers = [PUBLIC]
  const shop = await startShop([], async () => answers)
  for (const forbidden of [
    ['127.0.0.1'],
    ['::1'],
    ['::ffff:127.0.0.1'],
    ['::ffff:7f00:1'],
    ['64:ff9b::7f00:1'],
    ['169.254.169.254'],
    ['10.0.0.1'],
    ['0.0.0.0'],
    [PUBLIC, '127.0.0.1'],
    ['127.0.0.1', PUBLIC],
  ]) {
    answers = [PUBLIC]
    const session = await open(shop, inside.url())
    answers = forbidden
    expect([forbidden, ...(await attemptOf(session))]).toEqual([forbidden, 'refused_address', 'pending'])
  }
  expect(inside.lines).toEqual([])
})

test('a destination that the operator opened is called; its neighbour and its other port are not', async () => {
  const opened = receive()
  const closed = receive()
  let answers = ['127.0.0.1']
  const shop = await startShop([opened], async () => answers)
  const [exact, neighbour] = [await open(shop, opened.url()), await open(shop, opened.url())]
  expect(outcome(await createAt(shop, closed.url()))).toBe('422 invalid_webhook_url')
  expect(await attemptOf(exact)).toEqual(['delivered', 'delivered'])
  answers = ['127.0.0.2']
  expect(await attemptOf(neighbour)).toEqual(['refused_address', 'pending'])
  expect([opened.received.length, closed.received.length]).toEqual([1, 0])
})

test('our own listener is refused even if the operator opened it, at creation and at delivery', async () => {
  let answers = [PUBLIC]
  const shop = await startShop([], async () => answers)
  const port = Number(new URL(shop.app.url).port)
  shop.app.deps.config.egressAllow.push({ address: '127.0.0.1', prefix: 32, port })
  const url = `http://shop.example:${port}/own`
  const session = await open(shop, url)
  answers = ['127.0.0.1']
  expect(outcome(await createAt(shop, url))).toBe('422 invalid_webhook_url')
  expect(await attemptOf(session)).toEqual(['refused_address', 'pending'])
})

test('plain http of a live session is refused at delivery when its name leads out of what the operator opened', async () => {
  const receiver = receive()
  let answers = ['127.0.0.1']
  const { app } = await startShop([receiver], async () => answers)
  const { key, liveKey } = await app.tenant()
  const [live, staying] = [await open({ app, key: liveKey }, receiver.url()), await open({ app, key: liveKey }, receiver.url())]
  expect(await attemptOf(staying)).toEqual(['delivered', 'delivered'])
  answers = [PUBLIC]
  expect(await attemptOf(live)).toEqual(['refused_address', 'pending'])
  expect((await createAt({ app, key: liveKey }, receiver.url())).status).toBe(422)
  expect((await createAt({ app, key }, receiver.url())).status).toBe(201)
})

test('a receiver with several addresses is called at another one after each attempt that failed', async () => {
  const receiver = receive()
  // Nobody listens at the first two.
  const allow = ['127.0.0.3', '127.0.0.2', '127.0.0.1'].map(address => ({ address, prefix: 32, port: receiver.port }))
  const shop = await startShop(
    allow.map(each => ({ allow: each })),
    async () => allow.map(({ address }) => address),
  )
  const session = await open(shop, receiver.url())
  expect(await attemptOf(session)).toEqual(['connection_failed', 'pending'])
  for (const ended of [2, 3]) {
    shop.app.clock.advance(72_000)
    await untilAttempted(shop.app, session.created.id, ended)
  }
  const outcomes = logOf(shop.app, session.created.id).attempts.map(({ outcome }) => outcome)
  expect(outcomes).toEqual(['connection_failed', 'connection_failed', 'delivered'])
})
