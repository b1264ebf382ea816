// One transaction on PostgreSQL: what fails in the middle leaves nothing, and closing waits for what began.
import { expect } from 'bun:test'
import { linkEntries } from '../../src/audit/link.ts'
import { isUnavailable } from '../../src/base/unavailable.ts'
import type { Db } from '../../src/db/engine.ts'
import { createConnect } from '../../src/db/postgres/connect.ts'
import type { Runner } from '../../src/db/postgres/pool.ts'
import { createSession } from '../../src/db/postgres/session.ts'
import { transactionsOn } from '../../src/db/postgres/transaction.ts'
import { installation } from '../../src/db/schema/installation.ts'
import { createVerification, startApp, type TestApp, until } from '../helpers/app.ts'
import { editRows, rowsOf } from '../helpers/database.ts'
import { nodesTest, rowsIn, tally } from '../helpers/nodes.ts'

const on = (tx: Db) => (tx as unknown as { $client: Runner }).$client

const keep = async (tx: Db, name: string) => void (await tx.insert(installation).values({ name, value: Buffer.of(0) }))

const namesIn = async (app: Parameters<typeof rowsIn>[0]) =>
  (await rowsIn<{ name: string }>(app, "SELECT name FROM installation WHERE name LIKE 'try %' ORDER BY name")).map(
    ({ name }) => name,
  )

nodesTest('a transaction whose connection is lost in the middle runs again as a whole', async () => {
  const app = await startApp()
  let runs = 0
  await app.deps.write(async tx => {
    await keep(tx, `try ${++runs} a`)
    if (runs === 1)
      await rowsIn(app, 'SELECT pg_terminate_backend($1)', [
        (await on(tx).rows<{ pid: number }>('SELECT pg_backend_pid() AS pid', []))[0]!.pid,
      ])
    await keep(tx, `try ${runs} b`)
  })
  expect([runs, await namesIn(app)]).toEqual([2, ['try 2 a', 'try 2 b']])
  expect(await app.deps.metrics.render()).toMatch(/vidimus_db_retries_total\{code="connection_lost"\} 1\n/)
})

nodesTest('a transaction that the server ended because its node stood still runs again as a whole', async () => {
  const app = await startApp()
  let runs = 0
  await app.deps.write(async tx => {
    await keep(tx, `try ${++runs} a`)
    if (runs === 1) {
      const [own] = await on(tx).rows<{ pid: number }>('SELECT pg_backend_pid() AS pid', [])
      await on(tx).rows("SET LOCAL idle_in_transaction_session_timeout = '10ms'", [])
      await until(async () => (await rowsIn(app, 'SELECT 1 FROM pg_stat_activity WHERE pid = $1', [own!.pid])).length === 0)
    }
    await keep(tx, `try ${runs} b`)
  })
  expect([runs, await namesIn(app)]).toEqual([2, ['try 2 a', 'try 2 b']])
})

/** Nothing of this process happens meanwhile, as when it is frozen. */
function awaitEnd(app: TestApp, pid: number): void {
  while (rowsOf(app, 'SELECT 1 FROM pg_stat_activity WHERE pid = ?', pid).length > 0);
}

nodesTest('a transaction that the server ended before it read the COMMIT of a frozen node runs again as a whole', async () => {
  const app = await startApp()
  let runs = 0
  await app.deps.write(async tx => {
    await keep(tx, `try ${++runs}`)
    if (runs > 1) return
    const [own] = await on(tx).rows<{ pid: number }>('SELECT pg_backend_pid() AS pid', [])
    await on(tx).rows("SET LOCAL idle_in_transaction_session_timeout = '10ms'", [])
    awaitEnd(app, own!.pid)
  })
  expect([runs, await namesIn(app)]).toEqual([2, ['try 2']])
})

nodesTest('requests succeed on a node that lost all its connections while it was frozen', async () => {
  const app = await startApp()
  const { key } = await app.tenant()
  const { id } = await createVerification(app, key)
  const all = () =>
    Promise.all([
      ...Array.from({ length: 20 }, () => app.call('GET', `/v1/verifications/${id}`, { key })),
      ...Array.from({ length: 20 }, () => app.call('POST', '/v1/verifications', { key, body: { template: 'age_over_18' } })),
    ])
  // Every connection is open.
  await all()
  rowsOf(
    app,
    `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
     WHERE datname = current_database() AND application_name LIKE 'vidimus/%' AND query NOT LIKE 'LISTEN%'`,
  )
  expect(tally(await all())).toEqual({ 200: 20, 201: 20 })
})

nodesTest.each([
  ['PostgreSQL', true],
  ['a pooler', false],
])('a transaction whose BEGIN %s refuses writes nothing, though its statements are sent at once', async (_, prepare) => {
  const app = await startApp()
  const connect = createConnect({ ...app.deps.config.database!, prepare }, 'test')
  const session = createSession(onClose => connect.open('write', onClose))
  const { run } = transactionsOn(session)
  const { epoch } = app.deps.sealer
  await run(connect.begin, epoch, tx => keep(tx, 'try 1'))
  const refused = run({ ...connect.begin, statements: ['BEGUN'] }, epoch, tx => keep(tx, 'try 2'))
  expect(await refused.then(String, ({ errno }) => errno)).toBe('42601')
  await session.close()
  expect(await namesIn(app)).toEqual(['try 1'])
})

nodesTest('after a statement that failed no other runs, though the work catches the error', async () => {
  const app = await startApp()
  const written = app.deps.write(async tx => {
    await keep(tx, 'try 1')
    await on(tx)
      .rows('SELECT 1 / 0', [])
      .catch(() => {})
    await keep(tx, 'try 2')
  })
  expect(await written.then(String, ({ errno }) => errno)).toBe('22012')
  expect(await namesIn(app)).toEqual([])
})

nodesTest('work that runs on after its transaction failed writes nothing into the next one', async () => {
  const app = await startApp()
  const stray = Promise.withResolvers<unknown>()
  const failed = app.deps.write(async tx => {
    on(tx)
      .rows('SELECT pg_sleep(0.05)', [])
      .then(() => keep(tx, 'try stray'))
      .then(stray.resolve, stray.resolve)
    throw new Error('refused')
  })
  await expect(failed).rejects.toThrow('refused')
  await Promise.all(Array.from({ length: 20 }, (_, i) => app.deps.write(tx => keep(tx, `try ${i}`))))
  expect(await stray.promise).toBeInstanceOf(Error)
  expect(await namesIn(app)).not.toContain('try stray')
})

nodesTest('closing waits for the writes that began before it, and refuses later ones', async () => {
  const app = await startApp()
  const beside = await startApp({ beside: app })
  const writes = ['', 'lane'].map(lane =>
    app.deps.write(async tx => {
      await on(tx).rows('SELECT pg_sleep(0.3)', [])
      await keep(tx, `try ${lane}`)
    }, lane || undefined),
  )
  const closed = app.deps.close()
  await expect(app.deps.write(tx => keep(tx, 'try late'))).rejects.toThrow('closed')
  await closed
  await Promise.all(writes)
  expect(await namesIn(beside)).toEqual(['try ', 'try lane'])
})

nodesTest('a statement that the server cancels makes a creation 500, which says to repeat it, and leaves nothing', async () => {
  const app = await startApp()
  const { key } = await app.tenant()
  const create = () =>
    app.call('POST', '/v1/verifications', { key, body: { template: 'age_over_18' }, headers: { 'idempotency-key': 'one' } })
  editRows(
    app,
    `CREATE FUNCTION cancel() RETURNS trigger LANGUAGE plpgsql AS
     $$ BEGIN PERFORM pg_cancel_backend(pg_backend_pid()), pg_sleep(60); RETURN NULL; END $$`,
  )
  editRows(app, 'CREATE TRIGGER cancelled AFTER INSERT ON verification_sessions EXECUTE FUNCTION cancel()')
  const refused = await create()
  expect([refused.status, refused.text]).toEqual([500, expect.stringContaining('The database does not answer')])
  const countOf = (table: string) => rowsOf(app, `SELECT 1 FROM ${table}`).length
  expect([countOf('verification_sessions'), countOf('usage_days')]).toEqual([0, 0])
  editRows(app, 'DROP TRIGGER cancelled ON verification_sessions')
  expect((await create()).status).toBe(201)
})

nodesTest('a read that the server cancels has an error that says to repeat it', async () => {
  const app = await startApp()
  const read = rowsIn(app, 'SELECT pg_cancel_backend(pg_backend_pid()), pg_sleep(60)')
  expect(await read.then(String, isUnavailable)).toBe(true)
})

nodesTest('a server whose disk is full makes creations 500 and its node not ready, until there is room', async () => {
  const app = await startApp()
  const { key } = await app.tenant()
  const { id } = await createVerification(app, key)
  const create = () => app.call('POST', '/v1/verifications', { key, body: { template: 'age_over_18' } })
  const isReady = async () => {
    app.clock.advance(1000)
    return (await app.call('GET', '/readyz')).status === 200
  }
  await until(isReady)
  // Nothing else is left to write: a write that succeeds says that there is room.
  await linkEntries(app.deps)
  const tables = ['verification_sessions', 'installation']
  editRows(
    app,
    "CREATE FUNCTION fill() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'No space left on device' USING ERRCODE = '53100'; END $$",
  )
  for (const table of tables) editRows(app, `CREATE TRIGGER filled BEFORE INSERT ON ${table} EXECUTE FUNCTION fill()`)
  const refused = await create()
  expect([refused.status, refused.text]).toEqual([500, expect.stringContaining('The database does not answer')])
  expect(await isReady()).toBe(false)
  expect((await app.call('GET', `/v1/verifications/${id}`, { key })).status).toBe(200)
  for (const table of tables) editRows(app, `DROP TRIGGER filled ON ${table}`)
  await until(isReady)
  expect((await create()).status).toBe(201)
})
