// On PostgreSQL acts commit side by side on several nodes: each inserts its audit entry, and entries are linked to the one
// chain afterwards.
import { beforeAll, expect, test } from 'bun:test'
import { SQL } from 'bun'
import { exportAudit, verifyExport } from '../../src/audit/export.ts'
import { linkEntries } from '../../src/audit/link.ts'
import { lockChain } from '../../src/audit/link-store.ts'
import { signHead } from '../../src/audit/sign-head.ts'
import { findHead, listCheckpoints, listRecords } from '../../src/audit/store.ts'
import { verifyAudit, verifyChain } from '../../src/audit/verify.ts'
import type { Deps } from '../../src/deps.ts'
import { countAll } from '../../src/verifications/browse/figures.ts'
import { type Answer, createVerification, startApp, type TestApp, testClock, until } from '../helpers/app.ts'
import { rowsOf } from '../helpers/database.ts'
import { postgresOnly } from '../helpers/engines.ts'
import { startNodes } from '../helpers/nodes.ts'

postgresOnly('SQLite links each record at once').describe('audit entries on PostgreSQL', () => {
  let one: TestApp
  let other: TestApp
  let key: string

  beforeAll(async () => {
    ;[one, other] = await startNodes()
    key = (await one.tenant()).key
  })

  test('200 parallel acts on two nodes make one chain without gaps, which verifies', async () => {
    const before = await recordsOf(one, 'verification.created')
    const made = Array.from({ length: 200 }, (_, i) => createVerification(i % 2 ? one : other, key))
    await Promise.all(made)
    expect(await verifyAudit(other.deps)).toMatchObject({ problem: undefined, count: (await chainOf(one)).length })
    expect((await recordsOf(one, 'verification.created')).length - before.length).toBe(200)
    expect((await chainOf(one)).map(({ seq }) => seq)).toEqual((await chainOf(one)).map((_, i) => i + 1))
  })

  test('the timer of a node links what nobody reads', async () => {
    const { seq } = (await findHead(one.deps.db))!
    await createVerification(one, key)
    await until(async () => (await findHead(other.deps.db))!.seq > seq)
  })

  test('nodes that link at once never fork the chain', async () => {
    for (let round = 0; round < 5; round++) {
      await whileChainIsHeld(one.deps, () => Promise.all([createVerification(one, key), createVerification(other, key)]))
      await Promise.all([one, other, one, other].map(({ deps }) => linkEntries(deps)))
      expect(await verifyAudit(one.deps)).toMatchObject({ problem: undefined })
    }
  })

  test('a transaction that stays open delays its own entry only, which is linked after its commit', async () => {
    const entry = { at: one.clock.now(), tenantId: '', actor: 'slow', action: 'clock.stepped', subjectId: 'clock' } as const
    const slow = await holdOpen(other.deps, tx => other.deps.audit.append(tx, entry))
    const count = (await recordsOf(one, 'verification.created')).length
    for (let i = 0; i < 3; i++) {
      await createVerification(one, key)
      await linkEntries(one.deps)
    }
    expect(await recordsOf(one, 'verification.created')).toHaveLength(count + 3)
    expect(await recordsOf(one, 'clock.stepped')).toEqual([])
    await slow.release()
    await linkEntries(one.deps)
    expect((await chainOf(one)).at(-1)).toMatchObject({ action: 'clock.stepped', actor: 'slow' })
    expect(await verifyAudit(one.deps)).toMatchObject({ problem: undefined })
  })

  test('acts of one millisecond are linked in the order in which they happened, whatever their connections', async () => {
    const other = await startApp({ beside: one })
    const subjects = await whileChainIsHeld(one.deps, async () => {
      const ids = []
      for (let i = 0; i < 20; i++) ids.push((await createVerification([one, other][i % 2]!, key)).id)
      for (const id of ids) await other.call('POST', `/v1/verifications/${id}/cancel`, { key })
      return ids.map(id => one.deps.audit.subjectOf(id))
    })
    await linkEntries(one.deps)
    for (const subject of subjects) {
      const actions = (await chainOf(one)).filter(record => record.subject === subject).map(({ action }) => action)
      expect(actions).toEqual(['verification.created', 'verification.failed'])
    }
    await other.stop()
  })

  test('an erasure is linked after all records of its subject, whatever the clocks of their nodes said', async () => {
    const behind = await startApp({ beside: { home: one.home, clock: testClock(one.clock.now() - 60_000) } })
    const erased = await whileChainIsHeld(one.deps, async () => {
      const { id } = await createVerification(one, key)
      expect(await behind.call('DELETE', `/v1/verifications/${id}`, { key })).toMatchObject({ status: 200 })
      return one.deps.audit.subjectOf(id)
    })
    await linkEntries(one.deps)
    const about = (await chainOf(one)).filter(({ subject }) => subject === erased)
    expect(about.map(({ action }) => action)).toEqual(['verification.created', 'verification.erased'])
    expect(about[0]!.at).toBeGreaterThan(about[1]!.at)
    expect(await verifyAudit(one.deps)).toMatchObject({ problem: undefined })
    await behind.stop()
  })

  test('killed connections lose no record of an act that took place, and none is there of another', async () => {
    const made = Array.from({ length: 150 }, (_, i) => createVerification(i % 2 ? one : other, key).catch(() => undefined))
    for (const after of [20, 60, 100]) {
      await made[after]
      await killAll(one)
    }
    const created = (await Promise.all(made)).filter(each => each !== undefined)
    expect(created.length).toBeGreaterThan(0)
    expect(await verifyAudit(one.deps)).toMatchObject({ problem: undefined })
    const subjects = new Set((await recordsOf(one, 'verification.created')).map(({ subject }) => subject))
    for (const { id } of created) expect(subjects.has(one.deps.audit.subjectOf(id))).toBe(true)
    const erasures = await recordsOf(one, 'verification.erased')
    expect(subjects.size - erasures.length).toBe(await countAll(one.deps.db))
  })

  test('an act whose connection is killed between two entries runs again, and has each of them once', async () => {
    const entry = { at: one.clock.now(), tenantId: '', actor: 'killed', action: 'audit.exported', subjectId: 'audit' } as const
    let runs = 0
    await one.deps.write(async tx => {
      await one.deps.audit.append(tx, entry)
      if (runs++ === 0) await killAll(one)
      await one.deps.audit.append(tx, entry)
    })
    expect(runs).toBe(2)
    expect(await recordsOf(one, 'audit.exported')).toHaveLength(2)
    expect(await verifyAudit(one.deps)).toMatchObject({ problem: undefined })
  })

  test('an act whose entry has an id that is taken runs again with a new block of ids', async () => {
    const [first, second] = [await startApp({ beside: one }), await startApp({ beside: one })]
    for (let i = 0; i < 5; i++) await createVerification(first, key)
    // As after a failover that lost the last moment: the newest block is handed out again.
    await admin(
      one,
      `SELECT setval('audit_entry_blocks', min(audit_seq), false)
       FROM (SELECT audit_seq FROM verification_sessions ORDER BY created_at DESC LIMIT 5) newest`,
    )
    await createVerification(second, key)
    expect(await verifyAudit(one.deps)).toMatchObject({ problem: undefined })
    await first.stop()
    await second.stop()
  })

  test('two nodes that sign at once leave one checkpoint of the head, and the chain is signed to its end', async () => {
    for (let round = 0; round < 5; round++) {
      await createVerification(one, key)
      await Promise.all([one, other, one, other].map(({ deps }) => signHead(deps)))
      const head = (await findHead(one.deps.db))!
      expect((await listCheckpoints(one.deps.db)).filter(({ seq }) => seq === head.seq)).toHaveLength(1)
      expect(await verifyAudit(one.deps)).toMatchObject({ problem: undefined, count: head.seq, signedTo: head.seq })
    }
  })

  test('details that are erased while the chain is read are explained by their erasure', async () => {
    const { id } = await createVerification(one, key)
    await linkEntries(one.deps)
    const held = await holdChain(one.deps)
    await one.call('DELETE', `/v1/verifications/${id}`, { key })
    let rounds = 0
    const verdict = await verifyChain(one.deps, async () => {
      if (rounds++ === 0) return
      await held.release()
      await linkEntries(one.deps)
    })
    expect(verdict).toMatchObject({ problem: undefined })
    expect(rounds).toBe(2)
  })

  test('an erasure between signature and snapshot of an export waits for both', async () => {
    const { id } = await createVerification(one, key)
    let snapshots = 0
    let isErased = false
    let erasure: Promise<Answer> | undefined
    const isWaiting = () =>
      rowsOf(one, "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'advisory' AND datname = current_database()").length > 0
    const openSnapshot: Deps['openSnapshot'] = first => {
      snapshots++
      return one.deps.openSnapshot(async () => {
        await first?.()
        erasure ??= other.call('DELETE', `/v1/verifications/${id}`, { key }).finally(() => {
          isErased = true
        })
        await until(async () => isErased || isWaiting())
      })
    }
    const lines = exportAudit({ ...one.deps, openSnapshot })
    expect(await verifyExport(lines)).toMatchObject({ problem: undefined })
    expect([snapshots, (await erasure)?.status]).toEqual([1, 200])
  })

  test('metrics count the records that wait for their place, with the age of the oldest', async () => {
    // Creations at one moment are dated after each other.
    one.clock.advance(60_000)
    await linkEntries(one.deps)
    const gauges = async () => (await one.deps.metrics.render()).match(/^vidimus_audit_unlinked.*$/gm)
    expect(await gauges()).toEqual(['vidimus_audit_unlinked 0', 'vidimus_audit_unlinked_oldest_seconds 0'])
    await whileChainIsHeld(one.deps, async () => {
      await createVerification(one, key)
      await createVerification(other, key)
      one.clock.advance(7000)
      expect(await gauges()).toEqual(['vidimus_audit_unlinked 2', 'vidimus_audit_unlinked_oldest_seconds 7'])
    })
  })
})

const chainOf = ({ deps }: TestApp) => listRecords(deps.db, 0, 100_000)

async function recordsOf(app: TestApp, action: string) {
  await linkEntries(app.deps)
  return (await chainOf(app)).filter(record => record.action === action)
}

/** A transaction that has done its work and does not commit until it is released. */
async function holdOpen(deps: Deps, work: (tx: Deps['db']) => Promise<unknown>): Promise<{ release(): Promise<void> }> {
  const [begun, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const writing = deps.write(async tx => {
    await work(tx)
    begun.resolve()
    await released.promise
  })
  await Promise.race([begun.promise, writing])
  return {
    async release() {
      released.resolve()
      await writing
    },
  }
}

const holdChain = (deps: Deps) => holdOpen(deps, lockChain)

/** Nobody links meanwhile. */
async function whileChainIsHeld<T>(deps: Deps, act: () => Promise<T>): Promise<T> {
  const held = await holdChain(deps)
  try {
    return await act()
  } finally {
    await held.release()
  }
}

const killAll = (app: TestApp) =>
  admin(
    app,
    'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
  )

/** On a connection of its own. */
async function admin({ deps }: TestApp, statement: string): Promise<void> {
  const { host, port, user, password, database, socket } = deps.config.database!
  const server = socket === undefined ? { hostname: host, port } : { path: socket }
  const client = new SQL({ adapter: 'postgres', ...server, username: user, password, database, max: 1 })
  await client.unsafe(statement)
  await client.close()
}
