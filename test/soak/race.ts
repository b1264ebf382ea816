// F19 to F27, again and again: real requests in parallel, and the winners are counted. Creations under one key are also cut off by a kill.
import type { TokenPair } from '../../src/devices/schema.ts'
import { decline, type Holder } from '../../src/sandbox/wallet.ts'
import { changeTenant } from '../../src/tenants/settings.ts'
import type { Verification } from '../../src/verifications/schema.ts'
import { type Answer, call, cleanUp, type ErrorBody, startApp, type TestApp, temporaryDir } from '../helpers/app.ts'
import { deviceOf, enroll, outcome, pair, refresh, register } from '../helpers/devices.ts'
import { formOf, openSession, postTo, readOf } from '../helpers/exchange.ts'
import { seeded } from '../helpers/seeded.ts'
import { holderOf } from '../helpers/wallet.ts'
import { checkInvariants } from '../invariants/check.ts'
import { parseSoakArguments, percentilesOf, soakLine } from './output.ts'
import { progress, serviceOn, shopIn } from './service.ts'

const MANY = 1000
const SOME = 200
const DAY_MS = 86_400_000

const { seed, minutes } = parseSoakArguments(process.argv.slice(2))
const random = seeded(seed)
const violations: string[] = []
const counts: Record<string, number> = {}
const roundsMs: number[] = []
const endsAt = performance.now() + minutes * 60_000

type Shop = { app: TestApp; id: string; key: string; holder: Holder }

const RACES: Record<string, (shop: Shop) => Promise<void>> = {
  F19: sameKey,
  F20: quota,
  F21: pairing,
  F22: refreshing,
  F23: lostAnswer,
  F24: redemption,
  F25: walletAnswers,
  F26: erasures,
  F27: revocations,
}

while (performance.now() < endsAt) {
  const app = await startApp({ now: Date.now() })
  const shop: Shop = { app, ...(await app.tenant()), holder: await holderOf(app) }
  await changeTenant(app.deps, shop.id, { dailyQuota: 10_000_000 }, 'soak')
  for (const [fault, race] of Object.entries(RACES)) {
    if (performance.now() > endsAt) break
    const begun = performance.now()
    await race(shop).catch(error => violations.push(`${fault}: ${error}`))
    roundsMs.push(performance.now() - begun)
    counts[fault] = (counts[fault] ?? 0) + 1
  }
  await app.stop()
  violations.push(...(await checkInvariants(app.dir)).violations)
  if (performance.now() < endsAt) await sameKeyKilled().catch(error => violations.push(`F19 with kills: ${error}`))
  progress(`${JSON.stringify(counts)}, ${violations.length} violations`)
  await cleanUp()
}
process.exit(
  soakLine({ script: 'soak-race', seed, minutes, counts, percentiles: { round: percentilesOf(roundsMs) }, violations }),
)

function times<Result>(count: number, act: (i: number) => Promise<Result>): Promise<Result[]> {
  return Promise.all(Array.from({ length: count }, (_, i) => act(i)))
}

function expectCounts(fault: string, answers: Answer[], expected: Record<string, number>): void {
  const found: Record<string, number> = {}
  for (const answer of answers) found[outcome(answer)] = (found[outcome(answer)] ?? 0) + 1
  if (!Bun.deepEquals(found, expected))
    violations.push(`${fault}: ${JSON.stringify(found)} instead of ${JSON.stringify(expected)}`)
}

function expectThat(fault: string, holds: boolean, what: string): void {
  if (!holds) violations.push(`${fault}: ${what}`)
}

function createWith(url: string, key: string, name: string, body: object = {}) {
  return call<Verification & ErrorBody>(url, 'POST', '/v1/verifications', {
    key,
    body: { template: 'age_over_18', ...body },
    headers: { 'idempotency-key': name },
  })
}

async function sameKey({ app, key }: Shop): Promise<void> {
  const name = `key-${random.below(1e9)}`
  const before = await usageOf(app.url, key)
  const answers = await times(MANY, () => createWith(app.url, key, name))
  const created = answers.filter(({ status }) => status === 201)
  expectThat(
    'F19',
    created.length + answers.filter(each => outcome(each) === '409 idempotency_key_in_flight').length === MANY,
    'an answer that is neither 201 nor 409',
  )
  expectThat('F19', new Set(created.map(({ text }) => text)).size === 1, 'replays differ')
  expectThat('F19', (await usageOf(app.url, key)) === before + 1, 'not one charge')
  const others = await times(20, i => createWith(app.url, key, name, { metadata: { i: String(i) } }))
  expectCounts('F19', others, { '422 idempotency_key_reused': 20 })
}

async function usageOf(url: string, key: string): Promise<number> {
  return (await call<{ verifications_created: number }>(url, 'GET', '/v1/usage', { key })).body.verifications_created
}

/** The process is killed while they are under way; whoever asks again afterwards gets the one session. */
async function sameKeyKilled(): Promise<void> {
  const dir = temporaryDir()
  const { key } = await shopIn(dir)
  const told = new Set<string>()
  const first = await serviceOn(dir)
  const asked = times(MANY, () =>
    createWith(first.url, key, 'one')
      .then(({ status, body }) => status === 201 && told.add(body.id))
      .catch(() => undefined),
  )
  await Bun.sleep(random.below(150))
  await first.kill()
  await asked
  const second = await serviceOn(dir)
  for (const { status, body } of await times(50, () => createWith(second.url, key, 'one'))) if (status === 201) told.add(body.id)
  const last = await createWith(second.url, key, 'one')
  expectThat('F19 with kills', last.status === 201 && told.size === 1, `${told.size} sessions, ${last.status}`)
  expectThat('F19 with kills', (await usageOf(second.url, key)) === 1, 'not one charge')
  await second.kill()
  // A service opens it again, so that it can be read.
  await (await serviceOn(dir)).stop()
  violations.push(...(await checkInvariants(dir)).violations)
  counts['F19 with kills'] = (counts['F19 with kills'] ?? 0) + 1
}

async function quota({ app }: Shop): Promise<void> {
  const { key, liveKey } = await app.tenant({ name: 'Small shop', dailyQuota: 50 })
  const answers = await times(MANY, i =>
    call(app.url, 'POST', '/v1/verifications', { key: i % 2 ? key : liveKey, body: { template: 'age_over_18' } }),
  )
  expectCounts('F20', answers, { '201': 50, '429 quota_exceeded': MANY - 50 })
  expectThat('F20', (await usageOf(app.url, key)) === 50, 'the counter is not 50')
}

async function pairing({ app, key }: Shop): Promise<void> {
  const { pairing_code } = await register(app, key)
  const answers = await times(MANY, () => enroll(app, pairing_code))
  expectCounts('F21', answers, { '200': 1, '400 invalid_pairing_code': MANY - 1 })
  expectThat(
    'F21',
    new Set(answers.filter(({ status }) => status === 400).map(({ text }) => text)).size === 1,
    'losers can be told apart',
  )
}

async function refreshing({ app, key }: Shop): Promise<void> {
  const { device, refresh_token } = await pair(app, key)
  const answers = await times(SOME, () => refresh(app, refresh_token))
  expectCounts('F22', answers, { '200': 1, '400 invalid_refresh_token': SOME - 1 })
  const winner = answers.find(({ status }) => status === 200)
  expectThat('F22', (await deviceOf(app, key, device.id)).status === 'revoked', 'the device is not revoked')
  expectThat('F22', (await refresh(app, winner?.body.refresh_token ?? '')).status === 400, 'the new pair lives')
}

/** Each with a till of its own: the repeat gets the same pair, and is a reuse once that was used, with another key, or after a day. */
async function lostAnswer({ app, key }: Shop): Promise<void> {
  const repeat = async (between: (next: TokenPair) => Promise<unknown>, name = 'one') => {
    const { refresh_token } = await pair(app, key)
    const { body } = await refresh(app, refresh_token, 'one')
    await between(body)
    const again = await refresh(app, refresh_token, name)
    return again.status === 200 ? (again.body.refresh_token === body.refresh_token ? 'same' : 'other') : outcome(again)
  }
  const refused = '400 invalid_refresh_token'
  expectThat('F23', (await repeat(async () => {})) === 'same', 'a repeat is not given the same pair')
  expectThat(
    'F23',
    (await repeat(next => app.call('GET', '/v1/usage', { key: next.access_token }))) === refused,
    'given after its use',
  )
  expectThat('F23', (await repeat(next => refresh(app, next.refresh_token))) === refused, 'given after the next refresh')
  expectThat('F23', (await repeat(async () => {}, 'two')) === refused, 'given with another key')
  expectThat('F23', (await repeat(async () => app.clock.advance(DAY_MS))) === refused, 'given after a day')
}

async function answeredSession({ app, key }: Shop, body: object = {}) {
  const session = await openSession({ app, key }, { redirect_url: 'https://shop.example/done', ...body })
  const answered = await postTo(session, (await decline(session.request)).form)
  return { session, code: new URL(answered.body.redirect_uri ?? '').hash.slice('#response_code='.length) }
}

async function redemption(shop: Shop): Promise<void> {
  const { session, code } = await answeredSession(shop)
  const path = `/v1/verifications/${session.created.id}/redeem`
  const answers = await times(MANY, () => shop.app.call('POST', path, { key: shop.key, body: { response_code: code } }))
  // The session was declined: its own error stands in the one 200.
  expectCounts('F24', answers, { '200 wallet_declined': 1, '404 invalid_response_code': MANY - 1 })
}

async function walletAnswers({ app, key, holder }: Shop): Promise<void> {
  const session = await openSession({ app, key }, { ttl_seconds: 60 })
  const form = await formOf(session, holder)
  const isTight = random.below(2) === 0
  if (isTight) app.clock.set(Math.max(app.clock.now(), Date.parse(session.created.expires_at) - 1))
  const racing = times(SOME, () => postTo(session, form))
  if (isTight) {
    for (let turn = random.below(120); turn > 0; turn--) await new Promise(resolve => setImmediate(resolve))
    app.clock.advance(1)
  }
  const answers = await racing
  const isCompleted = (await readOf(session)).status === 'completed'
  expectCounts(
    'F25',
    answers,
    isCompleted ? { '200': 1, '409 session_already_responded': SOME - 1 } : { '410 session_expired': SOME },
  )
}

async function erasures(shop: Shop): Promise<void> {
  const { app, key } = shop
  const rivals: ((id: string, code: string) => Promise<Answer>)[] = [
    (id, response_code) => app.call('POST', `/v1/verifications/${id}/redeem`, { key, body: { response_code } }),
    () => app.call('GET', '/v1/verifications', { key }),
    id => app.call('GET', `/v1/verifications/${id}`, { key }),
    id => app.call('GET', `/v1/verifications/${id}/status`),
  ]
  for (const rival of rivals) {
    const { session, code } = await answeredSession(shop, { webhook_url: 'https://hooks.shop.example/' })
    const { id } = session.created
    const racing = rival(id, code)
    await Bun.sleep(random.below(4))
    const erased = await app.call('DELETE', `/v1/verifications/${id}`, { key })
    expectThat('F26', erased.status === 200 && (await racing).status < 500, 'an erasure failed, or made another request fail')
    const after = await rival(id, code)
    expectThat('F26', after.status === 404 || !after.text.includes(id), 'something is readable after the erasure')
  }
}

async function revocations({ app, key }: Shop): Promise<void> {
  const { device, ...held } = await pair(app, key)
  let token = held.refresh_token
  let revokedAt = Number.POSITIVE_INFINITY
  const stopAt = performance.now() + 60
  const late = async (act: () => Promise<Answer>) => {
    const begun = performance.now()
    const answer = await act()
    expectThat('F27', answer.status >= 300 || begun < revokedAt, 'something went through after the revocation')
    return answer
  }
  const creating = async () => {
    while (performance.now() < stopAt)
      await late(() => app.call('POST', '/v1/verifications', { key: held.access_token, body: { template: 'age_over_18' } }))
  }
  const rotating = async () => {
    while (performance.now() < stopAt) {
      const answer = (await late(() => refresh(app, token))) as Answer<TokenPair>
      if (answer.status !== 200) return
      token = answer.body.refresh_token
    }
  }
  const revoking = async () => {
    await Bun.sleep(random.below(30))
    await app.call('DELETE', `/v1/devices/${device.id}`, { key })
    revokedAt = performance.now()
  }
  await Promise.all([creating(), creating(), rotating(), revoking()])
}
