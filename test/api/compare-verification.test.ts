// The photo check of a device: a good answer is held until the cashier has compared its photo (decisions.md 14.5).
import { afterAll, describe, expect, test } from 'bun:test'
import { linkEntries } from '../../src/audit/link.ts'
import { verifyAudit } from '../../src/audit/verify.ts'
import { decline } from '../../src/sandbox/wallet/wallet.ts'
import { saveTemplate } from '../../src/templates/save.ts'
import { changeTenant } from '../../src/tenants/settings.ts'
import { browseVerifications } from '../../src/verifications/browse/browse.ts'
import { sweepExpired } from '../../src/verifications/end/expire.ts'
import { sweepHeld, sweepPortraits } from '../../src/verifications/end/release.ts'
import { sweepRetention } from '../../src/verifications/erasure/retain.ts'
import { deletePortrait } from '../../src/verifications/portrait-store.ts'
import { PORTRAIT_MS } from '../../src/verifications/portraits.ts'
import type { Comparison, Verification } from '../../src/verifications/schema.ts'
import { readEvents } from '../../src/verifications/timeline.ts'
import { setEndpoint } from '../../src/webhooks/endpoint.ts'
import { type Answer, cleanUp, createVerification, type ErrorBody, outcome, startApp, type TestApp } from '../helpers/app.ts'
import { rowsOf } from '../helpers/database.ts'
import { listOrigin, presentThrough } from '../helpers/dc.ts'
import { pair } from '../helpers/devices.ts'
import { sqliteOnly } from '../helpers/engines.ts'
import { formOf, openSession, postTo, readOf, type Session } from '../helpers/exchange.ts'
import { filesContaining } from '../helpers/files.ts'
import { receive, startTenantFor, untilAttempted } from '../helpers/receiver.ts'
import { holderOf } from '../helpers/wallet.ts'
import { checkInvariants } from '../invariants/check.ts'

const LIMIT_MS = 120_000
const PHOTO = { template: 'age_over_18_photo' }

const receiver = receive()
const { app, ...tenant } = await startTenantFor([receiver])
await setUp(app, tenant.id)
await listOrigin(app, tenant.id)
const holder = await holderOf(app)
const till = await pair(app, tenant.key, {
  name: 'Till at the door',
  allowed_templates: [PHOTO.template, 'badge', 'age_over_18'],
})
afterAll(cleanUp)

/** An own template that keeps the portrait, and the one endpoint of the shop. */
async function setUp({ deps }: TestApp, tenantId: string) {
  const claims = [{ path: ['given_name'] }, { path: ['picture'] }]
  const query = { credentials: [{ id: 'pid', format: 'dc+sd-jwt' as const, meta: { vct_values: ['urn:eudi:pid:1'] }, claims }] }
  await saveTemplate(deps, { tenantId, key: 'badge', title: 'Badge', query }, 'test')
  await setEndpoint(deps, { tenantId, environment: 'test' }, receiver.url(), 'test')
}

type Held = Session & { id: string; path: string }

/** A session of the till with a good answer that nobody has compared. */
async function hold(body: object = PHOTO, on = { app, key: till.access_token, holder }): Promise<Held> {
  const session = await openSession(on, body)
  const answered = await postTo(session, await formOf(session, on.holder))
  expect([answered.status, answered.body]).toEqual([200, {}])
  return { ...session, id: session.created.id, path: `/v1/verifications/${session.created.id}` }
}

const show = ({ path }: Held, key = till.access_token, on: TestApp = app): Promise<Answer<Comparison & Partial<ErrorBody>>> =>
  on.call('GET', `${path}/comparison`, { key })

type Decided = Answer<Verification & Partial<ErrorBody>>

const decide = ({ path }: Held, same_person: unknown, key = till.access_token, on: TestApp = app): Promise<Decided> =>
  on.call('POST', `${path}/comparison`, { key, body: { same_person } })

const recordsOf = async (id: string, on: TestApp = app) => {
  await linkEntries(on.deps)
  return rowsOf<{ action: string; actor: string }>(
    on,
    'SELECT action, actor FROM audit_records WHERE subject = ? ORDER BY seq',
    on.deps.audit.subjectOf(id),
  ).map(({ action, actor }) => `${action} ${actor}`)
}

const portraitsOf = (id: string, on: TestApp = app) =>
  rowsOf<{ sealed: Uint8Array }>(on, 'SELECT sealed FROM portraits WHERE verification_id = ?', id)

const hasPortrait = (verification: unknown) => /"(portrait|picture)"/.test(JSON.stringify(verification))

describe('a good answer with a photo to a session of a device', () => {
  test('the session is pending for everybody, without links, code, result or webhook', async () => {
    const held = await hold({ ...PHOTO, metadata: { order: '17' } })
    const { request_uri: _, wallet_uri: __, ...created } = held.created
    const read = await readOf(held)
    expect(read).toEqual({ ...created, responded_at: read.responded_at! })
    expect(read.status).toBe('pending')
    for (const key of [till.access_token, tenant.key]) {
      const { body } = await app.call<{ data: Verification[] }>('GET', '/v1/verifications?limit=1', { key })
      expect(body.data).toEqual([read])
    }
    expect((await app.call('GET', `${held.path}/status`)).body).toEqual({ id: held.id, status: 'pending' })
    const { body: hosted } = await app.call<Record<string, unknown>>('GET', `/v/${held.id}/data`)
    expect(hosted).toMatchObject({ status: 'pending', answered: true, compares: true })
    expect(hosted.wallet_uri).toBeUndefined()
    expect(rowsOf(app, 'SELECT id FROM webhook_deliveries WHERE verification_id = ?', held.id)).toEqual([])
    expect(rowsOf(app, 'SELECT response_code_hash FROM verification_sessions WHERE id = ?', held.id)).toEqual([
      { response_code_hash: null },
    ])
    expect(await recordsOf(held.id)).toEqual(['verification.created Till at the door'])
  })

  test('a second answer and a cancellation are 409, a redemption is 404', async () => {
    const held = await hold()
    expect(outcome(await postTo(held, await formOf(held, holder)))).toBe('409 session_already_responded')
    expect(outcome(await postTo(held, (await decline(held.request)).form))).toBe('409 session_already_responded')
    expect(outcome(await app.call('GET', `/wallet/request/${held.id}`))).toBe('409 session_already_responded')
    expect(outcome(await app.call('POST', `${held.path}/cancel`, { key: till.access_token }))).toBe(
      '409 session_already_responded',
    )
    const body = { response_code: 'A'.repeat(43) }
    expect(outcome(await app.call('POST', `${held.path}/redeem`, { key: tenant.key, body }))).toBe('404 invalid_response_code')
    expect((await readOf(held)).status).toBe('pending')
  })

  test('the comparison has the photo as a data URL, the claims without it, and the end of its time', async () => {
    const held = await hold()
    const { status, body } = await show(held)
    expect(status).toBe(200)
    expect(body.portrait).toMatch(/^data:image\/(jpeg|png);base64,[A-Za-z0-9+/]{100,}=*$/)
    expect(body.claims).toEqual({ age_over_18: true })
    expect(body.until).toBe(new Date(Date.parse((await readOf(held)).responded_at!) + LIMIT_MS).toISOString())
    expect(Object.keys(body).sort()).toEqual(['claims', 'portrait', 'until'])
  })

  test.each(['openid4vp-v1-unsigned', 'org-iso-mdoc'] as const)(
    'an answer by %s is pending, without a response code',
    async protocol => {
      const { id } = await createVerification(app, till.access_token, PHOTO)
      const told = await presentThrough(app, id, holder, { protocol })
      expect([told.status, told.body]).toEqual([200, { status: 'pending' }])
      const held = { id, path: `/v1/verifications/${id}` } as Held
      expect((await show(held)).body.portrait).toStartWith('data:image/')
      expect((await decide(held, true)).body.status).toBe('completed')
    },
  )

  test('only the device that created the session sees and decides the comparison', async () => {
    const [held, ofKey] = [await hold(), await hold(PHOTO, { app, key: till.access_token, holder })]
    const other = await pair(app, tenant.key, { allowed_templates: [PHOTO.template] })
    const stranger = await app.tenant()
    const foreign = await pair(app, stranger.key, { allowed_templates: [PHOTO.template] })
    for (const key of [tenant.key, other.access_token, stranger.key, foreign.access_token]) {
      expect(outcome(await show(held, key))).toBe('404 session_not_found')
      expect(outcome(await decide(held, true, key))).toBe('404 session_not_found')
    }
    const reader = await app.key(tenant.id, { scopes: ['devices:manage'] })
    expect(outcome(await show(held, reader))).toBe('403 insufficient_scope')
    expect(outcome(await decide(ofKey, true, reader))).toBe('403 insufficient_scope')
    expect((await readOf(held)).status).toBe('pending')
  })

  test('before the answer the comparison is 404, and the decision must be true or false', async () => {
    const { id } = await createVerification(app, till.access_token, PHOTO)
    const open = { id, path: `/v1/verifications/${id}` } as Held
    expect(outcome(await show(open))).toBe('404 session_not_found')
    expect(outcome(await decide(open, true))).toBe('404 session_not_found')
    const held = await hold()
    for (const wrong of ['yes', null, 1, undefined]) expect(outcome(await decide(held, wrong))).toBe('400 invalid_request')
  })

  test('a bad answer, an answer without a photo and a session of an API key are not held', async () => {
    const minor = await openSession({ app, key: till.access_token }, PHOTO)
    await postTo(minor, await formOf(minor, await holderOf(app, 'minor')))
    const refused = await readOf(minor)
    expect([refused.status, refused.error?.code, hasPortrait(refused)]).toEqual(['failed', 'claim_not_satisfied', false])
    expect(portraitsOf(minor.created.id)).toEqual([])
    expect(outcome(await show({ path: `/v1/verifications/${minor.created.id}` } as Held))).toBe('409 session_already_responded')
    const plain = await openSession({ app, key: till.access_token }, { template: 'age_over_18' })
    await postTo(plain, await formOf(plain, holder))
    expect((await readOf(plain)).status).toBe('completed')
    const ofKey = await openSession({ app, key: tenant.key }, PHOTO)
    await postTo(ofKey, await formOf(ofKey, holder))
    const merchant = await readOf(ofKey)
    expect([merchant.status, hasPortrait(merchant)]).toEqual(['completed', true])
  })
})

describe('the decision', () => {
  test('"the same person" completes the session, sends one webhook, and deletes the portrait', async () => {
    const held = await hold()
    const [row] = portraitsOf(held.id)
    const { status, body } = await decide(held, true)
    expect([status, body.status, body.claims]).toEqual([200, 'completed', { age_over_18: true }])
    expect(body).toEqual(await readOf(held))
    expect([hasPortrait(body), portraitsOf(held.id)]).toEqual([false, []])
    app.clock.advance(1000)
    await untilAttempted(app, held.id, 1)
    const sent = receiver.received.map(message => JSON.parse(message.body)).filter(each => each.verification.id === held.id)
    expect(sent.map(({ type, verification }) => [type, verification])).toEqual([['verification.completed', body]])
    expect(await recordsOf(held.id)).toEqual(['verification.created Till at the door', 'verification.completed Till at the door'])
    const moments = await readEvents(app.deps, { id: held.id, tenantId: tenant.id })
    expect(moments.filter(({ event }) => event === 'photo_compared').map(({ details }) => details)).toEqual([
      { actor: 'Till at the door', same_person: true },
    ])
    expect((await verifyAudit(app.deps)).problem).toBeUndefined()
    expect(row).toBeDefined()
  })

  test('"not the same person" fails the session with not_same_person in every place', async () => {
    const held = await hold()
    const { body } = await decide(held, false)
    expect([body.status, body.error?.code, body.claims]).toEqual(['failed', 'not_same_person', undefined])
    expect(body.credentials).toMatchObject([{ trusted: true, signature_valid: true, holder_binding_valid: true }])
    expect([hasPortrait(body), portraitsOf(held.id)]).toEqual([false, []])
    expect(await readOf(held)).toEqual(body)
    expect(outcome(await show(held))).toBe('409 session_already_responded')
    app.clock.advance(1000)
    await untilAttempted(app, held.id, 1)
    const sent = receiver.received.map(message => JSON.parse(message.body)).filter(each => each.verification.id === held.id)
    expect(sent.map(({ type, verification }) => [type, verification])).toEqual([['verification.failed', body]])
    expect(await recordsOf(held.id)).toEqual(['verification.created Till at the door', 'verification.failed Till at the door'])
    const counted = rowsOf<{ count: number }>(app, "SELECT count FROM outcome_days WHERE outcome = 'not_same_person'")
    expect(counted.length).toBe(1)
  })

  test('an own template keeps its portrait when the session completes, and never when it fails', async () => {
    const [same, other] = [await hold({ template: 'badge' }), await hold({ template: 'badge' })]
    expect((await show(same)).body.claims).toEqual({ given_name: 'Erika' })
    const { body } = await decide(same, true)
    expect([body.status, hasPortrait(body.claims), hasPortrait(body.credentials)]).toEqual(['completed', true, true])
    const refused = (await decide(other, false)).body
    expect([refused.error?.code, hasPortrait(refused)]).toEqual(['not_same_person', false])
    app.clock.advance(PORTRAIT_MS)
    await sweepPortraits(app.deps)
    expect(await readOf(same)).toEqual(body)
    expect([portraitsOf(same.id), portraitsOf(other.id)]).toEqual([[], []])
  })

  test('a yes is 409 and changes nothing when the portrait that an own template keeps was swept meanwhile', async () => {
    const held = await hold({ template: 'badge' })
    await app.deps.write(tx => deletePortrait(tx, { id: held.id, tenantId: tenant.id }))
    expect(outcome(await decide(held, true))).toBe('409 session_already_responded')
    expect((await readOf(held)).status).toBe('pending')
    expect(await recordsOf(held.id)).toHaveLength(1)
  })

  sqliteOnly('files are looked into')('the portrait of a decided session is in no file, sealed or not', async () => {
    for (const isSame of [true, false]) {
      const held = await hold()
      const part = Buffer.from(portraitsOf(held.id)[0]!.sealed).subarray(0, 48)
      expect(filesContaining(app.dir, part)).not.toEqual([])
      await decide(held, isSame)
      expect(filesContaining(app.dir, part)).toEqual([])
    }
  })

  test('of many decisions at once one counts, and the others are 409', async () => {
    const held = await hold()
    const wishes = [true, false, true, false, true, false]
    const answers = await Promise.all(wishes.map(isSame => decide(held, isSame)))
    const won = answers.filter(({ status }) => status === 200)
    expect(won).toHaveLength(1)
    expect(answers.filter(answer => outcome(answer) === '409 session_already_responded')).toHaveLength(wishes.length - 1)
    const isSame = wishes[answers.indexOf(won[0]!)]!
    expect((await readOf(held)).status).toBe(isSame ? 'completed' : 'failed')
    expect(outcome(await decide(held, isSame))).toBe('409 session_already_responded')
    expect(await recordsOf(held.id)).toHaveLength(2)
    expect(rowsOf(app, 'SELECT id FROM webhook_deliveries WHERE verification_id = ?', held.id)).toHaveLength(1)
  })

  test('a decision and an erasure at once leave nothing behind', async () => {
    const key = await app.key(tenant.id, { scopes: ['verifications:delete'] })
    for (let i = 0; i < 6; i++) {
      const held = await hold()
      const decision = () => decide(held, i % 2 === 0)
      const erasure = () => app.call('DELETE', held.path, { key })
      const [decided, erased] =
        i % 3 === 0
          ? await Promise.all([erasure(), decision()]).then(([a, b]) => [b, a])
          : await Promise.all([decision(), erasure()])
      expect(outcome(erased!)).toBe('200')
      expect([200, 404]).toContain(decided!.status)
      expect(portraitsOf(held.id)).toEqual([])
      expect(rowsOf(app, 'SELECT verification_id FROM verification_results WHERE verification_id = ?', held.id)).toEqual([])
    }
  })
})

describe('a comparison that nobody decided', () => {
  test('the session outlasts expires_at and retention, and has failed 120 s after the answer: in every read, before and after the sweep', async () => {
    const { app: own, ...shop } = await startTenantFor([receiver])
    await changeTenant(own.deps, shop.id, { retentionDays: 0 }, 'test')
    await setEndpoint(own.deps, { tenantId: shop.id, environment: 'test' }, receiver.url(), 'test')
    const device = await pair(own, shop.key, { allowed_templates: [PHOTO.template] })
    const held = await hold({ ...PHOTO, ttl_seconds: 60 }, { app: own, key: device.access_token, holder: await holderOf(own) })
    own.clock.advance(LIMIT_MS - 1)
    await sweepExpired(own.deps)
    await sweepHeld(own.deps)
    await sweepRetention(own.deps)
    expect((await readOf(held)).status).toBe('pending')
    expect((await show(held, device.access_token, own)).status).toBe(200)
    own.clock.advance(1)
    const listed = async (status: 'failed' | 'pending') =>
      (await browseVerifications(own.deps, { tenantId: shop.id, environment: 'test' }, { status, limit: 5 })).verifications.length
    expect([await listed('failed'), await listed('pending')]).toEqual([1, 0])
    const failed = await readOf(held)
    expect([failed.status, failed.error?.code, failed.credentials]).toEqual(['failed', 'not_compared', undefined])
    expect((await own.call<{ status: string }>('GET', `${held.path}/status`)).body.status).toBe('failed')
    expect((await own.call('GET', `/v/${held.id}/data`)).body).toMatchObject({ status: 'failed', reason: 'not_compared' })
    expect(outcome(await show(held, device.access_token, own))).toBe('409 session_already_responded')
    expect(outcome(await decide(held, true, device.access_token, own))).toBe('409 session_already_responded')
    // Two minutes, whichever sweep is first.
    await sweepPortraits(own.deps)
    expect(portraitsOf(held.id, own)).toEqual([])
    await sweepHeld(own.deps)
    expect(await readOf(held)).toEqual(failed)
    expect([portraitsOf(held.id, own), await recordsOf(held.id, own)]).toEqual([
      [],
      ['verification.created Till 1', 'verification.failed system'],
    ])
    expect(rowsOf(own, 'SELECT type FROM webhook_deliveries WHERE verification_id = ?', held.id)).toEqual([
      { type: 'verification.failed' },
    ])
  })

  test('a decision and the sweep at the limit: one of them ends the session', async () => {
    for (const ms of [LIMIT_MS - 1, LIMIT_MS]) {
      const held = await hold()
      const answeredAt = Date.parse((await readOf(held)).responded_at!)
      app.clock.set(answeredAt + ms)
      const [decided] = await Promise.all([decide(held, true), sweepHeld(app.deps)])
      expect(outcome(decided)).toBe(ms < LIMIT_MS ? '200' : '409 session_already_responded')
      expect((await readOf(held)).status).toBe(ms < LIMIT_MS ? 'completed' : 'failed')
      expect(await recordsOf(held.id)).toHaveLength(2)
    }
  })

  test('a restart in between loses neither the photo nor the decision', async () => {
    const first = await startApp()
    const shop = await first.tenant()
    const device = await pair(first, shop.key, { allowed_templates: [PHOTO.template] })
    const held = await hold(PHOTO, { app: first, key: device.access_token, holder: await holderOf(first) })
    const before = (await show(held, device.access_token, first)).body
    await first.stop()
    const again = await startApp({ dir: first.dir, now: first.clock.now() })
    expect((await show(held, device.access_token, again)).body).toEqual(before)
    expect((await decide(held, true, device.access_token, again)).body.status).toBe('completed')
  })

  test('erasing a held session erases its portrait', async () => {
    const held = await hold()
    const key = await app.key(tenant.id, { scopes: ['verifications:delete'] })
    expect(portraitsOf(held.id)).toHaveLength(1)
    expect(outcome(await app.call('DELETE', held.path, { key }))).toBe('200')
    expect(portraitsOf(held.id)).toEqual([])
    expect(outcome(await decide(held, true))).toBe('404 session_not_found')
    expect(await recordsOf(held.id)).toHaveLength(2)
  })
})

sqliteOnly('the checker of invariants reads the file')(
  'the invariants hold of a directory with held, decided and uncompared answers',
  async () => {
    await hold()
    expect((await checkInvariants(app.dir)).violations).toEqual([])
  },
)
