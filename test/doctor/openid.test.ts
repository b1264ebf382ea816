// What doctor says of programs where people log in.
import { afterAll, expect, test } from 'bun:test'
import { changeClient, createClient } from '../../src/oidc/clients.ts'
import { cleanUp, startWithTenant } from '../helpers/app.ts'
import { DAY_MS } from '../helpers/certificates.ts'
import { examine } from '../helpers/doctor.ts'

afterAll(cleanUp)

const REDIRECT = 'https://forum.example/auth/oidc/callback'

async function start() {
  const { app, id: tenantId } = await startWithTenant()
  const found = async (publicUrl = 'http://localhost') => {
    app.deps.config.publicUrl = publicUrl
    return (await examine(app.deps, true, ['openid_provider']))[0]
  }
  const add = () =>
    createClient(
      app.deps,
      { tenantId, environment: 'test' },
      { name: 'Forum', redirect_uris: [REDIRECT], templates: ['age_over_18'] },
      'boss',
    )
  return { app, tenantId, found, add }
}

test('the check openid_provider waits for a program, and names those without PKCE', async () => {
  const { app, found, add } = await start()
  expect(await found()).toMatchObject({ status: 'not_set_up', detail: 'No program logs people in here.' })
  const { id } = await add()
  expect(await found()).toMatchObject({ status: 'ok', detail: '1 program logs people in; all with PKCE.' })
  await changeClient(app.deps, id, { pkce: 'optional' }, 'boss')
  expect(await found()).toMatchObject({ status: 'ok', detail: '1 program logs people in; without PKCE: Forum.' })
})

test('plain http, an address that is not reached, old keys and a refusal within a day are named with a remedy', async () => {
  const { app, tenantId, found, add } = await start()
  const { id } = await add()
  expect(await found('http://shop.example')).toMatchObject({
    status: 'problem',
    detail: expect.stringContaining('log-ins need https'),
  })
  expect(await found('https://shop.invalid')).toMatchObject({
    status: 'problem',
    detail: expect.stringContaining('cannot fetch the settings and keys'),
  })
  app.deps.config.publicUrl = 'http://localhost'
  const authorize = `/oidc/${tenantId}/test/authorize?client_id=${id}&redirect_uri=https%3A%2F%2Felsewhere.example`
  expect((await app.call('GET', authorize)).status).toBe(400)
  expect(await found()).toMatchObject({
    status: 'warning',
    detail: expect.stringContaining('Programs were refused within a day: Forum (redirect_uri_mismatch).'),
  })
  app.clock.advance(DAY_MS + 1)
  expect(await found()).toMatchObject({ status: 'ok' })
  app.clock.advance(100 * DAY_MS)
  expect(await found()).toMatchObject({ status: 'warning', detail: expect.stringContaining('older than 100 days') })
})
