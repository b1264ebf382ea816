// What a cashier says about the photo of a document.
import { afterAll, describe, expect, test } from 'bun:test'
import { linkEntries } from '../../src/audit/link.ts'
import { verifyAudit } from '../../src/audit/verify.ts'
import { readEvents } from '../../src/verifications/timeline.ts'
import { type Answer, cleanUp, createVerification, type ErrorBody, outcome, startWithTenant } from '../helpers/app.ts'
import { rowsOf } from '../helpers/database.ts'
import { pair } from '../helpers/devices.ts'
import { answerWith, holderOf } from '../helpers/wallet.ts'

const { app, ...tenant } = await startWithTenant()
const till = await pair(app, tenant.key, { name: 'Till at the door', allowed_templates: ['age_over_18_photo'] })
afterAll(cleanUp)

type Compared = Answer<{ id: string; same_person: boolean } & Partial<ErrorBody>>

const compare = (id: string, same_person: unknown, key = till.access_token): Promise<Compared> =>
  app.call('POST', `/v1/verifications/${id}/comparison`, { key, body: { same_person } })

async function photographed(key = till.access_token): Promise<string> {
  const { id, wallet_uri } = await createVerification(app, key, { template: 'age_over_18_photo' })
  await answerWith(app, await holderOf(app), wallet_uri ?? '')
  return id
}

const recordsOf = async (id: string) => {
  await linkEntries(app.deps)
  return rowsOf<{ actor: string }>(
    app,
    "SELECT actor FROM audit_records WHERE action = 'verification.compared' AND subject = ?",
    app.deps.audit.subjectOf(id),
  )
}

const momentsOf = async (id: string) =>
  (await readEvents(app.deps, { id, tenantId: tenant.id })).flatMap(({ event, details }) =>
    event === 'photo_compared' ? [details] : [],
  )

describe('POST /v1/verifications/{id}/comparison', () => {
  test('the answer of the device is on its timeline and on the audit chain, and the Verification stays as it was', async () => {
    const id = await photographed()
    const read = () => app.call('GET', `/v1/verifications/${id}`, { key: till.access_token })
    const before = await read()
    const { status, body } = await compare(id, false)
    expect([status, body]).toEqual([200, { id, same_person: false } as typeof body])
    expect((await read()).text).toBe(before.text)
    expect(await momentsOf(id)).toEqual([{ actor: 'Till at the door', same_person: false }])
    expect(await recordsOf(id)).toEqual([{ actor: 'Till at the door' }])
    expect((await verifyAudit(app.deps)).problem).toBeUndefined()
  })

  test('of many answers at once one is recorded: the same one again gets 200, the other one 409', async () => {
    const id = await photographed()
    const answers = await Promise.all(
      [true, false, true, false, true, false].map(async isSame => [isSame, await compare(id, isSame)] as const),
    )
    const first = (await momentsOf(id))[0]!
    for (const [isSame, answer] of answers)
      expect(outcome(answer)).toBe(isSame === first.same_person ? '200' : '409 comparison_recorded')
    expect(await compare(id, first.same_person)).toMatchObject({
      status: 200,
      body: { id, ...{ same_person: first.same_person } },
    })
    expect(await momentsOf(id)).toHaveLength(1)
    expect(await recordsOf(id)).toHaveLength(1)
  })

  test('only a completed session can be compared', async () => {
    const { id } = await createVerification(app, till.access_token, { template: 'age_over_18_photo' })
    expect(outcome(await compare(id, true))).toBe('409 session_not_completed')
    const failed = await createVerification(app, till.access_token, { template: 'age_over_18_photo' })
    await answerWith(app, await holderOf(app, 'minor'), failed.wallet_uri ?? '')
    expect(outcome(await compare(failed.id, true))).toBe('409 session_not_completed')
    expect(await momentsOf(failed.id)).toEqual([])
  })

  test('only the device that created the session may answer', async () => {
    const [own, ofKey] = [await photographed(), await photographed(tenant.key)]
    const other = await pair(app, tenant.key)
    expect(outcome(await compare(own, true, other.access_token))).toBe('404 session_not_found')
    expect(outcome(await compare(ofKey, true))).toBe('404 session_not_found')
    expect(outcome(await compare(own, true, tenant.key))).toBe('403 insufficient_scope')
    expect(await momentsOf(own)).toEqual([])
  })

  test('the answer must be true or false', async () => {
    const id = await photographed()
    for (const wrong of ['yes', null, 1, undefined]) expect(outcome(await compare(id, wrong))).toBe('400 invalid_request')
  })

  test('erasing the session erases the answer', async () => {
    const id = await photographed()
    await compare(id, true)
    const key = await app.key(tenant.id, { scopes: ['verifications:delete'] })
    expect(outcome(await app.call('DELETE', `/v1/verifications/${id}`, { key }))).toBe('200')
    expect(await momentsOf(id)).toEqual([])
    expect(outcome(await compare(id, true))).toBe('404 session_not_found')
  })
})
