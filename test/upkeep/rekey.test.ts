// `vidimus rekey`: afterwards only the new key opens the database, and a kill anywhere leaves a key that does.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { REFUSALS } from '../../src/db/refusal.ts'
import type { Verification } from '../../src/verifications/schema.ts'
import { call, createVerification, startApp, temporaryDir } from '../helpers/app.ts'
import { serve, stopServing } from '../helpers/cli.ts'
import { vidimus, vidimusJson } from '../helpers/command.ts'
import { HOW, killPoints } from '../helpers/crash/kill-at.ts'
import { contentOf, copyOf, invariantsOf, modeOf, namesIn, one, SOUND } from '../helpers/directories.ts'
import { filesContaining } from '../helpers/files.ts'
import { seeded } from '../helpers/seeded.ts'

afterAll(stopServing)

let dir: string
let key: string
let made: Verification

beforeAll(async () => {
  const app = await startApp({ now: Date.now() })
  ;({ key } = await app.tenant())
  made = await createVerification(app, key, { purpose: 'to sell a bottle', metadata: { order: 'o-1' } })
  await app.stop()
  dir = app.dir
})

const databaseOf = (own: string) => join(own, 'vidimus.db')
const keyOf = (own: string) => join(own, 'master.key')
const wrappedIn = (own: string) => one(databaseOf(own), "SELECT value FROM installation WHERE name = 'root_key'") as Uint8Array

/** A server starts on the directory and reads its sealed values. */
async function purposeIn(own: string): Promise<unknown> {
  const server = await serve(own)
  const { body } = await call<Verification>(server.url, 'GET', `/v1/verifications/${made.id}`, { key })
  server.process.kill('SIGKILL')
  await server.process.exited
  return body.purpose
}

describe('a new master key', () => {
  test('opens everything; the old one opens nothing any more, and what it wrapped is in no file', async () => {
    const own = copyOf(dir)
    const oldKey = readFileSync(keyOf(own))
    const oldWrapped = wrappedIn(own)
    expect(await vidimusJson<object>(own, 'rekey')).toMatchObject({ key: keyOf(own), data: false, backups_of_old_key: [] })
    expect(readFileSync(keyOf(own))).toHaveLength(32)
    expect(readFileSync(keyOf(own)).equals(oldKey)).toBe(false)
    expect(modeOf(keyOf(own))).toBe('600')
    expect([...filesContaining(own, oldKey), ...filesContaining(own, oldWrapped)]).toEqual([])
    expect(await purposeIn(own)).toBe('to sell a bottle')
    expect(await vidimusJson<object>(own, 'audit', 'verify')).toMatchObject({ ok: true })
    expect(one(databaseOf(own), 'SELECT action FROM audit_records ORDER BY seq DESC LIMIT 1')).toBe('master_key.replaced')

    writeFileSync(keyOf(own), oldKey, { mode: 0o600 })
    const { exitCode, stderr } = await vidimus(own, ['tenant', 'list'])
    expect(exitCode).toBe(REFUSALS.key_wrong)
    expect(stderr).toContain('put the right one back')
  })

  test('does not open backups from before: they are named, and restored with the old key in its place', async () => {
    const own = copyOf(dir)
    const oldKey = readFileSync(keyOf(own))
    const backup = join(own, 'backups', 'mine.db')
    await vidimusJson(own, 'backup', join(temporaryDir(), 'makes-nothing-here.db'))
    expect(existsSync(join(own, 'backups'))).toBe(false)
    await vidimusJson(own, 'restore', await backupOf(own))
    await vidimusJson(own, 'backup', backup)
    const { backups_of_old_key } = await vidimusJson<{ backups_of_old_key: string[] }>(own, 'rekey')
    expect(backups_of_old_key).toContain(backup)
    const told = await vidimus(own, ['rekey'])
    expect(told.stdout).toContain(`in ${join(own, 'backups')} can be read only with a copy of the old key`)

    const newKey = readFileSync(keyOf(own))
    const before = contentOf(own)
    const refused = await vidimus(own, ['restore', backup])
    expect(refused.exitCode).toBe(REFUSALS.key_wrong)
    expect(refused.stderr).toMatch(/^vidimus: [^\n]+put the key in place that was used then\n$/)
    expect(contentOf(own)).toEqual(before)
    writeFileSync(keyOf(own), oldKey)
    // The replaced database cannot be read with the old key; only the log knows what was erased since.
    await vidimusJson(own, 'restore', backup)
    expect(await purposeIn(own)).toBe('to sell a bottle')
    expect(newKey.equals(oldKey)).toBe(false)
  })

  async function backupOf(own: string): Promise<string> {
    const file = join(temporaryDir(), 'backup.db')
    await vidimusJson(own, 'backup', file)
    return file
  }

  test('is refused while a server runs, without a database, and with a wrong key; nothing is changed', async () => {
    const own = copyOf(dir)
    const server = await serve(own)
    const keyBefore = readFileSync(keyOf(own))
    const running = await vidimus(own, ['rekey'])
    expect(running.exitCode).toBe(REFUSALS.directory_in_use)
    expect(running.stderr).toMatch(/^vidimus: a server uses [^\n]+; stop it, and run this again\n$/)
    expect(readFileSync(keyOf(own)).equals(keyBefore)).toBe(true)
    server.process.kill('SIGKILL')
    await server.process.exited

    writeFileSync(keyOf(own), seeded(1).bytes(32))
    const before = contentOf(own)
    expect((await vidimus(own, ['rekey'])).exitCode).toBe(REFUSALS.key_wrong)
    expect(contentOf(own)).toEqual(before)

    const none = join(temporaryDir(), 'data')
    const missing = await vidimus(none, ['rekey'])
    expect([missing.exitCode, existsSync(none)]).toEqual([1, false])
    expect(missing.stderr).toMatch(/^vidimus: there is no database in [^\n]+VIDIMUS_DATA_DIR\n$/)
  })
})

test('a directory with the name of the new key is refused with what to remove, and nothing is changed', async () => {
  const own = copyOf(dir)
  mkdirSync(`${keyOf(own)}.new`)
  const before = contentOf(own)
  const { exitCode, stderr } = await vidimus(own, ['rekey'])
  expect(stderr).toBe(`vidimus: ${keyOf(own)}.new is a directory, and a new key needs this name; remove it\n`)
  expect(exitCode).toBe(REFUSALS.directory_unusable)
  expect(contentOf(own)).toEqual(before)
  rmdirSync(`${keyOf(own)}.new`)
  expect((await vidimus(own, ['rekey'])).exitCode).toBe(0)
})

test('a master key that is a link is refused with what to do; link, key and database stay', async () => {
  const own = copyOf(dir)
  const elsewhere = join(temporaryDir(), 'kept.key')
  renameSync(keyOf(own), elsewhere)
  symlinkSync(elsewhere, keyOf(own))
  const before = [contentOf(own), readFileSync(elsewhere, 'hex')]
  const { exitCode, stderr } = await vidimus(own, ['rekey'])
  expect(exitCode).toBe(1)
  expect(stderr).toMatch(/^vidimus: [^\n]+ is a link to [^\n]+; put the key itself in its place, run this again, [^\n]+\n$/)
  expect(stderr).toContain(elsewhere)
  expect([contentOf(own), readFileSync(elsewhere, 'hex')]).toEqual(before)
  expect(lstatSync(keyOf(own)).isSymbolicLink()).toBe(true)
  expect(await purposeIn(own)).toBe('to sell a bottle')
})

test(`killed ${HOW}, the directory opens with what is there, and the next rekey is done`, async () => {
  const points = await killPoints(copyOf(dir), ['rekey'], 3)
  const oldKey = readFileSync(keyOf(dir))
  const ends = { killed: 0, old: 0, new: 0 }
  for (const [i, { name, run }] of points.entries()) {
    const own = copyOf(dir)
    if ((await run(own, ['rekey'])).isKilled) ends.killed++
    // The next command goes on from there, whichever it is; a backup opens the directory differently.
    if (i % 2) await vidimusJson(own, 'backup', join(temporaryDir(), 'backup.db'))
    expect([name, await vidimusJson<object>(own, 'audit', 'verify')]).toEqual([name, expect.objectContaining({ ok: true })])
    expect([name, namesIn(own).filter(each => each.startsWith('master.key'))]).toEqual([name, ['master.key']])
    expect([name, modeOf(keyOf(own))]).toEqual([name, '600'])
    ends[readFileSync(keyOf(own)).equals(oldKey) ? 'old' : 'new']++
    expect([name, invariantsOf(databaseOf(own))]).toEqual([name, SOUND])
    await vidimusJson(own, 'rekey')
    expect([name, await vidimusJson<object>(own, 'audit', 'verify')]).toEqual([name, expect.objectContaining({ ok: true })])
    rmSync(own, { recursive: true })
  }
  expect(ends.killed).toBeGreaterThan(points.length / 2)
  expect(Math.min(ends.old, ends.new)).toBeGreaterThan(0)
})

test('a new key that was half-written, or that belongs to nothing, is thrown away', async () => {
  for (const length of [0, 7, 32]) {
    const own = copyOf(dir)
    writeFileSync(`${keyOf(own)}.new`, seeded(2).bytes(length), { mode: 0o600 })
    expect(await purposeIn(own)).toBe('to sell a bottle')
    expect(existsSync(`${keyOf(own)}.new`)).toBe(false)
    expect(readFileSync(keyOf(own)).equals(readFileSync(keyOf(dir)))).toBe(true)
  }
})
