// Commands while the file of a wrapping key is missing: nothing is taken for changed or lost that the file brings back.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { REFUSALS } from '../../src/db/refusal.ts'
import { cleanUp, createVerification, startWithTenant, temporaryDir } from '../helpers/app.ts'
import { vidimus } from '../helpers/command.ts'
import { isOnPostgres } from '../helpers/database.ts'

afterAll(cleanUp)

let dir: string
let file: string

beforeAll(async () => {
  const { app, key } = await startWithTenant({ now: Date.now() })
  await createVerification(app, key)
  await app.stop()
  dir = app.dir
  file = join(dir, 'wrapping-1.key')
  renameSync(file, `${file}.away`)
})

const missing = () => `vidimus: ${file} is missing or unreadable, and without it verifications cannot be read; put it back`

test('doctor names the missing wrapping key, and advises no erasure', async () => {
  const { checks } = JSON.parse((await vidimus(dir, ['doctor', '--json'])).stdout)
  const { status, detail } = checks.find(({ name }: { name: string }) => name === 'database')
  expect(status).toBe('problem')
  expect(detail).toStartWith(`Without ${file} these verifications cannot be decrypted: vs_`)
  expect(detail).toEndWith('Put it back from your safe copy of the key directory, and erase none of them.')
})

test('audit verify and audit export refuse, and call no record changed', async () => {
  const out = join(temporaryDir(), 'audit.jsonl')
  for (const args of [['verify'], ['export', out]]) {
    const { exitCode, stderr } = await vidimus(dir, ['audit', ...args])
    expect([args[0], exitCode]).toEqual([args[0], REFUSALS.key_missing])
    expect(stderr).toStartWith(missing())
  }
  expect(existsSync(out)).toBe(false)
})

test.skipIf(isOnPostgres)('backup refuses, and does not call the database unsound', async () => {
  const { exitCode, stderr } = await vidimus(dir, ['backup', join(temporaryDir(), 'copy.db')])
  expect(exitCode).toBe(REFUSALS.key_missing)
  expect(stderr).toStartWith(missing())
})

test('a pipe in the place of the wrapping key is not waited for', async () => {
  expect(Bun.spawnSync(['mkfifo', '-m', '600', file]).exitCode).toBe(0)
  const { exitCode, stderr } = await vidimus(dir, ['audit', 'verify'])
  rmSync(file)
  expect(exitCode).toBe(REFUSALS.key_missing)
  expect(stderr).toStartWith(missing())
})
