// A portrait is compared with a face and never stored: templates.md 3.4, and the retention hint of
// every built-in template.
import { afterAll, describe, expect, test } from 'bun:test'
import { BUILTIN_TEMPLATES } from '../../src/templates/builtin.ts'
import { sweepPortraits } from '../../src/verifications/end/release.ts'
import { isPortraitGone, PORTRAIT_MS } from '../../src/verifications/portraits.ts'
import type { Verification } from '../../src/verifications/schema.ts'
import { cleanUp, startApp, type TestApp } from '../helpers/app.ts'
import { verifyWith } from '../helpers/wallet.ts'

afterAll(cleanUp)

const read = async (app: TestApp, key: string, id: string): Promise<Verification> =>
  (await app.call<Verification>('GET', `/v1/verifications/${id}`, { key })).body

const portraitsIn = ({ claims, credentials }: Verification): number =>
  (JSON.stringify([claims, credentials?.map(each => each.claims)]).match(/"(portrait|picture)":/g) ?? []).length

const WITH_PORTRAIT = [...BUILTIN_TEMPLATES.values()].filter(({ query }) => /portrait|picture/.test(JSON.stringify(query)))

test('no built-in template that asks for a portrait keeps it', () => {
  expect(WITH_PORTRAIT.length).toBeGreaterThan(3)
  expect(WITH_PORTRAIT.filter(({ retention }) => retention === 'claims')).toEqual([])
})

describe.each(WITH_PORTRAIT.map(({ key }) => key))('%s', template => {
  test('the portrait is shown for a quarter of an hour, and never stored', async () => {
    const app = await startApp()
    const { key } = await app.tenant()
    const { verification } = await verifyWith(app, key, 'adult', { body: { template } })
    expect(verification.status).toBe('completed')
    // Among the merged claims, and as the document itself has it.
    expect(portraitsIn(verification)).toBe(2)

    app.clock.advance(PORTRAIT_MS - 1)
    expect(await read(app, key, verification.id)).toEqual(verification)
    app.clock.advance(1)
    const stored = await read(app, key, verification.id)
    expect(portraitsIn(stored)).toBe(0)
    const { picture: _, ...others } = verification.claims ?? {}
    expect(stored.claims).toEqual(others)
  })

  test('a portrait survives a restart, and not its time', async () => {
    const app = await startApp()
    const { key } = await app.tenant()
    const { verification } = await verifyWith(app, key, 'adult', { body: { template } })
    await app.stop()
    const again = await startApp({ dir: app.dir, now: app.clock.now() })
    expect(await read(again, key, verification.id)).toEqual(verification)
    again.clock.advance(PORTRAIT_MS)
    expect(portraitsIn(await read(again, key, verification.id))).toBe(0)
  })
})

test('a portrait that did not verify is not stored either', async () => {
  const app = await startApp()
  const { key } = await app.tenant()
  const { verification } = await verifyWith(app, key, 'expired', { body: { template: 'age_over_18_photo' } })
  expect([verification.status, portraitsIn(verification)]).toEqual(['failed', 1])
  app.clock.advance(PORTRAIT_MS)
  expect(portraitsIn(await read(app, key, verification.id))).toBe(0)
})

test('a query of your own keeps what it asked for', async () => {
  const app = await startApp()
  const { key } = await app.tenant()
  const claims = [{ path: ['picture'] }]
  const query = { credentials: [{ id: 'pid', format: 'dc+sd-jwt', meta: { vct_values: ['urn:eudi:pid:1'] }, claims }] }
  const { verification } = await verifyWith(app, key, 'adult', { body: { template: undefined, query } })
  expect(portraitsIn(verification)).toBe(2)
  app.clock.advance(PORTRAIT_MS)
  expect(await read(app, key, verification.id)).toEqual(verification)
})

test('a portrait is forgotten with its session, and after its time without a read', async () => {
  const app = await startApp()
  const { id, key } = await app.tenant()
  const photo = () => verifyWith(app, key, 'adult', { body: { template: 'age_over_18_photo' } })
  const [erased, other] = [(await photo()).verification, (await photo()).verification]
  const isGone = (verification: Verification) =>
    isPortraitGone(
      app.deps,
      { id: verification.id, tenantId: id, template: verification.template ?? null, templateVersion: null },
      verification,
    )
  expect(await isGone(erased)).toBe(false)
  await app.call('DELETE', `/v1/verifications/${erased.id}`, { key })
  expect(await isGone(erased)).toBe(true)
  app.clock.advance(PORTRAIT_MS)
  await sweepPortraits(app.deps)
  app.clock.set(app.clock.now() - PORTRAIT_MS)
  expect(await isGone(other)).toBe(true)
})
