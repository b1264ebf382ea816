// What doctor says of tills that read phones.
import { afterAll, describe, expect, test } from 'bun:test'
import { changeDevice } from '../../src/devices/change.ts'
import { revokeDevice } from '../../src/devices/revoke.ts'
import { getCertificate } from '../helpers/access.ts'
import { cleanUp, createVerification, startWithTenant } from '../helpers/app.ts'
import { DAY_MS } from '../helpers/certificates.ts'
import { register } from '../helpers/devices.ts'
import { examine } from '../helpers/doctor.ts'
import { callRoute } from '../helpers/in-person.ts'

afterAll(cleanUp)

async function start() {
  const here = await startWithTenant()
  here.app.deps.config.publicUrl = 'http://localhost'
  const found = async () => (await examine(here.app.deps, true, ['in_person']))[0]
  return { ...here, found }
}

describe('the check in_person', () => {
  test('waits for a till, and counts none that asks in other ways or is revoked', async () => {
    const { app, id: tenantId, key, found } = await start()
    const owner = { tenantId, environment: 'test' } as const
    expect(await found()).toMatchObject({ status: 'not_set_up', detail: 'No till reads phones in person.' })
    const [{ device }, other] = [await register(app, key), await register(app, key, { name: 'Till 2' })]
    expect(await found()).toMatchObject({ status: 'ok', detail: 'Tills can read phones; they are asked by an unknown reader.' })
    await changeDevice(app.deps, owner, device.id, { ways: ['qr'] }, 'boss')
    await revokeDevice(app.deps, owner, other.device.id, 'boss')
    expect(await found()).toMatchObject({ status: 'not_set_up' })
  })

  test('warns of plain http, and of live tills whose reader nobody knows, until a certificate is imported', async () => {
    const { app, key, liveKey, found } = await start()
    await register(app, key)
    expect(await found()).toMatchObject({ status: 'ok' })
    await register(app, liveKey)
    expect(await found()).toMatchObject({
      status: 'warning',
      detail: expect.stringContaining('EU wallets may refuse an unknown reader'),
    })
    await getCertificate(app)
    expect(await found()).toMatchObject({
      status: 'ok',
      detail: expect.stringMatching(/^Tills can read phones; they are asked by .+ \(\d{4}-\d\d-\d\d\)\.$/),
    })
    app.deps.config.publicUrl = 'http://verify.example'
    expect(await found()).toMatchObject({ status: 'warning', remedy: expect.stringContaining('TLS') })
  })

  test('warns of three failures within a week, with what helps against the latest', async () => {
    const { app, key, found } = await start()
    await register(app, key)
    const fail = async (code: string) =>
      expect((await callRoute(app, (await createVerification(app, key)).id, 'failure', { key, body: { code } })).status).toBe(204)
    for (const code of ['lost', 'not_chosen']) await fail(code)
    expect(await found()).toMatchObject({ status: 'ok' })
    await fail('no_bluetooth')
    expect(await found()).toMatchObject({
      status: 'warning',
      detail: 'Tills failed to read phones 3 times within a week: no_bluetooth, not_chosen, lost.',
      remedy: expect.stringContaining('Switch Bluetooth on'),
      de: { remedy: expect.stringContaining('Bluetooth am Tablet') },
    })
    app.clock.advance(7 * DAY_MS)
    expect(await found()).toMatchObject({ status: 'ok' })
  })
})
