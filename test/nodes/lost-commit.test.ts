// P3: the connection is cut after COMMIT was sent and before its answer came. Nobody can tell whether it took place, so
// nothing is repeated by itself; the client's own repeat finds out.
import { expect } from 'bun:test'
import type { Verification } from '../../src/verifications/schema.ts'
import { startApp } from '../helpers/app.ts'
import { nodesTest, rowsIn, tally } from '../helpers/nodes.ts'
import { startTcpProxy } from '../helpers/tcp-proxy.ts'

/** Passes everything on, but cuts the connection instead of the answers to the next `toLose` commits. */
function startLossyProxy(target: { hostname: string; port: number }) {
  const state = { toLose: 0, lost: 0 }
  const committing = new WeakSet<object>()
  const proxy = startTcpProxy(() => [target], {
    passesRequest(client, chunk) {
      if (state.toLose > 0 && Buffer.from(chunk).includes('COMMIT')) {
        state.toLose--
        committing.add(client)
      }
      return true
    },
    passesAnswer(client) {
      if (!committing.has(client)) return true
      state.lost++
      client.terminate()
      return false
    },
  })
  return { state, ...proxy }
}

nodesTest('a creation whose commit was lost on the way is 500, and its repeat gives the session that was made', async () => {
  const direct = await startApp()
  const { id, key } = await direct.tenant()
  const settings = direct.deps.config.database!
  const proxy = startLossyProxy({ hostname: settings.host, port: settings.port })
  const app = await startApp({ beside: direct, config: { database: { ...settings, port: proxy.port } } })
  const create = (on: typeof app, i: number) =>
    on.call<Verification>('POST', '/v1/verifications', {
      key,
      body: { template: 'age_over_18' },
      headers: { 'idempotency-key': `order-${i}` },
    })
  await create(app, 0)
  const first: Awaited<ReturnType<typeof create>>[] = []
  // The commit that is lost may be that of a job instead of a creation: then once more.
  while (first.every(({ status }) => status === 201)) {
    const made = first.length
    proxy.state.toLose = 1
    first.push(...(await Promise.all(Array.from({ length: 8 }, (_, i) => create(app, made + i + 1)))))
  }
  expect(proxy.state.lost).toBeGreaterThan(0)
  for (const { status } of first) expect([201, 500]).toContain(status)
  const again = await Promise.all(first.map((_, i) => create(direct, i + 1)))
  expect(tally(again)).toEqual({ 201: first.length })
  const [row] = await rowsIn(
    direct,
    `SELECT (SELECT sum(verifications_created) FROM usage_days WHERE tenant_id = $1)::bigint AS charged, count(*) AS sessions
     FROM verification_sessions WHERE tenant_id = $1`,
    [id],
  )
  expect(row).toEqual({ charged: first.length + 1, sessions: first.length + 1 })
  await app.stop()
  proxy.stop()
})
