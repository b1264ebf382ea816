// The anchors in memory: read once for each version of the settings.
import { afterAll, expect, test } from 'bun:test'
import type { AnchorIndex } from '../../src/openid4vp/trust/anchor-index.ts'
import { describeCertificate } from '../../src/openid4vp/x509/x509.ts'
import { rememberAnchors } from '../../src/trust/anchors.ts'
import { cleanUp, startApp, type TestApp } from '../helpers/app.ts'
import { forgeSigner, trust } from '../helpers/forger.ts'

afterAll(cleanUp)

/** Anchors over a database that counts statements, and fails while it is told to. */
function watched({ deps }: TestApp) {
  const state = { reads: 0, fails: false }
  const db = new Proxy(deps.db, {
    get(target, name, receiver) {
      if (name === 'select') {
        state.reads++
        if (state.fails) throw new Error('the database is away')
      }
      return Reflect.get(target, name, receiver)
    },
  })
  return { state, anchors: rememberAnchors({ db, settingsVersion: deps.settingsVersion, sandbox: deps.sandbox }) }
}

const issuer = await forgeSigner()
const root = describeCertificate(issuer.root)!
const found = (index: AnchorIndex) => index.reachableFrom([root], [])[0]

test('answers at once share one read, and later ones none until a setting changes', async () => {
  const app = await startApp()
  await trust(app, issuer)
  const { anchors, state } = watched(app)
  const [first, ...others] = await Promise.all(Array.from({ length: 20 }, () => anchors('test')))
  expect(others.every(index => index === first)).toBe(true)
  const reads = state.reads
  expect(await anchors('test')).toBe(first!)
  expect(state.reads).toBe(reads)
  await trust(app, await forgeSigner())
  expect(await anchors('test')).not.toBe(first!)
})

test('a certificate that stays is not read again after a change', async () => {
  const app = await startApp()
  await trust(app, issuer)
  const { anchors } = watched(app)
  const before = found(await anchors('test'))
  await trust(app, await forgeSigner())
  const after = found(await anchors('test'))
  expect(before?.anchor.id).toStartWith('anc_')
  expect(after?.certificate).toBe(before!.certificate)
})

test('the next answer reads again after a read that failed', async () => {
  const app = await startApp()
  await trust(app, issuer)
  const { anchors, state } = watched(app)
  state.fails = true
  expect(anchors('test')).rejects.toThrow('the database is away')
  state.fails = false
  expect(found(await anchors('test'))?.anchor.id).toStartWith('anc_')
})
