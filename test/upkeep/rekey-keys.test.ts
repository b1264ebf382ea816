// "rekey --data" and the keys beside rows: what it prints, and what users still have afterwards.
import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import { recoveryHash, replaceRecoveryCodes } from '../../src/people/recovery-codes.ts'
import { PURPOSES } from '../../src/seal.ts'
import { exportBundle } from '../../src/trust/bundle.ts'
import { cleanUp, startApp, type TestApp } from '../helpers/app.ts'
import { vidimus, vidimusJson } from '../helpers/cli.ts'
import { openBrowser, setUpOwner } from '../helpers/dashboard.ts'
import { rowsOf } from '../helpers/database.ts'

setDefaultTimeout(60_000)
afterAll(cleanUp)

const BLOCK = { environment: 'live', fingerprint: 'ab'.repeat(32), reason: 'stolen key' }

type Rekeyed = {
  turned: string[]
  kept: { use: string; reason: string }[]
  bundle_signer: { before: string; after: string } | null
}

async function installation() {
  const app = await startApp({ now: Date.now() })
  const boss = await setUpOwner(app)
  const [user] = rowsOf<{ id: string }>(app.home, 'SELECT id FROM dashboard_users')
  const codes = await app.deps.writeSettings(tx => replaceRecoveryCodes(app.deps, tx, user!.id))
  return { app, boss, user: user!.id, codes, signer: await signerOf(app) }
}

const signerOf = async ({ deps }: TestApp) => (await exportBundle(deps, {}, 'test')).signer
const hashes = ({ home }: TestApp) => rowsOf<{ hash: string }>(home, 'SELECT hash FROM recovery_codes').map(({ hash }) => hash)

test('rekey --data prints each key that it turned or kept, and names bundles that were signed before', async () => {
  const { app, signer } = await installation()
  await app.stop()
  const { turned, kept, bundle_signer } = await vidimusJson<Rekeyed>(app.home, 'rekey', '--data')
  // Rows are one more.
  expect(turned.length + kept.length).toBe(Object.keys(PURPOSES).length + 1)
  expect(kept.every(({ reason }) => reason.length > 10)).toBe(true)
  expect(bundle_signer?.before).toBe(signer)
  expect(bundle_signer?.after).not.toBe(signer)
  const again = await startApp({ dir: app.home, now: Date.now() })
  expect(await signerOf(again)).toBe(bundle_signer!.after)
  await again.stop()
  const { stdout } = await vidimus(app.home, ['rekey', '--data'])
  expect(stdout).toContain(`Trust bundles that were made before are signed by ${bundle_signer!.after}, new ones by `)
  expect(stdout).toContain('\n  signatures of trust bundles\n')
  expect(stdout).toContain('\n  search by metadata: verifications made before must be found\n')
  expect(await vidimusJson<Rekeyed>(app.home, 'rekey')).toMatchObject({ turned: [], kept: [], bundle_signer: null })
})

test('after two rekeys recovery codes stay good, under keys that the old master key does not give', async () => {
  const { app, user, codes } = await installation()
  const before = hashes(app)
  await app.stop()
  for (let round = 0; round < 2; round++) await vidimusJson(app.home, 'rekey', '--data')
  const again = await startApp({ dir: app.home, now: Date.now() })
  const stored = hashes(again)
  expect(stored.toSorted()).toEqual(codes.map(code => recoveryHash(again.deps, user, code)!).toSorted())
  expect(stored.some(hash => before.includes(hash))).toBe(false)
  const fresh = await again.deps.writeSettings(tx => replaceRecoveryCodes(again.deps, tx, user))
  expect(hashes(again)).toContain(recoveryHash(again.deps, user, fresh[0]!)!)
})

test('after rekey --data nobody is signed out: the page is loaded again, and acts', async () => {
  const { app, boss } = await installation()
  await app.stop()
  await vidimusJson(app.home, 'rekey', '--data')
  const again = await startApp({ dir: app.home, now: Date.now() })
  const page = openBrowser(again)
  Object.assign(page.state, boss.state)
  expect((await page.post('/trust/blocks', BLOCK)).status).toBe(403)
  // What a page does when it is loaded.
  expect((await page.get('/session')).status).toBe(200)
  expect((await page.post('/trust/blocks', BLOCK)).status).toBe(201)
})
