import { expect } from 'bun:test'
import { claimDue, listDueQueues } from '../../src/webhooks/lease-store.ts'
import { type TestApp, until } from '../helpers/app.ts'
import { rowsOf } from '../helpers/database.ts'
import { nodesTest, rowsIn, startNodes } from '../helpers/nodes.ts'
import { answer200, declined, receive, receiveRaw } from '../helpers/receiver.ts'

type Shared = Parameters<typeof startNodes>[0]

async function startShop(receivers: { allow: ReturnType<typeof receive>['allow'] }[], options: Shared = {}) {
  const nodes = await startNodes({
    resolve: async () => ['127.0.0.1'],
    ...options,
    config: { egressAllow: receivers.map(({ allow }) => allow), ...options.config },
  })
  return { nodes, ...(await nodes[0].tenant()) }
}

type Lease = { leased_by: string | null; attempts: number; status: string }

const leaseOf = async (app: TestApp, verificationId: string): Promise<Lease | undefined> =>
  (
    await rowsIn<Lease>(app, 'SELECT leased_by, attempts, status FROM webhook_deliveries WHERE verification_id = $1', [
      verificationId,
    ])
  )[0]

const outcomesOf = async (app: TestApp, verificationId: string): Promise<string[]> =>
  (
    await rowsIn<{ outcome: string }>(
      app,
      `SELECT outcome FROM webhook_attempts AS a JOIN webhook_deliveries AS d ON d.id = a.delivery_id
       WHERE d.verification_id = $1 ORDER BY a.id`,
      [verificationId],
    )
  ).map(({ outcome }) => outcome)

nodesTest('2,000 deliveries that eight workers on two nodes claim at once have one holder each', async () => {
  const receiver = receive()
  // Due in an hour, so that the nodes themselves leave them alone.
  const { nodes, key } = await startShop([receiver], { config: { webhookDelaysMs: [3_600_000] } })
  const id = await declined({ app: nodes[0], key }, receiver.url())
  await rowsIn(
    nodes[0],
    `INSERT INTO webhook_deliveries (id, tenant_id, verification_id, type, status, attempts, due_at, created_at, receiver, environment)
     SELECT 'whd_' || n, tenant_id, verification_id, type, status, attempts, due_at + n, created_at, receiver, environment
     FROM webhook_deliveries, generate_series(1, 1999) AS n WHERE verification_id = $1`,
    [id],
  )
  const [queue] = await listDueQueues(nodes[0].deps.db)
  const now = nodes[0].clock.now() + 2 * 3_600_000
  // In the name of the node: it frees leases of nodes that it does not know.
  const claimAll = async ({ deps }: TestApp) => {
    const { holder: leasedBy } = deps.leases
    const claimed: string[] = []
    for (;;) {
      const some = await deps.write(tx => claimDue(tx, queue!, { now, leaseUntil: now + 60_000, leasedBy, limit: 4 }))
      if (some.length === 0) return claimed
      claimed.push(...some.map(each => each.id))
    }
  }
  const claimed = await Promise.all(Array.from({ length: 8 }, (_, i) => claimAll(nodes[i % 2]!)))
  expect(claimed.flat()).toHaveLength(2000)
  expect(new Set(claimed.flat()).size).toBe(2000)
})

nodesTest('a delivery under way on a dead node is sent by another, and the first attempt counts as interrupted', async () => {
  const receiver = await receiveRaw()
  const { nodes, key } = await startShop([receiver])
  const id = await declined({ app: nodes[0], key }, receiver.url())
  await until(async () => receiver.open().length === 1)
  await rowsIn(nodes[0], "UPDATE webhook_deliveries SET leased_by = 'node-without-beats' WHERE verification_id = $1", [id])
  await until(async () => (await leaseOf(nodes[0], id))?.leased_by === null)
  expect(await outcomesOf(nodes[0], id)).toEqual(['interrupted'])
  nodes[0].clock.advance(2000)
  await until(async () => receiver.open().length === 2)
  const again = receiver.open()[1]!
  answer200(again)
  await until(async () => (await leaseOf(nodes[0], id))?.status === 'delivered')
  // The first one is late: it ends its attempt, and not the delivery.
  answer200(receiver.open()[0]!)
  await until(async () => (await outcomesOf(nodes[0], id)).every(outcome => outcome === 'delivered'))
  expect(await leaseOf(nodes[0], id)).toEqual({ leased_by: null, attempts: 1, status: 'delivered' })
})

nodesTest('a node that starts leaves the leases of living nodes alone', async () => {
  const receiver = await receiveRaw()
  const { nodes, key } = await startShop([receiver])
  const id = await declined({ app: nodes[0], key }, receiver.url())
  await until(async () => receiver.open().length === 1)
  const before = await leaseOf(nodes[0], id)
  const other = nodes.find(({ deps }) => deps.leases.holder !== before!.leased_by)!
  await other.stop()
  const third = await startNodes({ beside: nodes.find(each => each !== other)! })
  expect(await leaseOf(third[0], id)).toEqual(before!)
  expect(receiver.lines).toHaveLength(1)
  answer200(receiver.open()[0]!)
  await until(async () => (await leaseOf(third[0], id))?.status === 'delivered')
})

nodesTest('an erasure on one node ends the call that a receiver holds for another, and answers after that', async () => {
  const receiver = await receiveRaw()
  const { nodes, key } = await startShop([receiver])
  const id = await declined({ app: nodes[0], key }, receiver.url())
  await until(async () => receiver.open().length === 1)
  const holder = (await leaseOf(nodes[0], id))!.leased_by
  const eraser = nodes.find(({ deps }) => deps.leases.holder !== holder)!
  const { status } = await eraser.call('DELETE', `/v1/verifications/${id}`, { key })
  expect(status).toBe(200)
  for (let turn = 0; turn < 5; turn++) await new Promise(resolve => setImmediate(resolve))
  expect(receiver.lines.map(({ closedAt }) => closedAt !== undefined)).toEqual([true])
})

nodesTest('an erasure that waits for another node succeeds though the connection for beats is lost', async () => {
  const [{ deps, clock, dir }, other] = await startNodes()
  const held = { verificationId: 'vs_1', leasedBy: other.deps.leases.holder, leaseUntil: clock.now() + 60_000 }
  const beating = `FROM pg_stat_activity
    WHERE datname = current_database() AND query ~ '^(INSERT INTO nodes|SELECT left.pg_walfile)'`
  // The connection for beats asks for the leases of jobs too: after the next beat it is known again.
  await until(async () => rowsOf(dir, `SELECT 1 ${beating}`).length === 2)
  expect(rowsOf(dir, `SELECT pg_terminate_backend(pid, 5000) AS is_cut ${beating}`)).toEqual([{ is_cut: true }, { is_cut: true }])
  await deps.attempts.cancel(['vs_1'], [held])
})

nodesTest('an erasure does not wait for a dead node', async () => {
  const [{ deps, clock }] = await startNodes()
  const asked: string[] = []
  deps.subscribe('cancel', notice => asked.push(notice))
  await deps.attempts.cancel(
    ['vs_1'],
    [{ verificationId: 'vs_1', leasedBy: 'node-without-beats', leaseUntil: clock.now() + 60_000 }],
  )
  // A node that is waited for is asked again every second.
  expect(asked).toHaveLength(1)
})
