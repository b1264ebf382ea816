// P4: the network between a node and the database takes everything and passes nothing on, without closing a connection.
import { expect, setDefaultTimeout } from 'bun:test'
import type { Socket } from 'bun'
import { lockTenant } from '../../src/tenants/store.ts'
import { isUnavailable } from '../../src/unavailable.ts'
import { startApp } from '../helpers/app.ts'
import { nodesTest } from '../helpers/nodes.ts'

setDefaultTimeout(120_000)

type Piped = { other?: Socket<Piped>; early: Uint8Array[] }

/** Passes everything on, or swallows it. */
function startProxy(target: { hostname: string; port: number }) {
  const state = { isSwallowing: false }
  const pass = (to: Socket<Piped> | undefined, chunk: Uint8Array) => {
    if (!state.isSwallowing) to?.write(chunk)
  }
  const server = Bun.listen<Piped>({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      async open(client) {
        client.data = { early: [] }
        const database = await Bun.connect<Piped>({
          ...target,
          data: { other: client, early: [] },
          socket: { data: (_, chunk) => pass(client, chunk), close: () => void client.terminate(), error() {} },
        })
        client.data.other = database
        for (const chunk of client.data.early.splice(0)) pass(database, chunk)
      },
      data(client, chunk) {
        if (client.data.other) pass(client.data.other, chunk)
        else client.data.early.push(Uint8Array.from(chunk))
      },
      // Whoever gives up is not heard of on the other side.
      close: client => void (state.isSwallowing || client.data.other?.terminate()),
      error() {},
    },
  })
  return { state, port: server.port, stop: () => server.stop(true) }
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
