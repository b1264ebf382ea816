// Races over HTTP: real requests in parallel, and the winners are counted. Each throws when a promise is broken. The tests run
// them once or a few times, test/soak/race.ts again and again.
import { expect } from 'bun:test'
import { linkEntries } from '../../../src/audit/link.ts'
import { verifyAudit } from '../../../src/audit/verify.ts'
import type { TokenPair } from '../../../src/devices/schema.ts'
import { decline, type Holder } from '../../../src/sandbox/wallet/wallet.ts'
import { changeTenant } from '../../../src/tenants/settings.ts'
import type { Verification } from '../../../src/verifications/schema.ts'
import { type Answer, call, type ErrorBody, type TestApp } from '../app.ts'
import { rowsOf } from '../database.ts'
import { deviceOf, enroll, outcome, pair, refresh, register } from '../devices.ts'
import { codeIn, formOf, openSession, type Party, postTo, readOf, type Session } from '../exchange.ts'

const MANY = 1000
const SOME = 200

export function times<Result>(count: number, act: (i: number) => Promise<Result>): Promise<Result[]> {
  return Promise.all(Array.from({ length: count }, (_, i) => act(i)))
}

/** How often each outcome occurred. */
const tally = (answers: Answer[]): Record<string, number> =>
  Object.fromEntries(
    Map.groupBy(answers, outcome)
      .entries()
      .map(([name, { length }]) => [name, length]),
  )

export const createWith = (url: string, key: string, idempotencyKey: string, body: object = {}) =>
  call<Verification & ErrorBody>(url, 'POST', '/v1/verifications', {
    key,
    body: { template: 'age_over_18', ...body },
    headers: { 'idempotency-key': idempotencyKey },
  })

export const chargesOf = async (url: string, key: string): Promise<number> =>
  (await call<{ verifications_created: number }>(url, 'GET', '/v1/usage', { key })).body.verifications_created

async function stored(app: TestApp, key: string): Promise<string[]> {
  const { body } = await app.call<{ data: Verification[] }>('GET', '/v1/verifications?limit=100', { key })
  return body.data.map(({ id }) => id)
}

export async function createWithOneKey(app: TestApp): Promise<void> {
  const { key } = await app.tenant()
  const answers = await times(MANY, () => createWith(app.url, key, 'one'))
  const created = answers.filter(({ status }) => status === 201)
  const inFlight = answers.filter(answer => outcome(answer) === '409 idempotency_key_in_flight')
  expect(created.length + inFlight.length).toBe(MANY)
  expect(created.filter(({ headers }) => headers.get('idempotent-replayed') === null)).toHaveLength(1)
  expect(new Set(created.map(({ text }) => text)).size).toBe(1)
  expect((await createWith(app.url, key, 'one')).text).toBe(created[0]?.text ?? '')
  expect(await stored(app, key)).toEqual([created[0]?.body.id ?? ''])
  expect(await chargesOf(app.url, key)).toBe(1)
}

export async function createWithOneKeyAndManyBodies(app: TestApp): Promise<void> {
  const { key } = await app.tenant()
  const answers = await times(MANY, i => createWith(app.url, key, 'one', { metadata: { i: String(i) } }))
  expect(tally(answers)).toEqual({ '201': 1, '422 idempotency_key_reused': MANY - 1 })
  expect(await stored(app, key)).toHaveLength(1)
}

export async function createBeyondQuota(app: TestApp): Promise<void> {
  const { id, key, liveKey } = await app.tenant({ name: 'Small shop', dailyQuota: 50 })
  const create = (by: string) =>
    app.call<Verification>('POST', '/v1/verifications', { key: by, body: { template: 'age_over_18' } })
  const answers = await times(MANY, i => create(i % 2 ? key : liveKey))
  expect(tally(answers)).toEqual({ '201': 50, '429 quota_exceeded': MANY - 50 })
  const { body } = await app.call<object>('GET', '/v1/usage', { key })
  expect(body).toMatchObject({ verifications_created: 50, remaining: 0 })
  const created = answers.filter(({ status }) => status === 201).map(answer => answer.body.id)
  expect([...(await stored(app, key)), ...(await stored(app, liveKey))].sort()).toEqual(created.sort())
  // A refused one leaves neither a record nor a time that was used up.
  expect((await verifyAudit(app.deps)).problem).toBeUndefined()
  await changeTenant(app.deps, id, { dailyQuota: 51 }, 'test')
  expect((await create(key)).status).toBe(201)
}

/** The one winner of a race for tokens, whose losers all get this answer. */
function winnerOf(answers: Answer<TokenPair & ErrorBody>[], refusal: string): TokenPair {
  expect(tally(answers)).toEqual({ '200': 1, [refusal]: answers.length - 1 })
  expect(new Set(answers.filter(({ status }) => status === 400).map(({ text }) => text)).size).toBe(1)
  return answers.find(({ status }) => status === 200)!.body
}

const use = async (app: TestApp, token: string) => outcome(await app.call('GET', '/v1/usage', { key: token }))

const liveTokens = (app: TestApp, deviceId: string) =>
  rowsOf<{ kind: string }>(
    app.dir,
    `SELECT kind FROM device_tokens WHERE device_id = '${deviceId}' AND spent_at IS NULL AND revoked_at IS NULL ORDER BY kind`,
  ).map(({ kind }) => kind)

export async function claimOneCode(app: TestApp, count = MANY): Promise<void> {
  const { key } = await app.tenant()
  const { device, pairing_code } = await register(app, key)
  const winner = winnerOf(await times(count, () => enroll(app, pairing_code)), '400 invalid_pairing_code')
  expect(await use(app, winner.access_token)).toBe('200')
  expect((await deviceOf(app, key, device.id)).status).toBe('active')
  expect(liveTokens(app, device.id)).toEqual(['access', 'refresh'])
  expect((await verifyAudit(app.deps)).problem).toBeUndefined()
}

export async function claimWithOneKey(app: TestApp, count = MANY): Promise<void> {
  const { device, pairing_code } = await register(app, (await app.tenant()).key)
  const answers = await times(count, () => enroll(app, pairing_code, 'one'))
  expect(tally(answers)).toEqual({ '200': count })
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
  expect(answers.filter(({ headers }) => headers.get('idempotent-replayed') === null)).toHaveLength(1)
  expect(liveTokens(app, device.id)).toEqual(['access', 'refresh'])
}

export async function refreshOneToken(app: TestApp, count = SOME): Promise<void> {
  const { id, key } = await app.tenant()
  const { device, access_token, refresh_token } = await pair(app, key)
  const winner = winnerOf(await times(count, () => refresh(app, refresh_token)), '400 invalid_refresh_token')
  expect((await deviceOf(app, key, device.id)).status).toBe('revoked')
  expect(await use(app, access_token)).toBe('401 invalid_api_key')
  expect(await use(app, winner.access_token)).toBe('401 invalid_api_key')
  expect(outcome(await refresh(app, winner.refresh_token))).toBe('400 invalid_refresh_token')
  expect(liveTokens(app, device.id)).toEqual([])
  await linkEntries(app.deps)
  const revocations = `SELECT 1 FROM audit_records WHERE action = 'device.revoked' AND tenant_id = '${id}'`
  expect(rowsOf(app.dir, revocations)).toHaveLength(1)
  expect((await verifyAudit(app.deps)).problem).toBeUndefined()
}

export async function refreshWithOneKey(app: TestApp, count = SOME): Promise<void> {
  const { key } = await app.tenant()
  const { device, refresh_token } = await pair(app, key)
  const answers = await times(count, () => refresh(app, refresh_token, 'one'))
  expect(tally(answers)).toEqual({ '200': count })
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
  expect((await deviceOf(app, key, device.id)).status).toBe('active')
}

/** Creations and refreshes of a till that is revoked after some milliseconds: none that begins later goes through. */
export async function revokeAmidUse(app: TestApp, afterMs: number): Promise<void> {
  const { key } = await app.tenant()
  const { device, ...first } = await pair(app, key)
  let held: Omit<TokenPair, 'device'> = first
  let revokedAt = Number.POSITIVE_INFINITY
  let isOver = false
  const late: string[] = []
  const watched = async <Body>(act: () => Promise<Answer<Body>>) => {
    const begun = performance.now()
    const answer = await act()
    if (answer.status < 300 && begun > revokedAt) late.push(answer.text)
    isOver ||= begun > revokedAt
    return answer
  }
  const creating = async () => {
    while (!isOver)
      await watched(() => app.call('POST', '/v1/verifications', { key: held.access_token, body: { template: 'age_over_18' } }))
  }
  const refreshing = async () => {
    while (!isOver) {
      const answer = await watched(() => refresh(app, held.refresh_token))
      if (answer.status !== 200) return
      held = answer.body
    }
  }
  const revoking = async () => {
    await Bun.sleep(afterMs)
    expect((await app.call('DELETE', `/v1/devices/${device.id}`, { key })).status).toBe(200)
    revokedAt = performance.now()
  }
  await Promise.all([creating(), creating(), refreshing(), revoking()])
  expect(late).toEqual([])
  expect(await use(app, held.access_token)).toBe('401 invalid_api_key')
  expect(outcome(await refresh(app, held.refresh_token))).toBe('400 invalid_refresh_token')
}

const ANSWERED = '409 session_already_responded'
const EXPIRED = '410 session_expired'

/** Right answers all at once; the deadline comes after so many turns of the event loop, with the first answer at the latest. */
export async function answerAtDeadline(party: Party, holder: Holder, turns: number): Promise<'completed' | 'expired'> {
  const { clock } = party.app
  const session = await openSession(party, { ttl_seconds: 60 })
  const form = await formOf(session, holder)
  clock.set(Date.parse(session.created.expires_at) - 1)
  const racing = Array.from({ length: SOME }, () => postTo(session, form))
  let isAnswered = false
  void Promise.race(racing).then(() => {
    isAnswered = true
  })
  for (let turn = 0; turn < turns && !isAnswered; turn++) await new Promise(resolve => setImmediate(resolve))
  const isAnsweredInTime = isAnswered
  clock.advance(1)
  const { '200': accepted = 0, [ANSWERED]: answered = 0, [EXPIRED]: expired = 0, ...others } = tally(await Promise.all(racing))
  const status = (await readOf(session)).status as 'completed' | 'expired'
  // An answer that comes after the deadline may find that the first one, which came before, is not written yet.
  const late = isAnsweredInTime ? { answered: SOME - 1, expired: 0 } : { answered: SOME - 1 - expired, expired }
  const expected = { completed: { accepted: 1, ...late }, expired: { accepted: 0, answered: 0, expired: SOME } }
  expect([turns, status, { accepted, answered, expired }, others]).toEqual([turns, status, expected[status], {}])
  return status
}

/** A session that its wallet has declined, and the code that the shopper came back with. */
async function declinedSession(party: Party, body: object = {}): Promise<{ session: Session; code: string }> {
  const session = await openSession(party, { redirect_url: 'https://shop.example/done', ...body })
  const answered = await postTo(session, (await decline(session.request)).form)
  return { session, code: codeIn(answered.body) }
}

export async function redeemOneCode(party: Party, count = MANY): Promise<void> {
  const { session, code } = await declinedSession(party)
  const answers = await times(count, () => redeem(session, code))
  // The one 200 carries the error of the session, which was declined.
  expect(tally(answers)).toEqual({ '200 wallet_declined': 1, '404 invalid_response_code': count - 1 })
}

const redeem = ({ app, key, created }: Session, response_code: string) =>
  app.call('POST', `/v1/verifications/${created.id}/redeem`, { key, body: { response_code } })

type Erased = Answer<{ deleted: object }>

const erase = ({ app, key, created }: Session): Promise<Erased> => app.call('DELETE', `/v1/verifications/${created.id}`, { key })

/** Order of two requests, and milliseconds between them; without a number the second waits for the answer to the first. */
export type Meeting = { isErasedFirst: boolean; waitMs: number | undefined }

async function meet<Rival>(session: Session, rival: () => Promise<Rival>, { isErasedFirst, waitMs }: Meeting) {
  const acts = isErasedFirst ? [() => erase(session), rival] : [rival, () => erase(session)]
  const first = acts[0]!()
  await (waitMs === undefined ? first : Bun.sleep(waitMs))
  const both = [first, acts[1]!()]
  const [erased, met] = (await Promise.all(isErasedFirst ? both : both.reverse())) as [Erased, Rival]
  expect(erased.status).toBe(200)
  return { erased: erased.body.deleted, met }
}

/** Gives the status of the redemption. */
export async function eraseAmidRedemption(party: Party, meeting: Meeting): Promise<number> {
  const { session, code } = await declinedSession(party, { webhook_url: 'https://hooks.shop.example/' })
  const { met } = await meet(session, () => redeem(session, code), meeting)
  expect([200, 404]).toContain(met.status)
  expect([(await redeem(session, code)).status, await readStatus(session)]).toEqual([404, 404])
  return met.status
}

/** Gives the status of the wallet's answer. */
export async function eraseAmidAnswer(party: Party, holder: Holder, meeting: Meeting): Promise<number> {
  const session = await openSession(party, { webhook_url: 'https://hooks.shop.example/' })
  const form = await formOf(session, holder)
  const { erased, met } = await meet(session, () => postTo(session, form), meeting)
  expect([200, 404]).toContain(met.status)
  const count = met.status === 200 ? 1 : 0
  expect(erased).toEqual({ verification_sessions: 1, verification_results: count, webhook_deliveries: count })
  expect([await readStatus(session), (await postTo(session, form)).status]).toEqual([404, 404])
  return met.status
}

const readStatus = async ({ app, key, created }: Session): Promise<number> =>
  (await app.call('GET', `/v1/verifications/${created.id}`, { key })).status

export async function eraseAmidReads({ app, key }: Party, idempotencyKey: string): Promise<void> {
  const create = () => createWith(app.url, key, idempotencyKey, { metadata: { round: idempotencyKey } })
  const { body } = await create()
  const path = `/v1/verifications/${body.id}`
  const [erased, ...others] = await Promise.all([
    app.call('DELETE', path, { key }),
    app.call('GET', path, { key }),
    app.call('GET', '/v1/verifications', { key }),
    app.call('GET', `${path}/status`),
    create(),
  ])
  expect(erased.status).toBe(200)
  for (const { status } of others) expect([200, 201, 404, 422]).toContain(status)
  expect((await app.call('GET', path, { key })).status).toBe(404)
  expect((await app.call('GET', '/v1/verifications', { key })).text).not.toContain(body.id)
  expect((await create()).status).toBe(422)
}
