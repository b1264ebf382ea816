import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { startApp, type TestApp, temporaryDir } from './app.ts'
import { isOnPostgres, rowsOf } from './database.ts'

const SCHEMA = 'SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name'
const ROOT_KEY = "SELECT value FROM installation WHERE name = 'root_key'"
const PRIVATE_KEYS = 'SELECT sealed FROM signing_keys ORDER BY role'
const CERTIFICATES = 'SELECT chain FROM signing_keys ORDER BY role'
const SANDBOX = "SELECT value FROM installation WHERE name = 'sandbox_issuer'"

test.skipIf(isOnPostgres)('a prepared directory has the schema of a first start, and keys of its own', async () => {
  const first = await startApp({ dir: temporaryDir() })
  const [one, other] = [await startApp(), await startApp()]
  expect(rowsOf(one, SCHEMA)).toEqual(rowsOf(first, SCHEMA))
  expect(readFileSync(join(one.dir, 'master.key')).equals(readFileSync(join(other.dir, 'master.key')))).toBe(false)
  for (const kept of [ROOT_KEY, PRIVATE_KEYS, SANDBOX]) {
    expect(rowsOf(one, kept)).not.toBeEmpty()
    expect(rowsOf(one, kept)).not.toEqual(rowsOf(other, kept))
  }
})

test('prepared directories at one address and time share their issuers; a first start makes its own', async () => {
  const anchorOf = async ({ deps }: TestApp) => Buffer.from((await deps.sandbox()).issuer.anchor).toString('base64')
  const [one, other, first] = [await startApp(), await startApp(), await startApp({ dir: temporaryDir() })]
  expect(await anchorOf(one)).toBe(await anchorOf(other))
  expect(await anchorOf(first)).not.toBe(await anchorOf(one))
  expect(rowsOf(one, CERTIFICATES)).toEqual(rowsOf(other, CERTIFICATES))
  expect(rowsOf(first, CERTIFICATES)).not.toEqual(rowsOf(one, CERTIFICATES))
})
