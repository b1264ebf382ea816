import { expect, test } from 'bun:test'
import { createVerification, type ErrorBody, startApp } from '../helpers/app.ts'

test('VIDIMUS_SANDBOX=off answers 404 for wallet, documents and status list, and removes them from the API document', async () => {
  const app = await startApp({ config: { hasSandbox: false } })
  for (const [method, path] of [
    ['GET', '/sandbox'],
    ['GET', '/sandbox/status-list'],
    ['POST', '/sandbox/documents'],
  ] as const) {
    const { status, body } = await app.call<ErrorBody>(method, path)
    expect([path, status, body.error?.code]).toEqual([path, 404, 'not_found'])
  }
  const { body } = await app.call<{ paths: object }>('GET', '/openapi.json')
  expect(Object.keys(body.paths).filter(path => path.includes('sandbox'))).toEqual([])
})

test('pages do not offer the wallet with VIDIMUS_SANDBOX=off', async () => {
  for (const hasSandbox of [true, false]) {
    const app = await startApp({ config: { hasSandbox } })
    const { id } = await createVerification(app, (await app.tenant()).key)
    for (const path of ['/dashboard', '/till', `/v/${id}`]) {
      const { text } = await app.call('GET', path)
      expect([path, text.includes('<html data-sandbox="off" lang="en"')]).toEqual([path, !hasSandbox])
    }
  }
})
