// P4: the network between a node and the database takes everything and passes nothing on, without closing a connection.
import { expect } from 'bun:test'
import { isUnavailable } from '../../src/base/unavailable.ts'
import { lockTenant } from '../../src/tenants/store.ts'
import { startApp } from '../helpers/app.ts'
import { nodesTest } from '../helpers/nodes.ts'
import { startTcpProxy } from '../helpers/tcp-proxy.ts'

/** Passes everything on, or swallows it; then the database does not learn of a client that leaves either. */
function startProxy(target: { hostname: string; port: number }) {
  const state = { isSwallowing: false }
  const passes = () => !state.isSwallowing
  return { state, ...startTcpProxy(() => [target], { passesRequest: passes, passesAnswer: passes, passesClose: passes }) }
}

nodesTest('a node behind a network that swallows everything answers 500, frees its locks, and recovers', async () => {
  const direct = await startApp()
  const { id, key } = await direct.tenant()
  const settings = direct.deps.config.database!
  const proxy = startProxy({ hostname: settings.host, port: settings.port })
  const app = await startApp({ beside: direct, config: { database: { ...settings, port: proxy.port } } })
  const create = (on: typeof app) => on.call('POST', '/v1/verifications', { key, body: { template: 'age_over_18' } })
  expect((await create(app)).status).toBe(201)

  const opened = Promise.withResolvers<void>()
  const freed = Promise.withResolvers<void>()
  const held = app.deps.write(async tx => {
    await lockTenant(tx, id)
    opened.resolve()
    await freed.promise
  })
  await opened.promise
  proxy.state.isSwallowing = true
  const asked = create(app)
  // The server ends the transaction, whose node it hears nothing of.
  await direct.deps.write(tx => lockTenant(tx, id))
  expect((await create(direct)).status).toBe(201)
  freed.resolve()
  expect(await held.then(() => 'done', isUnavailable)).toBe(true)
  const refused = await asked
  expect(refused.status).toBe(500)

  proxy.state.isSwallowing = false
  while ((await create(app)).status !== 201);
  await app.stop()
  proxy.stop()
})
