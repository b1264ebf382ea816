// The wrapping key turns: under load, killed in the middle, with keys missing, and after clocks and restores went wrong.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chmodSync, copyFileSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { verifyAudit } from '../../src/audit/verify.ts'
import { REFUSALS } from '../../src/db/refusal.ts'
import { createSessionKeys, currentOf } from '../../src/session-keys/keys.ts'
import { lookAtKeys, turnWrappingKey } from '../../src/session-keys/turn.ts'
import type { Verification } from '../../src/verifications/schema.ts'
import { cleanUp, createVerification, NOON, startApp, type TestApp, temporaryDir } from '../helpers/app.ts'
import { vidimus, vidimusJson } from '../helpers/cli.ts'
import { copyDatabase, databaseOf, rowsOf } from '../helpers/database.ts'
import { contentOf, copyOf, namesIn } from '../helpers/directories.ts'
import { examine } from '../helpers/doctor.ts'
import { sqliteOnly } from '../helpers/engines.ts'
import { passDay, timeWrites } from '../helpers/keys.ts'
import { verifyWith } from '../helpers/wallet.ts'

afterAll(cleanUp)

const DAY_MS = 86_400_000
const fileIn = (dir: string, id: number) => join(dir, `wrapping-${id}.key`)
const keysIn = (dir: string) => namesIn(dir).filter(name => name.startsWith('wrapping-'))
const checkOf = async (app: TestApp) => (await examine(app.deps, true)).find(({ name }) => name === 'wrapping_keys')
const currentIn = async ({ deps }: TestApp) => currentOf(await deps.sessionKeys.look(deps.db))?.id

async function expectAllOpen(app: TestApp, key: string, made: readonly Verification[]): Promise<void> {
  for (const { id, purpose, claims } of made) {
    const { status, body } = await app.call<Verification>('GET', `/v1/verifications/${id}`, { key })
    expect([status, body.purpose, body.claims]).toEqual([200, purpose, claims])
  }
  expect((await verifyAudit(app.deps)).problem).toBeUndefined()
}

let dir: string
let key: string
let made: Verification[]

beforeAll(async () => {
  const app = await startApp()
  ;({ key } = await app.tenant())
  made = [(await verifyWith(app, key, 'adult', { body: { purpose: 'answered' } })).verification]
  for (let i = 0; i < 110; i++) made.push(await createVerification(app, key, { purpose: `number ${i}` }))
  await app.stop()
  dir = app.dir
})

/** The directory and its database. */
async function copy(): Promise<string> {
  const own = copyOf(dir)
  await copyDatabase(dir, own)
  return own
}

const some = () => made.filter((_, i) => i % 20 === 0)

describe('a turn', () => {
  test('under load loses no verification, and afterwards only the new key is needed', async () => {
    const app = await startApp({ dir: await copy(), now: NOON + 1000 })
    const during: Verification[] = []
    let isOver = false
    const load = Array.from({ length: 4 }, async (_, i) => {
      while (!isOver) during.push(await createVerification(app, key, { purpose: `during ${i}` }))
    })
    await passDay(app)
    isOver = true
    await Promise.all(load)
    expect(await currentIn(app)).toBe(2)
    expect(during.length).toBeGreaterThan(4)
    await passDay(app)
    rmSync(fileIn(app.dir, 1))
    await app.stop()
    const without = await startApp({ dir: app.dir, now: app.clock.now() })
    await expectAllOpen(without, key, [...some(), ...during])
  })

  test('that is killed at any write leaves all verifications readable, and the next one finishes it', async () => {
    const at = NOON + DAY_MS
    let finished = false
    for (let kill = 1; !finished; kill += 2) {
      const own = await copy()
      const child = Bun.spawn(
        [process.execPath, join(import.meta.dir, '../helpers/crash/keys-child.ts'), own, 'turn', String(at)],
        {
          env: { ...process.env, ...(await databaseOf(own)) },
          stdout: 'pipe',
          stderr: 'inherit',
        },
      )
      let lines = 0
      for await (const chunk of child.stdout) {
        lines += Buffer.from(chunk).toString().split('\n').length - 1
        if (lines >= kill) break
      }
      finished = lines < kill
      child.kill('SIGKILL')
      await child.exited
      const app = await startApp({ dir: own, now: at + 3_600_000 })
      await expectAllOpen(app, key, some())
      for (let day = 0; day < 2; day++) await passDay(app)
      rmSync(fileIn(own, 1))
      await app.stop()
      const again = await startApp({ dir: own, now: app.clock.now() })
      await expectAllOpen(again, key, some())
      await again.stop()
      rmSync(own, { recursive: true })
    }
  })

  test('is followed by the end of the old key: its file is gone when the window has passed, and not before', async () => {
    const app = await startApp({ dir: await copy(), now: NOON + 1000, config: { keyWindowDays: 3 } })
    for (let day = 0; day < 3; day++) await passDay(app)
    expect(existsSync(fileIn(app.dir, 1))).toBe(true)
    await passDay(app)
    expect(existsSync(fileIn(app.dir, 1))).toBe(false)
    expect(keysIn(app.dir)).toEqual(['wrapping-2.key', 'wrapping-3.key', 'wrapping-4.key', 'wrapping-5.key'])
    await expectAllOpen(app, key, some())
  })

  test('rests after each few verifications, so that requests have most of the time', async () => {
    const app = await startApp({ dir: await copy(), now: NOON + 1000 })
    const timed = timeWrites(app)
    await passDay({ ...app, deps: timed.deps })
    expect(timed.pauses()).toBeGreaterThan(3)
  })

  test('does not happen twice a day, nor before the nodes had time to read the new file', async () => {
    const app = await startApp({ dir: await copy(), now: NOON + 1000 })
    await turnWrappingKey(app.deps)
    expect([await currentIn(app), keysIn(app.dir).length]).toEqual([1, 1])
    app.clock.advance(DAY_MS)
    await turnWrappingKey(app.deps)
    await turnWrappingKey(app.deps)
    expect([await currentIn(app), keysIn(app.dir).length]).toEqual([1, 2])
    app.clock.advance(11 * 60_000)
    await turnWrappingKey(app.deps)
    await turnWrappingKey(app.deps)
    expect([await currentIn(app), keysIn(app.dir).length]).toEqual([2, 2])
  })

  test('erases the wrapped key of an erased verification', async () => {
    const app = await startApp({ dir: await copy(), now: NOON + 1000 })
    await passDay(app)
    const kept = () => rowsOf(app, 'SELECT 1 FROM session_keys WHERE verification_id = ?', made[0]!.id)
    expect(kept()).toHaveLength(1)
    expect((await app.call('DELETE', `/v1/verifications/${made[0]!.id}`, { key })).status).toBe(200)
    expect(kept()).toEqual([])
  })
})

describe('a clock', () => {
  test('that jumps a year ahead costs no living verification', async () => {
    const app = await startApp({ dir: await copy(), now: NOON + 1000 })
    app.clock.advance(365 * DAY_MS)
    for (let day = 0; day < 20; day++) await passDay(app)
    expect(existsSync(fileIn(app.dir, 1))).toBe(false)
    await expectAllOpen(app, key, some())
  })

  test('that was ahead when the key turned does not keep the next turn from happening', async () => {
    const app = await startApp({ dir: await copy(), now: NOON + 1000 })
    app.clock.advance(100 * DAY_MS)
    await passDay(app)
    app.clock.set(NOON + 2000)
    await turnWrappingKey(app.deps)
    app.clock.advance(11 * 60_000)
    await turnWrappingKey(app.deps)
    expect(await currentIn(app)).toBe(3)
    await expectAllOpen(app, key, some())
  })
})

describe('a start', () => {
  test.each([
    ['missing', 'key_missing', (file: string) => rmSync(file)],
    ['empty', 'key_missing', (file: string) => writeFileSync(file, '', { mode: 0o600 })],
    [
      'another key under its name',
      'key_wrong',
      (file: string) => {
        const other = Buffer.alloc(32, 7).toString('base64')
        writeFileSync(file, readFileSync(file, 'utf8').replace(/\n.*\n$/, `\n${other}\n`))
      },
    ],
    ['readable by others', 'key_readable_by_others', (file: string) => chmodSync(file, 0o644)],
  ] as const)('with a wrapping key that is %s is refused in one sentence, and nothing is changed', async (_, reason, damage) => {
    const own = await copy()
    damage(fileIn(own, 1))
    const before = contentOf(own)
    const { exitCode, stdout, stderr } = await vidimus(own, ['serve'], { PORT: '0' })
    expect([exitCode, stdout]).toEqual([REFUSALS[reason], ''])
    expect(stderr).toMatch(/^vidimus: [^\n]*wrapping-1\.key [^\n]+; [^\n]+\n$/)
    expect(contentOf(own)['wrapping-1.key']).toEqual(before['wrapping-1.key']!)
  })

  test('that cannot make the first wrapping key is refused with the directory and the setting', async () => {
    await expect(startApp({ config: { keyDir: '/dev/null/none' } })).rejects.toThrow(
      /^cannot make a wrapping key in \/dev\/null\/none \(E\w+\); let the service write there, or set VIDIMUS_KEY_DIR$/,
    )
  })
})

describe('a key directory', () => {
  test('that a node cannot read keeps the key from turning, and doctor names the reason', async () => {
    const app = await startApp({ dir: await copy(), now: NOON + 1000 })
    app.clock.advance(DAY_MS)
    await turnWrappingKey(app.deps)
    // Another node with a directory of its own, where only the first file was copied to.
    const elsewhere = temporaryDir()
    copyFileSync(fileIn(app.dir, 1), fileIn(elsewhere, 1))
    const other = createSessionKeys({ ...app.deps, keyDir: elsewhere })
    await lookAtKeys({ ...app.deps, sessionKeys: other })
    app.clock.advance(3_600_000)
    await turnWrappingKey(app.deps)
    expect(await currentIn(app)).toBe(1)
    expect(await checkOf(app)).toMatchObject({ status: 'warning', detail: expect.stringMatching(/not every node can read/) })
    await expectAllOpen(app, key, some())
  })

  test('of another installation is left alone', async () => {
    const app = await startApp({ dir: await copy(), now: NOON + 1000, config: { keyWindowDays: 1 } })
    const foreign = readFileSync(fileIn(app.dir, 1), 'utf8').replace(/key 1 of \w{16}/, 'key 9 of 0123456789abcdef')
    writeFileSync(fileIn(app.dir, 9), foreign, { mode: 0o600 })
    for (let day = 0; day < 4; day++) await passDay(app)
    expect(readFileSync(fileIn(app.dir, 9), 'utf8')).toBe(foreign)
    expect(await currentIn(app)).toBe(13)
  })

  test('is apart from the data directory when VIDIMUS_KEY_DIR says so, and the first start makes that directory for its owner only', async () => {
    const keyDir = join(temporaryDir(), 'keys')
    const app = await startApp({ config: { keyDir, masterKey: { file: join(keyDir, 'master.key'), isGiven: false } } })
    expect(namesIn(keyDir)).toEqual(['master.key', 'wrapping-1.key'])
    expect(statSync(keyDir).mode & 0o777).toBe(0o700)
    expect(statSync(fileIn(keyDir, 1)).mode & 0o777).toBe(0o600)
    expect(keysIn(app.dir)).toEqual([])
  })
})

sqliteOnly('backup and restore are of the file')(
  'a backup from before a turn is restored with the keys of today, and newer keys are not used again',
  async () => {
    const own = await copy()
    const backup = join(temporaryDir(), 'before.db')
    await vidimusJson(own, 'backup', backup)
    const app = await startApp({ dir: own, now: Date.now() })
    for (let day = 0; day < 2; day++) await passDay(app)
    await app.stop()
    expect(keysIn(own)).toEqual(['wrapping-1.key', 'wrapping-2.key', 'wrapping-3.key'])
    await vidimusJson(own, 'restore', backup)
    const restored = await startApp({ dir: own, now: app.clock.now() })
    await expectAllOpen(restored, key, some())
    await passDay(restored)
    expect(await currentIn(restored)).toBe(4)
    await expectAllOpen(restored, key, some())
    for (let day = 0; day < 15; day++) await passDay(restored)
    for (const id of [1, 2, 3]) expect([id, existsSync(fileIn(own, id))]).toEqual([id, false])
    await expectAllOpen(restored, key, some())
  },
)

test('metrics show the age of the wrapping key', async () => {
  const app = await startApp({ dir: await copy(), now: NOON + 1000 })
  app.clock.advance(3 * DAY_MS)
  expect(await app.deps.metrics.render()).toMatch(/^vidimus_wrapping_key_age_seconds 25920[01]$/m)
  expect(await checkOf(app)).toMatchObject({ status: 'warning', detail: expect.stringMatching(/has not turned for 3 days/) })
})

test('a wrapping key that others can read is a problem of doctor, with the command that mends it', async () => {
  const app = await startApp({ dir: await copy() })
  const file = fileIn(app.dir, 1)
  chmodSync(file, 0o644)
  expect(await checkOf(app)).toMatchObject({
    status: 'problem',
    detail: `${file} can be read by others: the next start will fail.`,
    remedy: `Run: chmod 600 ${file}`,
  })
  chmodSync(file, 0o600)
  expect(await checkOf(app)).toMatchObject({ status: 'ok' })
})
