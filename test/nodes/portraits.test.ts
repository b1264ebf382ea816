import { expect } from 'bun:test'
import { authenticate } from '../../src/access/authenticate.ts'
import type { Db } from '../../src/db/engine.ts'
import type { Runner } from '../../src/db/postgres/pool.ts'
import { decideComparison } from '../../src/verifications/comparison/compare.ts'
import type { Deps } from '../../src/verifications/deps.ts'
import { sweepPortraits } from '../../src/verifications/end/release.ts'
import type { Comparison, Verification } from '../../src/verifications/schema.ts'
import type { TestApp } from '../helpers/app.ts'
import { pair } from '../helpers/devices.ts'
import { formOf, openSession, postTo, readOf } from '../helpers/exchange.ts'
import { nodesTest, rowsIn, startNodes } from '../helpers/nodes.ts'
import { holderOf, verifyWith } from '../helpers/wallet.ts'

const FIFTEEN_MINUTES_MS = 15 * 60_000

async function startWithPortrait() {
  const nodes = await startNodes()
  const { key } = await nodes[0].tenant()
  const { verification } = await verifyWith(nodes[0], key, 'adult', { body: { template: 'age_over_18_photo' } })
  const read = async (app: TestApp) => (await app.call<Verification>('GET', `/v1/verifications/${verification.id}`, { key })).body
  const hasPortrait = async (app: TestApp) => /"(?:portrait|picture)"/.test(JSON.stringify(await read(app)))
  const rows = () => rowsIn<{ sealed: Uint8Array }>(nodes[0], 'SELECT * FROM portraits')
  return { nodes, key, id: verification.id, hasPortrait, rows }
}

nodesTest('a portrait is shown by every node for 15 minutes, and swept after that', async () => {
  const { nodes, hasPortrait, rows } = await startWithPortrait()
  nodes[0].clock.advance(FIFTEEN_MINUTES_MS - 1)
  expect([await hasPortrait(nodes[0]), await hasPortrait(nodes[1])]).toEqual([true, true])
  nodes[0].clock.advance(1)
  expect([await hasPortrait(nodes[0]), await hasPortrait(nodes[1])]).toEqual([false, false])
  expect(await rows()).toHaveLength(1)
  await sweepPortraits(nodes[1].deps)
  expect(await rows()).toHaveLength(0)
})

nodesTest('a portrait is kept sealed in an unlogged table, and goes with its session', async () => {
  const { nodes, key, id, rows } = await startWithPortrait()
  const [row] = await rows()
  expect(Buffer.from(row!.sealed).toString('latin1')).not.toContain('portrait')
  const [table] = await rowsIn(nodes[0], "SELECT relpersistence FROM pg_class WHERE relname = 'portraits'")
  expect(table).toEqual({ relpersistence: 'u' })
  expect((await nodes[1].call('DELETE', `/v1/verifications/${id}`, { key })).status).toBe(200)
  expect(await rows()).toEqual([])
})

nodesTest('a photo that waits is shown by every node, and of two decisions on two nodes one counts', async () => {
  const nodes = await startNodes()
  const { key } = await nodes[0].tenant()
  const till = await pair(nodes[0], key, { allowed_templates: ['age_over_18_photo'] })
  const session = await openSession({ app: nodes[0], key: till.access_token }, { template: 'age_over_18_photo' })
  await postTo(session, await formOf(session, await holderOf(nodes[0])))
  const path = `/v1/verifications/${session.created.id}/comparison`
  const shown = await Promise.all(nodes.map(app => app.call<Comparison>('GET', path, { key: till.access_token })))
  expect(shown.map(({ status, body }) => [status, body.portrait.startsWith('data:image/')])).toEqual(Array(2).fill([200, true]))
  const decided = await Promise.all(
    nodes.map((app, i) => app.call('POST', path, { key: till.access_token, body: { same_person: i === 0 } })),
  )
  expect(decided.map(({ status }) => status).sort()).toEqual([200, 409])
  const isSame = decided[0]!.status === 200
  expect((await readOf({ ...session, app: nodes[1] })).status).toBe(isSame ? 'completed' : 'failed')
  expect(await rowsIn(nodes[0], 'SELECT * FROM portraits')).toEqual([])
})

nodesTest('a decision between whose statements the answer comes is 404, and the next one counts', async () => {
  const nodes = await startNodes()
  const { key } = await nodes[0].tenant()
  const till = await pair(nodes[0], key, { allowed_templates: ['age_over_18_photo'] })
  const session = await openSession({ app: nodes[0], key: till.access_token }, { template: 'age_over_18_photo' })
  const form = await formOf(session, await holderOf(nodes[0]))
  const { deps } = nodes[1]
  const caller = await authenticate(deps, `Bearer ${till.access_token}`)
  const decide = (write: Deps['write']) =>
    decideComparison({ ...deps, write }, caller, session.created.id, { isSame: true, requestId: 'req_1' })
  const answered = decide(work => deps.write(tx => work(afterFirst(tx, () => postTo(session, form)))))
  expect(await answered.catch(error => error.code)).toBe('session_not_found')
  expect((await readOf(session)).responded_at).toBeDefined()
  expect((await decide(deps.write)).status).toBe('completed')
})

/** A transaction whose first statement is followed by an act of somebody else. */
function afterFirst(tx: Db, act: () => Promise<unknown>): Db {
  const { $client: client } = tx as unknown as { $client: Runner }
  let hasActed = false
  const rows: Runner['rows'] = async (text, params) => {
    const found = await client.rows<never>(text, params)
    if (!hasActed) {
      hasActed = true
      await act()
    }
    return found
  }
  return new Proxy(tx, { get: (target, name) => (name === '$client' ? { ...client, rows } : Reflect.get(target, name)) })
}
