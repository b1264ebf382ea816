import { expect } from 'bun:test'
import { createVerification, startApp } from '../helpers/app.ts'
import { nodesTest, rowsIn, startNodes, tally } from '../helpers/nodes.ts'

nodesTest('ten wrong pairing codes are the budget of a network over both nodes', async () => {
  const nodes = await startNodes({ rateLimitScale: 1 })
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, i) =>
      nodes[i % 2]!.call('POST', '/v1/devices/enroll', {
        body: { pairing_code: 'ABCD-EFGH' },
      }),
    ),
  )
  const counts = tally(answers)
  expect(counts[429]).toBe(30)
  expect(answers.find(({ status }) => status === 429)!.headers.get('retry-after')).toBe('12')
  nodes[0].clock.advance(12_000)
  const again = await Promise.all(
    [0, 1].map(i => nodes[i]!.call('POST', '/v1/devices/enroll', { body: { pairing_code: 'ABCD-EFGH' } })),
  )
  expect(again.filter(({ status }) => status === 429)).toHaveLength(1)
})

nodesTest('budgets in rows hold no address, survive a restart of a node, and are swept when they are full', async () => {
  const [one, other] = await startNodes({ rateLimitScale: 1 })
  await one.deps.guesses.take('login', '192.0.2.7')
  const rows = await rowsIn<{ name: string }>(one, 'SELECT * FROM rate_buckets')
  expect(rows).toHaveLength(1)
  expect(JSON.stringify(rows)).not.toContain('192.0.2.7')
  await one.stop()
  const third = await startApp({ rateLimitScale: 1, beside: other })
  expect((await third.deps.guesses.take('login', '192.0.2.7')).remaining).toBe(18)
  await third.deps.guesses.giveBack('login', '192.0.2.7')
  expect((await third.deps.guesses.take('login', '192.0.2.7')).remaining).toBe(18)
  third.clock.advance(8 * 3_600_000)
  await other.deps.shortLived.sweep()
  expect(await rowsIn(other, 'SELECT name FROM rate_buckets')).toEqual([])
})

nodesTest('polls are a rate of each node, and answers of a wallet are guesses of all', async () => {
  const nodes = await startNodes({ rateLimitScale: 1 })
  const { key } = await nodes[0].tenant()
  const { id } = await createVerification(nodes[0], key)
  const ask = async (method: string, path: string, count: number) =>
    await Promise.all(
      nodes.map(async node => tally(await Promise.all(Array.from({ length: count }, () => node.call(method, path))))),
    )
  expect(await ask('GET', `/v1/verifications/${id}/status`, 11)).toEqual([
    { 200: 10, 429: 1 },
    { 200: 10, 429: 1 },
  ])
  const answers = await ask('POST', `/wallet/response/${id}`, 5)
  // One node may have answered all that were let through.
  expect((answers[0]![429] ?? 0) + (answers[1]![429] ?? 0)).toBe(5)
})
