// A phone that is read in person, with every second request at the other node.
import { expect } from 'bun:test'
import { createPhone } from '../../src/sandbox/phone/phone.ts'
import { keepEntry, openEntry } from '../../src/verifications/exchange/in-person/entry.ts'
import { findSession } from '../../src/verifications/store.ts'
import { createVerification, outcome, type TestApp } from '../helpers/app.ts'
import { inTheMiddle } from '../helpers/barrier.ts'
import { bytesOf, eventsOf, hasEntry, pass, readOf, readPhone, scan } from '../helpers/in-person.ts'
import { nodesTest, spreadOver, startNodes, tally } from '../helpers/nodes.ts'
import { holderOf } from '../helpers/wallet.ts'

async function openShop() {
  const app = spreadOver(await startNodes())
  const { key } = await app.tenant()
  return { app, key, holder: await holderOf(app) }
}

nodesTest('P19: fifty scans of one code at once, over two nodes, get one message', async () => {
  const { app, key } = await openShop()
  const { id } = await createVerification(app, key)
  const { code } = await createPhone()
  const all = await Promise.all(Array.from({ length: 50 }, () => scan({ app, key }, id, code)))
  expect(tally(all)).toEqual({ 200: 50 })
  expect(new Set(all.map(({ body }) => body.message)).size).toBe(1)
  expect(eventsOf(app, id)).toEqual(['in_person_requested'])
})

nodesTest('P19: a code that one node stores in the middle of the other one’s request counts for both', async () => {
  const { app, key } = await openShop()
  const { id } = await createVerification(app, key)
  const phone = await createPhone()
  await scan({ app, key }, id, phone.code)
  const session = (await findSession(app.deps.db, id))!
  const known = (await openEntry(app.deps, app.deps.db, session))!
  const asked = { version: '1.0', extended: false, offers: [], documents: 1 } as const
  const store = (message: string) => (deps: TestApp['deps']) =>
    keepEntry(deps, session, { ...known, engagement: 'other', message }, asked)
  const [one, two] = await inTheMiddle(app, store('AA'), store('BB'))
  expect(one).toEqual(two)
})

nodesTest('an answer is taken by another node than the one that asked', async () => {
  const { app, key, holder } = await openShop()
  for (let i = 0; i < 4; i++) {
    const { id, answer } = await readPhone({ app, key }, holder)
    // The next request goes to the other node each time.
    if (i % 2 === 0) await readOf({ app, key }, id)
    expect((await pass({ app, key }, id, answer)).body.status).toBe('completed')
    expect(hasEntry(app, id)).toBe(false)
  }
})

nodesTest('P34: the same answer a hundred times at once, over two nodes, is recorded once', async () => {
  const { app, key, holder } = await openShop()
  const { id, answer } = await readPhone({ app, key }, holder)
  expect(tally(await Promise.all(Array.from({ length: 100 }, () => pass({ app, key }, id, answer))))).toEqual({ 200: 1, 409: 99 })
})

nodesTest('an answer to a code that the other node replaced is refused', async () => {
  const { app, key, holder } = await openShop()
  const first = await readPhone({ app, key }, holder)
  const phone = await createPhone()
  const { body } = await scan({ app, key }, first.id, phone.code)
  expect(outcome(await pass({ app, key }, first.id, first.answer))).toBe('400 invalid_wallet_response')
  const answer = await (await phone.open(bytesOf(body.message))).answer(holder, {})
  expect((await pass({ app, key }, first.id, answer)).body.status).toBe('completed')
})
