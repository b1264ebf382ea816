// `vidimus rekey` on PostgreSQL: with every node stopped, and then any node seals the rows again.
import { afterAll, expect } from 'bun:test'
import { copyFileSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { verifyAudit } from '../../src/audit/verify.ts'
import { createMetrics } from '../../src/base/metrics.ts'
import { openPostgres } from '../../src/db/postgres/engine.ts'
import { REFUSALS } from '../../src/db/refusal.ts'
import { sealSandboxAgain } from '../../src/sandbox/world.ts'
import { rekey } from '../../src/upkeep/rekey.ts'
import { readProgress, sealAgain } from '../../src/upkeep/seal-again.ts'
import { keepProgress } from '../../src/upkeep/store.ts'
import type { Verification } from '../../src/verifications/schema.ts'
import { cleanUp, createVerification, startApp, type TestApp, temporaryDir, until } from '../helpers/app.ts'
import { vidimus, vidimusJson } from '../helpers/cli.ts'
import { editRows, execute, rowsOf } from '../helpers/database.ts'
import { namesIn } from '../helpers/directories.ts'
import { openedTexts, type SealedRows, sealedRows } from '../helpers/keys.ts'
import { nodesTest, startNodes } from '../helpers/nodes.ts'
import { verifyWith } from '../helpers/wallet.ts'

afterAll(cleanUp)

const keyOf = (dir: string) => join(dir, 'master.key')
const keysIn = (dir: string) => namesIn(dir).filter(name => name.startsWith('master.key'))
const rootKeyIn = (dir: string) =>
  rowsOf<{ value: Buffer }>(dir, "SELECT value FROM installation WHERE name = 'root_key'")[0]!.value
const rowsAbout = (dir: string, id: string): Promise<SealedRows> => sealedRows(rootKeyIn(dir), sql => rowsOf(dir, sql, id))
const sealAll = ({ deps }: TestApp, write = deps.write) => sealAgain({ ...deps, write }, tx => sealSandboxAgain(deps, tx))

/** Everything of a stopped installation, and its master key of that time. */
async function madeInstallation() {
  const app = await startApp({ now: Date.now() })
  const { key } = await app.tenant()
  const made = [(await verifyWith(app, key, 'adult', { body: { purpose: 'to sell a bottle' } })).verification]
  for (let i = 0; i < 45; i++) made.push(await createVerification(app, key, { purpose: `number ${i}` }))
  await app.stop()
  const oldKey = join(temporaryDir(), 'old.key')
  copyFileSync(keyOf(app.dir), oldKey)
  return { dir: app.dir, deps: app.deps, key, made, oldKey }
}

async function expectOpenOn(nodes: readonly TestApp[], key: string, made: readonly Verification[]): Promise<void> {
  for (const node of nodes) {
    for (const { id, purpose, claims } of made) {
      const { status, body } = await node.call<Verification>('GET', `/v1/verifications/${id}`, { key })
      expect([status, body.purpose, body.claims]).toEqual([200, purpose, claims])
    }
    expect((await verifyAudit(node.deps)).problem).toBeUndefined()
  }
}

nodesTest('rekey is refused while a node runs, and changes nothing', async () => {
  const app = await startApp({ now: Date.now() })
  const before = [readFileSync(keyOf(app.dir), 'hex'), rootKeyIn(app.dir)]
  const { exitCode, stderr } = await vidimus(app.dir, ['rekey', '--data'])
  expect(exitCode).toBe(REFUSALS.directory_in_use)
  expect(stderr).toBe(`vidimus: these nodes run: ${app.deps.leases.holder}; stop them, and run this again\n`)
  expect([readFileSync(keyOf(app.dir), 'hex'), rootKeyIn(app.dir)]).toEqual(before)
  expect(keysIn(app.dir)).toEqual(['master.key'])
})

nodesTest('after rekey --data two nodes seal every row again, and the old master key opens nothing of it', async () => {
  const { dir, key, made, oldKey } = await madeInstallation()
  const id = made[0]!.id
  const old = await rowsAbout(dir, id)
  expect(openedTexts(old, dir)).not.toEqual([])

  // A new master key alone changes no row: whoever has the old one and an old dump opens newer copies.
  await vidimusJson(dir, 'rekey')
  expect(readFileSync(keyOf(dir)).equals(readFileSync(oldKey))).toBe(false)
  expect(openedTexts({ ...(await rowsAbout(dir, id)), rootKey: old.rootKey }, dir, oldKey)).not.toEqual([])

  expect(await vidimusJson<object>(dir, 'rekey', '--data')).toMatchObject({ data: true, backups_of_old_key: [] })
  expect(keysIn(dir)).toEqual(['master.key'])
  const nodes = await startNodes({ dir, now: Date.now() })
  const fresh = await createVerification(nodes[1], key, { purpose: 'written since' })
  expect(await readProgress(nodes[0].deps)).toMatchObject({ step: 'settings' })
  await Promise.all(nodes.map(node => sealAll(node)))
  expect(await readProgress(nodes[1].deps)).toBeUndefined()
  for (const node of nodes) await node.stop()

  const again = await startNodes({ dir, now: Date.now() })
  await expectOpenOn(again, key, [...made, fresh])
  for (const each of [id, fresh.id]) {
    const rows = await rowsAbout(dir, each)
    expect(openedTexts(rows, dir)).not.toEqual([])
    expect(openedTexts({ ...rows, rootKey: old.rootKey }, dir, oldKey)).toEqual([])
  }
  // The old row key is gone for good: not even the new master key opens a row of an old dump.
  expect(openedTexts({ ...old, rootKey: rootKeyIn(dir) }, dir)).toEqual([])
})

nodesTest('sealing again goes on where another node was cut off', async () => {
  const { dir, key, made } = await madeInstallation()
  await vidimusJson(dir, 'rekey', '--data')
  const nodes = await startNodes({ dir, now: Date.now() })
  const counts: number[] = []
  for (let cut = 0; (await readProgress(nodes[0].deps)) !== undefined; cut++) {
    const node = nodes[cut % 2]!
    let writes = 0
    await sealAll(node, async work => {
      if (writes++ === 1) throw new Error('killed')
      return await node.deps.write(work)
    }).catch(() => {})
    counts.push((await readProgress(node.deps))?.count ?? made.length)
    expect(cut).toBeLessThan(100)
  }
  expect(counts).toEqual(counts.toSorted((one, other) => one - other))
  expect(new Set(counts).size).toBeGreaterThan(2)
  await expectOpenOn(nodes, key, made.slice(0, 3))
})

nodesTest('a node that is slower than its lease does not set back what another one did since', async () => {
  const { dir, key, made } = await madeInstallation()
  await vidimusJson(dir, 'rekey', '--data')
  const [slow, fast] = await startNodes({ dir, now: Date.now() })
  let writes = 0
  await sealAll(slow, async work => {
    if (writes++ === 1) await sealAll(fast)
    return await slow.deps.write(work)
  })
  expect(writes).toBe(2)
  expect(await readProgress(slow.deps)).toBeUndefined()
  await expectOpenOn([slow, fast], key, made.slice(0, 3))
})

nodesTest('a kill before the new master key is in its place leaves one that opens', async () => {
  const { dir, key, made, oldKey } = await madeInstallation()
  await vidimusJson(dir, 'rekey', '--data')
  const newKey = readFileSync(keyOf(dir))
  renameSync(keyOf(dir), `${keyOf(dir)}.new`)
  copyFileSync(oldKey, keyOf(dir))
  const app = await startApp({ dir, now: Date.now() })
  expect([keysIn(dir), readFileSync(keyOf(dir)).equals(newKey)]).toEqual([['master.key'], true])
  await expectOpenOn([app], key, made.slice(0, 3))
})

nodesTest('a node that stood still while rekey --data ran writes nothing any more, and says so', async () => {
  const app = await startApp({ now: Date.now() })
  const { key } = await app.tenant()
  const { config, random } = app.deps
  const create = () => app.call('POST', '/v1/verifications', { key, body: { template: 'age_over_18' } })
  const sessions = () => rowsOf(app, 'SELECT id FROM verification_sessions')
  expect((await create()).status).toBe(201)
  const before = sessions()

  // Without a beat for long enough the node is taken for dead, while a transaction of its own is open.
  const opened = Promise.withResolvers<void>()
  const woken = Promise.withResolvers<void>()
  const late = app.deps.write(async tx => {
    // The server would end it after five seconds, and a busy machine takes longer to begin the rekey.
    await execute(tx, 'SET LOCAL idle_in_transaction_session_timeout = 0')
    await keepProgress(tx, 'late')
    opened.resolve()
    await woken.promise
  })
  await opened.promise
  editRows(app, 'CREATE FUNCTION no_beat() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$')
  editRows(app, 'CREATE TRIGGER no_beat BEFORE INSERT OR UPDATE ON nodes FOR EACH ROW EXECUTE FUNCTION no_beat()')
  editRows(app, 'DELETE FROM nodes')
  const rekeyed = rekey({ ...config, data: true, now: Date.now(), random, actor: 'test' })
  const isWaiting = () =>
    rowsOf(app, "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'advisory' AND datname = current_database()").length > 0
  await until(async () => isWaiting())
  woken.resolve()
  // It was first: what it wrote is sealed again like all else.
  await late
  await rekeyed

  const refused = await create()
  expect(refused.status).toBe(500)
  expect(sessions()).toEqual(before)
  expect((await app.call('GET', '/readyz')).status).toBe(503)
  expect(app.logs.filter(line => line.includes('"database.keys_replaced"'))).toHaveLength(1)
})

nodesTest('a node that read its keys before rekey --data, and joins after it, is refused', async () => {
  const { dir, deps } = await madeInstallation()
  const { config, random } = deps
  const opened = await openPostgres({ config, now: Date.now(), wall: undefined, random, role: 'server' }, config.database!)
  await vidimusJson(dir, 'rekey', '--data')
  await expect(opened.open({ metrics: createMetrics(), log: deps.log, now: deps.now })).rejects.toThrow(
    'the keys were replaced while this node started',
  )
})
