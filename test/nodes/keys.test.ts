// The wrapping key turns on several nodes: one of them does it, the others follow, and nobody loses a verification.
import { afterAll, expect } from 'bun:test'
import { copyFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { SHARED_JOBS } from '../../src/service/periodic.ts'
import { lookAtKeys, turnWrappingKey } from '../../src/session-keys/turn.ts'
import type { Verification } from '../../src/verifications/schema.ts'
import { cleanUp, createVerification, startApp, type TestApp, temporaryDir } from '../helpers/app.ts'
import { namesIn } from '../helpers/directories.ts'
import { examine } from '../helpers/doctor.ts'
import { passDay } from '../helpers/keys.ts'
import { nodesTest, rowsIn, startNodes } from '../helpers/nodes.ts'
import { verifyWith } from '../helpers/wallet.ts'

afterAll(cleanUp)

const DAY_MS = 86_400_000
const SETTLE_MS = 11 * 60_000
const turning = SHARED_JOBS.find(({ name }) => name === 'wrapping key')!

const keysIn = (dir: string) => namesIn(dir).filter(name => name.startsWith('wrapping-'))
const checkOf = async (app: TestApp) => (await examine(app.deps, true)).find(({ name }) => name === 'wrapping_keys')
const lookAll = (nodes: readonly TestApp[]) => Promise.all(nodes.map(({ deps }) => lookAtKeys(deps)))

/** The job comes up on all nodes at once. */
async function turnOn(nodes: readonly TestApp[]): Promise<void> {
  await rowsIn(nodes[0]!, "UPDATE job_runs SET begun_at = begun_at - interval '1 hour' WHERE name = 'wrapping key'")
  await Promise.all(nodes.map(({ deps }) => deps.whenLeader(turning).run(deps)))
}

async function expectOpenOn(nodes: readonly TestApp[], key: string, made: readonly Verification[]): Promise<void> {
  for (const node of nodes) {
    for (const { id, purpose, claims } of made) {
      const { status, body } = await node.call<Verification>('GET', `/v1/verifications/${id}`, { key })
      expect([status, body.purpose, body.claims]).toEqual([200, purpose, claims])
    }
  }
}

const wrappingKeyOf = async (app: TestApp, { id }: Verification) =>
  (await rowsIn<{ wrapping_key: number }>(app, 'SELECT wrapping_key FROM verification_sessions WHERE id = $1', [id]))[0]!
    .wrapping_key

nodesTest('one of two nodes turns the key, the other follows, and what either made opens on both', async () => {
  const nodes = await startNodes()
  const [one, other] = nodes
  const { key } = await one.tenant()
  const made = [
    (await verifyWith(one, key, 'adult', { body: { purpose: 'answered' } })).verification,
    await createVerification(other, key, { purpose: 'before' }),
  ]
  one.clock.advance(DAY_MS - SETTLE_MS)
  await turnOn(nodes)
  expect(keysIn(one.home)).toEqual(['wrapping-1.key', 'wrapping-2.key'])
  await lookAll(nodes)
  one.clock.advance(SETTLE_MS)
  await turnOn(nodes)
  const turned = nodes.map(({ deps }) => deps.sessionKeys.current())
  expect(turned.toSorted()).toEqual([1, 2])
  for (const node of nodes) made.push(await createVerification(node, key, { purpose: 'meanwhile' }))
  expect((await Promise.all(made.slice(-2).map(each => wrappingKeyOf(one, each)))).toSorted()).toEqual([1, 2])
  await expectOpenOn(nodes, key, made)

  await lookAll(nodes)
  for (const node of nodes) made.push(await createVerification(node, key, { purpose: 'after' }))
  expect(await Promise.all(made.slice(-2).map(each => wrappingKeyOf(one, each)))).toEqual([2, 2])
  await expectOpenOn(nodes, key, made)
  expect(keysIn(one.home)).toEqual(['wrapping-1.key', 'wrapping-2.key'])
  expect(await checkOf(other)).toMatchObject({ status: 'ok', detail: expect.stringMatching(/from any copy after 15 days/) })
})

nodesTest('a verification that a node made with a key after its end is kept when that key is destroyed', async () => {
  const nodes = await startNodes({ config: { keyWindowDays: 1 } })
  const [one, other] = nodes
  const { key } = await one.tenant()
  await passDay(one)
  const late = await createVerification(other, key, { purpose: 'late' })
  expect(await wrappingKeyOf(one, late)).toBe(1)
  // The service was down when the next turn was due.
  one.clock.advance(DAY_MS + SETTLE_MS)
  await turnWrappingKey(one.deps)
  expect(existsSync(join(one.home, 'wrapping-1.key'))).toBe(false)
  await lookAll(nodes)
  await expectOpenOn(nodes, key, [late])
})

nodesTest('a node whose key directory is its own prevents the turn, and doctor says what that means', async () => {
  const one = await startApp()
  const { key } = await one.tenant()
  const elsewhere = temporaryDir()
  copyFileSync(join(one.home, 'wrapping-1.key'), join(elsewhere, 'wrapping-1.key'))
  const other = await startApp({ beside: one, config: { keyDir: elsewhere } })
  const nodes = [one, other]
  const made = [
    await createVerification(one, key, { purpose: 'here' }),
    await createVerification(other, key, { purpose: 'there' }),
  ]
  for (let day = 0; day < 3; day++) {
    for (const ms of [DAY_MS - SETTLE_MS, SETTLE_MS]) {
      one.clock.advance(ms)
      await turnOn(nodes)
      await lookAll(nodes)
    }
    expect(nodes.map(({ deps }) => deps.sessionKeys.current())).toEqual([1, 1])
    for (const node of nodes) made.push(await createVerification(node, key, { purpose: `day ${day}` }))
  }
  await expectOpenOn(nodes, key, made)
  for (const node of nodes) {
    expect(await checkOf(node)).toMatchObject({
      status: 'warning',
      detail: expect.stringMatching(
        /not every node can read .* What is erased can be read from old copies, with the keys, until/,
      ),
    })
  }
})
