// Requests in parallel, every second one to the other node: one of them wins.
import { expect } from 'bun:test'
import { type Answer, outcome } from '../helpers/app.ts'
import { rowsOf } from '../helpers/database.ts'
import { formOf, openSession, postTo, readOf, type Session } from '../helpers/exchange.ts'
import { nodesTest, spreadOver, startNodes, tally } from '../helpers/nodes.ts'
import * as races from '../helpers/scenarios/races.ts'
import { holderOf } from '../helpers/wallet.ts'

const COUNT = 50
const ROUNDS = 10
const WITH_WEBHOOK = { webhook_url: 'https://hooks.shop.example/' }

const start = async () => spreadOver(await startNodes())

async function openShop() {
  const app = await start()
  const { key } = await app.tenant()
  return { app, key, holder: await holderOf(app) }
}

const rowsAbout = ({ app, created }: Session, table: string): number =>
  rowsOf(app, `SELECT 1 FROM ${table} WHERE verification_id = ?`, created.id).length

/** Both acts many times at once; each of them goes to both nodes, and is the first one of its pair on one of them. */
async function meet(one: () => Promise<Answer>, other: () => Promise<Answer>): Promise<[Answer[], Answer[]]> {
  const ones: Promise<Answer>[] = []
  const others: Promise<Answer>[] = []
  for (let i = 0; i < COUNT; i++) {
    if (i % 2 === 0) ones.push(one())
    others.push(other())
    if (i % 2 === 1) ones.push(one())
  }
  return [await Promise.all(ones), await Promise.all(others)]
}

const count = (answers: Answer[], status: number): number => answers.filter(answer => answer.status === status).length

nodesTest('of 50 redemptions of a code over two nodes one gets the session', async () =>
  races.redeemOneCode(await openShop(), COUNT),
)

nodesTest('of 50 claims of a pairing code over two nodes one gets the pair, and 49 get the same refusal', async () =>
  races.claimOneCode(await start(), COUNT),
)

nodesTest('50 claims of a pairing code with one Idempotency-Key over two nodes all get the same pair', async () =>
  races.claimWithOneKey(await start(), COUNT),
)

nodesTest('50 refreshes of a token over two nodes make one pair, and then a revoked device with the new pair dead', async () =>
  races.refreshOneToken(await start(), COUNT),
)

nodesTest('50 refreshes with one Idempotency-Key over two nodes all get the same pair, and the device stays', async () =>
  races.refreshWithOneKey(await start(), COUNT),
)

nodesTest('of 50 right answers over two nodes one is accepted, and one message is owed', async () => {
  const { holder, ...shop } = await openShop()
  const session = await openSession(shop, WITH_WEBHOOK)
  const form = await formOf(session, holder)
  const answers = await races.times(COUNT, () => postTo(session, form))
  expect(tally(answers)).toEqual({ 200: 1, 409: COUNT - 1 })
  expect((await readOf(session)).status).toBe('completed')
  expect([rowsAbout(session, 'verification_results'), rowsAbout(session, 'webhook_deliveries')]).toEqual([1, 1])
})

nodesTest('of 50 cancellations and 50 answers over two nodes one ends the session', async () => {
  const { holder, ...shop } = await openShop()
  for (let round = 0; round < ROUNDS; round++) {
    const session = await openSession(shop, WITH_WEBHOOK)
    const form = await formOf(session, holder)
    const { id } = session.created
    const cancel = () => shop.app.call('POST', `/v1/verifications/${id}/cancel`, { key: shop.key })
    const [cancelled, answered] = await meet(cancel, () => postTo(session, form))
    const { status, error } = await readOf(session)
    const end = error?.code ?? status
    expect([end, count(answered, 200), count(cancelled, 200)]).toEqual(
      end === 'completed' ? ['completed', 1, 0] : ['cancelled', 0, COUNT],
    )
    expect([...cancelled, ...answered].map(outcome).filter(each => each.startsWith('5'))).toEqual([])
    const records = rowsOf(shop.app, 'SELECT 1 FROM audit_entries WHERE subject = ?', shop.app.deps.audit.subjectOf(id))
    expect([records.length, rowsAbout(session, 'webhook_deliveries')]).toEqual([2, 1])
  }
})

nodesTest('of 50 erasures and 50 answers over two nodes one erases, at most one answers, and nothing is left', async () => {
  const { holder, ...shop } = await openShop()
  for (let round = 0; round < ROUNDS; round++) {
    const session = await openSession(shop, WITH_WEBHOOK)
    const form = await formOf(session, holder)
    const erase = () => shop.app.call('DELETE', `/v1/verifications/${session.created.id}`, { key: shop.key })
    const [erased, answered] = await meet(erase, () => postTo(session, form))
    expect(tally(erased)).toEqual({ 200: 1, 404: COUNT - 1 })
    expect(count(answered, 200)).toBeLessThanOrEqual(1)
    expect(answered.map(outcome).filter(each => !/^(200|404|409)/.test(each))).toEqual([])
    for (const table of ['verification_results', 'verification_events', 'webhook_deliveries', 'session_keys'])
      expect([table, rowsAbout(session, table)]).toEqual([table, 0])
  }
})
