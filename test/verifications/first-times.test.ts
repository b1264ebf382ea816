// The first completed sessions of a tenant, which the page "Go live" shows.
import { afterAll, expect, test } from 'bun:test'
import { browseAudit } from '../../src/audit/browse.ts'
import type { Db } from '../../src/db/engine.ts'
import { createFirstTimes } from '../../src/tenants/first-times.ts'
import { readGoLive } from '../../src/tenants/go-live.ts'
import { cleanUp, NOON, startApp, type TestApp } from '../helpers/app.ts'
import { codeIn, formOf, openSession, postTo, readOf } from '../helpers/exchange.ts'
import { forgeSigner, holderOfPid, trust } from '../helpers/forger.ts'
import { sdJwtQuery } from '../helpers/queries.ts'
import { holderOf } from '../helpers/wallet.ts'

afterAll(cleanUp)

const BODY = { query: { credentials: [sdJwtQuery('pid', [['family_name']])] } }
const MINUTE_MS = 60_000

const issuer = await forgeSigner()
const foreign = await holderOfPid(issuer, { family_name: 'Mustermann' })

async function start() {
  const app = await startApp()
  await trust(app, issuer)
  await trust(app, issuer, { environment: 'live' })
  return { app, shop: await app.tenant() }
}

type Wallet = typeof foreign

/** Answers a session a minute after the last one, and gives its time. */
async function complete(app: TestApp, key: string, holder: Wallet = foreign, body: object = BODY) {
  app.clock.advance(MINUTE_MS)
  const session = await openSession({ app, key }, body)
  const { status, body: answer } = await postTo(session, await formOf(session, holder))
  expect(status).toBe(200)
  return { session, at: app.clock.now(), answer }
}

async function firstsOf({ deps }: TestApp, tenantId: string) {
  const { firstTestAt, firstLiveAt } = await readGoLive(deps.db, tenantId)
  return { test: firstTestAt, live: firstLiveAt }
}

test('the first completed session of each environment is noted once, for each tenant', async () => {
  const { app, shop } = await start()
  const bar = await app.tenant()
  const { at: testAt } = await complete(app, shop.key)
  await complete(app, shop.key)
  expect(await firstsOf(app, shop.id)).toEqual({ test: testAt, live: null })
  const { at: liveAt } = await complete(app, shop.liveKey)
  await complete(app, shop.liveKey)
  await complete(app, shop.key)
  expect(await firstsOf(app, shop.id)).toEqual({ test: testAt, live: liveAt })
  expect(await firstsOf(app, bar.id)).toEqual({ test: null, live: null })
})

test('a session with the sandbox wallet is not the first test, and a failed one is no first at all', async () => {
  const { app, shop } = await start()
  await complete(app, shop.key, await holderOf(app))
  await complete(app, shop.key, await holderOfPid(await forgeSigner(), { family_name: 'Mustermann' }))
  await complete(app, shop.liveKey, await holderOf(app))
  expect(await firstsOf(app, shop.id)).toEqual({ test: null, live: null })
})

test('a held answer is noted when its code is redeemed, and the audit record of that names its anchor', async () => {
  const { app, shop } = await start()
  const held = { ...BODY, release: 'on_redeem', redirect_url: 'https://shop.example/done' }
  const sandbox = await complete(app, shop.key, await holderOf(app), held)
  const { session, answer } = await complete(app, shop.key, foreign, held)
  const redeem = ({ created }: typeof session, code: string) =>
    app.call('POST', `/v1/verifications/${created.id}/redeem`, { key: shop.key, body: { response_code: code } })
  expect((await redeem(sandbox.session, codeIn(sandbox.answer))).status).toBe(200)
  expect(await firstsOf(app, shop.id)).toEqual({ test: null, live: null })
  app.clock.advance(MINUTE_MS)
  expect((await redeem(session, codeIn(answer))).status).toBe(200)
  expect(await firstsOf(app, shop.id)).toEqual({ test: app.clock.now(), live: null })
  const { records } = await browseAudit(app.deps, { tenantId: shop.id, limit: 100 })
  const trustOf = ({ created }: typeof session) =>
    records.find(({ action, details }) => action === 'verification.completed' && details?.id === created.id)?.details?.trust
  expect(trustOf(sandbox.session)).toEqual([{ anchor: 'sandbox' }])
  expect(trustOf(session)).toEqual([{ anchor: expect.stringMatching(/^anc_/) }])
})

test('a restart keeps the first times', async () => {
  const { app, shop } = await start()
  const { at } = await complete(app, shop.key)
  await app.stop()
  const again = await startApp({ dir: app.dir, now: NOON + 60 * MINUTE_MS })
  await complete(again, shop.key)
  expect(await firstsOf(again, shop.id)).toEqual({ test: at, live: null })
})

test('sessions that complete at once are all recorded, and one time is kept', async () => {
  const { app, shop } = await start()
  const sessions = await Promise.all(Array.from({ length: 10 }, () => openSession({ app, key: shop.key }, BODY)))
  const forms = await Promise.all(sessions.map(session => formOf(session, foreign)))
  const answers = await Promise.all(sessions.map((session, i) => postTo(session, forms[i]!)))
  expect(answers.map(({ status }) => status)).toEqual(sessions.map(() => 200))
  const times = (await Promise.all(sessions.map(readOf))).map(({ responded_at = '' }) => Date.parse(responded_at))
  expect(times).toContain((await firstsOf(app, shop.id)).test ?? 0)
})

test('a first time costs no statement once it is remembered; before the commit it is not remembered', async () => {
  let statements = 0
  const chain: object = new Proxy(() => {}, { get: (_, name) => (name === 'then' ? undefined : chain), apply: () => chain })
  const tx = new Proxy({} as Db, {
    get() {
      statements++
      return chain
    },
  })
  const firsts = createFirstTimes()
  const owner = { tenantId: 'ten_1', environment: 'test' as const }
  await firsts.note(tx, owner, NOON)
  await firsts.note(tx, owner, NOON)
  expect(statements).toBe(2)
  firsts.remember(owner)
  await firsts.note(tx, owner, NOON)
  expect(statements).toBe(2)
  await firsts.note(tx, { ...owner, environment: 'live' }, NOON)
  expect(statements).toBe(3)
})
