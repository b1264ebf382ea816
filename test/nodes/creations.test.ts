import { expect } from 'bun:test'
import { authenticate } from '../../src/access/authenticate.ts'
import { Unavailable } from '../../src/base/unavailable.ts'
import type { Runner } from '../../src/db/postgres/pool.ts'
import { shortLivedInRows } from '../../src/db/postgres/short-lived.ts'
import { changeTenant } from '../../src/tenants/settings.ts'
import { createIdempotency } from '../../src/verifications/create/idempotency.ts'
import type { Verification } from '../../src/verifications/schema.ts'
import { type TestApp, until } from '../helpers/app.ts'
import { editRows } from '../helpers/database.ts'
import { connectTo, nodesTest, rowsIn, startNodes, tally } from '../helpers/nodes.ts'

const BODY = { template: 'age_over_18' }

const createWith = (app: TestApp, key: string, idempotencyKey: string, body: object = BODY) =>
  app.call<Verification>('POST', '/v1/verifications', { key, body, headers: { 'idempotency-key': idempotencyKey } })

nodesTest('600 creations at once over two nodes with a daily quota of 50 make 50 sessions with 50 times', async () => {
  const nodes = await startNodes()
  const { id, key } = await nodes[0].tenant({ name: 'Shop', dailyQuota: 50 })
  const answers = await Promise.all(
    Array.from({ length: 600 }, (_, i) => nodes[i % 2]!.call('POST', '/v1/verifications', { key, body: BODY })),
  )
  expect(tally(answers)).toEqual({ 201: 50, 429: 550 })
  const [row] = await rowsIn(
    nodes[0],
    `SELECT (SELECT sum(verifications_created) FROM usage_days WHERE tenant_id = $1)::bigint AS charged, count(*) AS sessions,
       count(DISTINCT created_at) AS times FROM verification_sessions WHERE tenant_id = $1`,
    [id],
  )
  expect(row).toEqual({ charged: 50, sessions: 50, times: 50 })
})

nodesTest('20 Idempotency-Keys with 40 requests each at once over two nodes make 20 sessions', async () => {
  const nodes = await startNodes()
  const { id, key } = await nodes[0].tenant()
  const answers = await Promise.all(
    Array.from({ length: 800 }, async (_, i) => ({
      order: i % 20,
      ...(await createWith(nodes[i % 2]!, key, `order-${i % 20}`)),
    })),
  )
  expect(Object.keys(tally(answers)).filter(status => status !== '201' && status !== '409')).toEqual([])
  const made = answers.filter(({ status }) => status === 201)
  expect(new Set(made.map(({ order }) => order)).size).toBe(20)
  expect(new Set(made.map(({ body }) => body.id)).size).toBe(20)
  const [row] = await rowsIn(
    nodes[0],
    'SELECT sum(verifications_created)::bigint AS charged FROM usage_days WHERE tenant_id = $1',
    [id],
  )
  expect(row).toEqual({ charged: 20 })
  for (const [i, { order, body }] of made.entries()) {
    const again = await createWith(nodes[(i + 1) % 2]!, key, `order-${order}`)
    expect([again.status, again.body]).toEqual([201, body])
  }
})

nodesTest('a request at work on one node is 409 with Retry-After on the other, and 422 with another body', async () => {
  const [one, other] = await startNodes()
  const { key } = await one.tenant()
  const caller = await authenticate(one.deps, `Bearer ${key}`)
  const begun = await one.deps.creations.idempotency.begin(caller, 'order-1', BODY)
  const refused = await createWith(other, key, 'order-1')
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([409, '30'])
  expect((await createWith(other, key, 'order-1', { template: 'age_over_16' })).status).toBe(422)
  if ('replay' in begun) throw new Error('there is an answer already')
  await begun.claim.release(false)
  expect((await createWith(other, key, 'order-1')).status).toBe(201)
})

nodesTest('a refused creation leaves its Idempotency-Key to the next request on another node', async () => {
  const [one, other] = await startNodes()
  const { id, key } = await one.tenant({ name: 'Shop', dailyQuota: 0 })
  expect((await createWith(one, key, 'order-2')).status).toBe(429)
  await rowsIn(one, 'UPDATE tenants SET daily_quota = 1 WHERE id = $1', [id])
  await rowsIn(one, 'UPDATE settings_version SET version = version + 1')
  expect((await createWith(other, key, 'order-2')).status).toBe(201)
})

nodesTest('the claim of a dead node is taken over at once, and that node can no longer finish', async () => {
  const [one, other] = await startNodes()
  const { key } = await one.tenant()
  const caller = await authenticate(one.deps, `Bearer ${key}`)
  const shortLived = shortLivedInRows({ ...one.deps, light: await connectTo(one), node: 'node-without-beats' })
  const begun = await createIdempotency({ ...one.deps, shortLived }).begin(caller, 'order-3', BODY)
  const made = await createWith(other, key, 'order-3')
  expect(made.status).toBe(201)
  if ('replay' in begun) throw new Error('there is an answer already')
  const late = one.deps.write(tx => begun.claim.keep(tx, made.body))
  expect(await late.then(String, ({ code }) => code)).toBe('idempotency_key_in_flight')
  expect((await createWith(one, key, 'order-3')).body).toEqual(made.body)
  expect(await other.deps.metrics.render()).toContain('vidimus_claims_taken_over_total 1\n')
})

nodesTest('a claim that cannot be given back while the database refuses is given back later', async () => {
  const [one, other] = await startNodes()
  const { id, key } = await one.tenant({ name: 'Shop', dailyQuota: 0 })
  editRows(one, "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'not now'; END $$")
  editRows(one, 'CREATE TRIGGER refused BEFORE DELETE ON claims EXECUTE FUNCTION refuse()')
  expect((await createWith(one, key, 'order-1')).status).toBe(429)
  await changeTenant(one.deps, id, { dailyQuota: 5 }, 'test')
  expect((await createWith(other, key, 'order-1')).status).toBe(409)
  editRows(one, 'DROP TRIGGER refused ON claims')
  await until(async () => (await createWith(other, key, 'order-1')).status === 201)
})

nodesTest('a claim whose answer was lost is given back, and the next request on another node gets the key', async () => {
  const [one, other] = await startNodes()
  const { key } = await one.tenant()
  const caller = await authenticate(one.deps, `Bearer ${key}`)
  const light = await connectTo(one)
  const { $client } = light as unknown as { $client: Runner }
  const { rows } = $client
  $client.rows = async <Found>(text: string, params: unknown[]) => {
    await rows<Found>(text, params)
    $client.rows = rows
    throw new Unavailable('the answer was lost')
  }
  const shortLived = shortLivedInRows({
    ...one.deps,
    light,
    node: (await rowsIn<{ id: string }>(one, 'SELECT id FROM nodes'))[0]!.id,
  })
  const begun = createIdempotency({ ...one.deps, shortLived }).begin(caller, 'order-1', BODY)
  expect(await begun.catch(error => error)).toBeInstanceOf(Unavailable)
  await until(async () => (await createWith(other, key, 'order-1')).status === 201)
})

nodesTest('a claim that is taken over by a repeated statement belongs to its request', async () => {
  const [one] = await startNodes()
  const { key } = await one.tenant()
  const caller = await authenticate(one.deps, `Bearer ${key}`)
  const light = await connectTo(one)
  const claimsOf = (node: string) =>
    createIdempotency({ ...one.deps, shortLived: shortLivedInRows({ ...one.deps, light, node }) })
  await claimsOf('node-without-beats').begin(caller, 'order-1', BODY)
  const { $client } = light as unknown as { $client: Runner }
  const { rows } = $client
  let repeated = 0
  $client.rows = async <Found>(text: string, params: unknown[]) => {
    if (text.startsWith('insert into "claims"') && ++repeated) await rows(text, params)
    return await rows<Found>(text, params)
  }
  expect(await claimsOf('other-node-without-beats').begin(caller, 'order-1', BODY)).toEqual({ claim: expect.anything() })
  expect(repeated).toBe(1)
})
