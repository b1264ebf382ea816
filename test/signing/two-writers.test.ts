// Two processes that make or import a signing key at the same time.

import { afterAll, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { loadConfig } from '../../src/config.ts'
import { signingKeys } from '../../src/db/schema/signing.ts'
import { createDeps } from '../../src/deps.ts'
import { issueAuthority, issueLeaf } from '../../src/signing/authority.ts'
import { signingState } from '../../src/signing/certificate.ts'
import { importSigningKey } from '../../src/signing/import.ts'
import { ensureSigningKey, openPrivateKey } from '../../src/signing/keys.ts'
import { listLeavesOf } from '../../src/signing/store.ts'
import { cleanUp, NOON, startApp, temporaryDir } from '../helpers/app.ts'
import { databaseOf } from '../helpers/database.ts'

afterAll(cleanUp)

const random = (count: number) => randomBytes(count)

test('one of two first starts at the same time makes the signing key', async () => {
  const dir = temporaryDir()
  const config = loadConfig({ PORT: '0', VIDIMUS_DATA_DIR: dir, ...(await databaseOf(dir)) })
  const world = { now: () => NOON, random, resolve: async () => [], writeLog: () => {}, prettyLog: false }
  const deps = await createDeps(config, world, 'server')
  await Promise.all([ensureSigningKey(deps), ensureSigningKey(deps)])
  const roles = (await deps.db.select().from(signingKeys)).map(({ role }) => role)
  expect(roles.sort()).toEqual(['authority', 'leaf'])
  deps.changes.close()
  await deps.close()
})

test('a chain without a key is refused when another key becomes the current one meanwhile', async () => {
  const { deps } = await startApp()
  const authority = await issueAuthority({ name: 'Other', at: NOON, random })
  const issue = () => issueLeaf({ authority, name: 'Shop', hosts: ['verify.example'], days: 90, at: NOON, random })
  const first = await issue()
  const keyPem = first.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString()
  const own = { owner: null, authorities: [] }
  await importSigningKey(deps, { ...own, chainPem: first.chain, keyPem }, 'test')
  // As after "signing csr": a chain for the key that is current now.
  const current = (await listLeavesOf(deps.db, null))[0]!
  expect(openPrivateKey(deps, current).equals(first.privateKey)).toBe(true)
  const second = await issue()
  const secondKey = second.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString()
  const meanwhile: typeof deps.writeSettings = async work => {
    await importSigningKey(deps, { ...own, chainPem: second.chain, keyPem: secondKey }, 'test')
    return await deps.writeSettings(work)
  }
  const late = importSigningKey({ ...deps, writeSettings: meanwhile }, { ...own, chainPem: first.chain }, 'test')
  await expect(late).rejects.toThrow('the signing key was replaced meanwhile')
  expect((await signingState(deps)).chain).toBe(second.chain.trim())
})
