// Lists of revoked documents over two nodes: what one has kept, the other knows.
import { expect } from 'bun:test'
import { prefetchLists, readLists } from '../../src/trust/status/refresh.ts'
import type { TestApp } from '../helpers/app.ts'
import { forgeSigner, trust } from '../helpers/forger.ts'
import { hostLists } from '../helpers/list-host.ts'
import { nodesTest, startNodes } from '../helpers/nodes.ts'
import { publishLists, shown } from '../helpers/status-lists.ts'

const HOUR = 3_600_000

async function openShop() {
  const host = await hostLists()
  const issuer = await forgeSigner()
  const config = { egressAllow: [host.allow], extraCaFile: host.caFile, statusMaxAgeMs: 24 * HOUR }
  const nodes = await startNodes({ resolve: async () => ['127.0.0.1'], config })
  const [one] = nodes
  await trust(one, issuer)
  const { id: tenantId, key } = await one.tenant()
  publishLists(host, issuer, () => one.clock.now())
  const show = (app: TestApp, path = '/list') => shown({ app, key, tenantId }, issuer, host.url(path))
  const paths = async () => (await readLists(one.deps)).map(({ uri }) => new URL(uri).pathname)
  return { nodes, host, show, paths }
}

nodesTest('E19: a list that one node has kept spares the other a fetch, and serves it when there is no network', async () => {
  const { nodes, host, show } = await openShop()
  const [one, other] = nodes
  for (const _ of [1, 2]) expect((await show(one)).outcome).toBe('completed')
  expect((await show(other)).outcome).toBe('completed')
  expect(host.requests).toHaveLength(1)
  host.answer(() => new Response('gone', { status: 503 }))
  one.clock.advance(6 * HOUR)
  for (const node of nodes) {
    const { outcome, against } = await show(node)
    expect([outcome, against]).toEqual(['completed', { as_of: '2026-03-04T12:00:00.000Z', from: 'fetched' }])
  }
})

nodesTest('E19: a list that one node fetched again serves the other, which has an older one in memory', async () => {
  const { nodes, host, show } = await openShop()
  const [one, other] = nodes
  for (const node of [one, one, other]) await show(node)
  one.clock.advance(2 * HOUR)
  await prefetchLists(one.deps)
  expect(host.requests).toHaveLength(2)
  host.answer(() => new Response('gone', { status: 503 }))
  const { outcome, findings } = await show(other)
  expect([outcome, findings]).toEqual(['completed', []])
  expect(host.requests).toHaveLength(2)
})

nodesTest('E19: sessions at both nodes at once leave one row of their list, and none of that of a single person', async () => {
  const { nodes, show, paths } = await openShop()
  await show(nodes[0], '/one-person')
  const all = await Promise.all([...nodes, ...nodes, ...nodes].map(node => show(node)))
  expect(all.map(({ outcome }) => outcome)).toEqual(Array(6).fill('completed'))
  expect(await paths()).toEqual(['/list'])
})
