// Answers that race: with the deadline of their session, and erasures with redemptions.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { decline, type Holder } from '../../src/sandbox/wallet.ts'
import { type Answer, cleanUp, startApp, type TestApp } from '../helpers/app.ts'
import { formOf, openSession, postTo, readOf, type Session, type WalletAnswer } from '../helpers/exchange.ts'
import { holderOf } from '../helpers/wallet.ts'

let app: TestApp
let key: string
let holder: Holder

beforeAll(async () => {
  app = await startApp()
  ;({ key } = await app.tenant())
  holder = await holderOf(app)
})
afterAll(cleanUp)

const ROUNDS = 20

type Erased = Answer<{ deleted: object }>

describe('the deadline inside a race of right answers', () => {
  const RACERS = 200

  /** All at once; the deadline comes after so many turns of the event loop, and with the first answer at the latest. */
  async function race(turns: number): Promise<{ session: Session; statuses: number[] }> {
    const session = await openSession({ app, key }, { ttl_seconds: 60 })
    const form = await formOf(session, holder)
    app.clock.set(Date.parse(session.created.expires_at) - 1)
    const answers = Array.from({ length: RACERS }, () => postTo(session, form))
    let isAnswered = false
    void Promise.race(answers).then(() => {
      isAnswered = true
    })
    for (let turn = 0; turn < turns && !isAnswered; turn++) await new Promise(resolve => setImmediate(resolve))
    app.clock.advance(1)
    return { session, statuses: (await Promise.all(answers)).map(({ status }) => status) }
  }

  test('one is accepted and the others are 409; or none, and all are 410', async () => {
    const outcomes = new Set<string>()
    for (const turns of [0, 10, 20, 40, 80, 160, Number.POSITIVE_INFINITY]) {
      const { session, statuses } = await race(turns)
      const { status } = await readOf(session)
      const counts = [200, 409, 410].map(code => statuses.filter(each => each === code).length)
      outcomes.add(status)
      expect([turns, status, counts]).toEqual([turns, status, status === 'completed' ? [1, RACERS - 1, 0] : [0, 0, RACERS]])
    }
    // The deadline came first sometimes, and sometimes an answer did.
    expect([...outcomes].sort()).toEqual(['completed', 'expired'])
  })
})

test('an erasure that meets a redemption: the code gives the session or 404, and afterwards there is neither', async () => {
  const seen = new Set<number>()
  for (let round = 0; round < ROUNDS; round++) {
    const session = await openSession({ app, key }, { redirect_url: 'https://shop.example/done' })
    const { body } = await postTo(session, (await decline(session.request)).form)
    const response_code = new URL(body.redirect_uri ?? '').hash.slice('#response_code='.length)
    const path = `/v1/verifications/${session.created.id}`
    const redeem = () => app.call('POST', `${path}/redeem`, { key, body: { response_code } })
    const erase = () => app.call('DELETE', path, { key })
    const isErasedFirst = round % 2 === 0
    const first = isErasedFirst ? erase() : redeem()
    // A different moment each time; once each of them is there before the other.
    await (round < 2 ? first : Bun.sleep(round / 8))
    const second = isErasedFirst ? redeem() : erase()
    const [erased, redeemed] = await Promise.all(isErasedFirst ? [first, second] : [second, first])
    expect(erased.status).toBe(200)
    expect([200, 404]).toContain(redeemed.status)
    seen.add(redeemed.status)
    expect([(await redeem()).status, (await app.call('GET', path, { key })).status]).toEqual([404, 404])
  }
  expect(seen).toEqual(new Set([200, 404]))
})

test('an erasure that meets the answer of a wallet: one of them is too late, and afterwards nothing is there', async () => {
  const seen = new Set<number>()
  for (let round = 0; round < ROUNDS; round++) {
    const session = await openSession({ app, key }, { webhook_url: 'https://hooks.shop.example/' })
    const form = await formOf(session, holder)
    const path = `/v1/verifications/${session.created.id}`
    const erase = (): Promise<Erased> => app.call('DELETE', path, { key })
    const isErasedFirst = round % 2 === 0
    const first = isErasedFirst ? erase() : postTo(session, form)
    // A different moment each time; once each of them is there before the other.
    await (round < 2 ? first : Bun.sleep(round / 4))
    const second = isErasedFirst ? postTo(session, form) : erase()
    const [erased, { status }] = (await Promise.all(isErasedFirst ? [first, second] : [second, first])) as [Erased, WalletAnswer]
    expect(erased.status).toBe(200)
    expect([200, 404]).toContain(status)
    seen.add(status)
    const rows = status === 200 ? 1 : 0
    expect(erased.body.deleted).toEqual({ verification_sessions: 1, verification_results: rows, webhook_deliveries: rows })
    expect((await app.call('GET', path, { key })).status).toBe(404)
    expect((await postTo(session, form)).status).toBe(404)
  }
  expect(seen).toEqual(new Set([200, 404]))
})
