// When the head of the audit chain is signed. A service that never runs for an hour has signed checkpoints too.
import { afterAll, expect, test } from 'bun:test'
import { findLastCheckpoint, insertCheckpoint } from '../../src/audit/store.ts'
import { createVerification, startApp, type TestApp, temporaryDir } from '../helpers/app.ts'
import { serve, stopServing, vidimusJson } from '../helpers/cli.ts'
import { rowsOf } from '../helpers/database.ts'
import { copyOf } from '../helpers/directories.ts'
import { sqliteOnly } from '../helpers/engines.ts'

afterAll(stopServing)

const HOUR_MS = 3_600_000

type Verdict = { ok: boolean; count: number; signed_to: number }

const signedTo = async ({ deps }: TestApp) => (await findLastCheckpoint(deps.db))?.seq ?? 0

test('a clean stop signs the chain up to its last record, once', async () => {
  const app = await startApp({ now: Date.now() })
  const { key } = await app.tenant()
  await createVerification(app, key)
  expect(await signedTo(app)).toBe(0)
  await app.stop()
  const verdict = await vidimusJson<Verdict>(app.dir, 'audit', 'verify')
  expect(verdict).toMatchObject({ ok: true, signed_to: verdict.count })

  const again = await startApp({ dir: app.dir, now: app.clock.now() + 2 * HOUR_MS })
  await again.stop()
  expect(rowsOf(app.dir, 'SELECT seq FROM audit_checkpoints')).toHaveLength(1)
})

test('SIGTERM stops the service cleanly, with the chain signed', async () => {
  const app = await startApp({ now: Date.now() })
  await app.stop()
  await vidimusJson(app.dir, 'tenant', 'create', '--name', 'Shop')
  const server = await serve(app.dir)
  await vidimusJson(app.dir, 'tenant', 'create', '--name', 'Bar')
  server.process.kill('SIGTERM')
  expect(await server.process.exited).toBe(0)
  const verdict = await vidimusJson<Verdict>(app.dir, 'audit', 'verify')
  expect(verdict).toMatchObject({ ok: true, signed_to: verdict.count })
  expect(verdict.count).toBeGreaterThan(1)
})

sqliteOnly('the file of a running service is copied')(
  'a start after a kill signs the head when there is no checkpoint, or the last one is an hour old',
  async () => {
    const app = await startApp()
    const { key } = await app.tenant()
    await createVerification(app, key)
    const first = await startApp({ dir: copyOf(app.dir), now: app.clock.now() })
    const signed = await signedTo(first)
    expect(signed).toBeGreaterThan(0)

    await createVerification(first, key)
    const soon = await startApp({ dir: copyOf(first.dir), now: first.clock.now() + HOUR_MS - 1 })
    expect(await signedTo(soon)).toBe(signed)
    const late = await startApp({ dir: copyOf(first.dir), now: first.clock.now() + HOUR_MS })
    expect(await signedTo(late)).toBeGreaterThan(signed)
  },
)

test('a first start signs nothing, because there are no records', async () => {
  expect(await signedTo(await startApp({ dir: temporaryDir() }))).toBe(0)
})

test('a head that is signed twice keeps its first checkpoint', async () => {
  const { deps } = await startApp()
  const first = { seq: 1, at: 1, hash: 'a'.repeat(64), signature: 'first' }
  await deps.write(tx => insertCheckpoint(tx, first))
  await deps.write(tx => insertCheckpoint(tx, { ...first, at: 2, signature: 'second' }))
  expect(await findLastCheckpoint(deps.db)).toEqual(first)
})
