// Somebody guesses at the real service, over HTTP and from as many addresses as it takes, while its clock runs fast: pairing codes, response codes,
// session ids, keys and passwords. Each guess is compared with what the plan lets through.
import { randomBytes } from 'node:crypto'
import { parseNetworks } from '../../src/addresses.ts'
import { POLICIES } from '../../src/http/rate-limit.ts'
import { newSecret } from '../../src/ids.ts'
import { decline } from '../../src/sandbox/wallet.ts'
import { type Answer, createVerification, startApp, type TestApp } from '../../test/helpers/app.ts'
import { openBrowser, PASSWORD, setUpOwner } from '../../test/helpers/dashboard.ts'
import { register } from '../../test/helpers/devices.ts'
import { openSession, postTo } from '../../test/helpers/exchange.ts'
import type { Seeded } from '../../test/helpers/seeded.ts'
import { accountFromElsewhere, type Budget, budgetOf, pairingNetwork, type Reference } from './reference.ts'

const HOUR_MS = 3_600_000
const AT_ONCE = 60
const CODE_TRIALS = 10
const HOME = '192.0.2.1'
const ATTACKER = '203.0.113.7'
const WRONG_PASSWORD = 'not the right one at all'

/** As the plan has them, and not as the service does. */
const PLAN: Partial<Record<keyof typeof POLICIES, Budget>> = {
  ip: { burst: 200, perSecond: 50 },
  badauth: { burst: 30, perSecond: 10 / 60 },
  status: { burst: 10, perSecond: 2 },
  redeem: { burst: 5, perSecond: 5 / 60, total: 20 },
  enroll: { burst: 10, perSecond: 5 / 60 },
  'enroll-all': { burst: 120, perSecond: 1 },
  login: { burst: 20, perSecond: 20 / 3600 },
  'login-all': { burst: 120, perSecond: 2 },
}

export type Soak = { random: Seeded; violations: string[]; counts: Record<string, number> }

type Target = {
  name: string
  /** The status of a wrong guess that was looked at. */
  heard: number
  guess: (app: TestApp) => Promise<Answer>
  reference: Reference
  /** Between two guesses, at most. */
  gapMs: number
  isRestarted?: boolean
}

export function checkPlan({ violations }: Soak): void {
  for (const [name, planned] of Object.entries(PLAN))
    if (!Bun.deepEquals(POLICIES[name as keyof typeof POLICIES] as Budget, planned))
      violations.push(`F29: ${name} is not as planned`)
}

export async function attackAll(soak: Soak, isOver: () => boolean): Promise<void> {
  for (const attack of [pairing, everybodysPairing, responseCodes, sessionIds, keys, account, address, atOnce]) {
    if (isOver()) return
    const app = await limited()
    const last = await attack(app, soak).catch(error => void soak.violations.push(`F29 ${attack.name}: ${error}`))
    await (last ?? app).stop()
  }
}

const limited = (dir?: string, now?: number) =>
  startApp({ rateLimitScale: 1, config: { trustedProxies: parseNetworks('127.0.0.1') }, dir, now })

/** An hour of guesses, in bursts and one by one, perhaps over restarts. As many are heard as may be, give or take one. */
async function guessFor(app: TestApp, hours: number, target: Target, { random, violations, counts }: Soak): Promise<TestApp> {
  const { name, heard, guess, reference, gapMs, isRestarted } = target
  const endsAt = app.clock.now() + hours * HOUR_MS
  let [own, planned, found] = [app, 0, 0]
  while (own.clock.now() < endsAt) {
    own.clock.advance(random.below(3) === 0 ? 0 : random.below(gapMs))
    if (isRestarted && random.below(200) === 0) {
      await own.stop()
      own = await limited(own.dir, own.clock.now())
      reference.restart()
      counts.restarts!++
    }
    if (reference.mayGuess(own.clock.now())) planned++
    const { status, headers } = await guess(own)
    counts.guesses!++
    if (status === heard) found++
    else if (status !== 429 || !(Number(headers.get('retry-after')) >= 1)) violations.push(`F29 ${name}: answered ${status}`)
    if (Math.abs(found - planned) > 1) {
      violations.push(`F29 ${name}: ${found} guesses were looked at, and ${planned} may be`)
      return own
    }
  }
  counts.heard! += found
  counts.hours! += hours
  return own
}

const from = (address: string) => ({ 'x-forwarded-for': address })

const enrollFrom = (app: TestApp, address: string, code: string) =>
  app.call('POST', '/v1/devices/enroll', { body: { pairing_code: code }, headers: from(address) })

const newAddress = ({ below }: Seeded) => `198.${18 + below(2)}.${below(256)}.${below(256)}`

async function pairing(app: TestApp, soak: Soak): Promise<TestApp> {
  const { key } = await app.tenant()
  const { pairing_code } = await register(app, key, { pairing_ttl_seconds: 86_400 })
  const reference = pairingNetwork(PLAN.enroll!)
  const guess = (own: TestApp) => enrollFrom(own, ATTACKER, 'VD-0000-0000')
  const target = { name: 'pairing codes', heard: 400, guess, reference, gapMs: 20_000, isRestarted: true }
  const last = await guessFor(app, 1, target, soak)
  const { status } = await enrollFrom(last, HOME, pairing_code)
  if (status !== 200) soak.violations.push(`F29: the right pairing code from elsewhere is answered ${status}`)
  return last
}

/** From a new address each time; meanwhile a network that is known goes on pairing, and a stranger with the right code is not heard. */
async function everybodysPairing(app: TestApp, soak: Soak): Promise<void> {
  const { key } = await app.tenant()
  await app.call('GET', '/v1/usage', { key, headers: from(HOME) })
  const reference = budgetOf(PLAN['enroll-all']!)
  const guess = (own: TestApp) => enrollFrom(own, newAddress(soak.random), 'VD-0000-0000')
  await guessFor(app, 0.2, { name: 'pairing codes of everybody', heard: 400, guess, reference, gapMs: 1000 }, soak)
  const code = async () => (await register(app, key)).pairing_code
  while ((await guess(app)).status !== 429);
  const [stranger, known] = [await enrollFrom(app, ATTACKER, await code()), await enrollFrom(app, HOME, await code())]
  if (stranger.status !== 429) soak.violations.push(`F29: a stranger is answered ${stranger.status} beyond everybody's budget`)
  if (known.status !== 200) soak.violations.push(`F29: a known network with the right code is answered ${known.status}`)
}

async function answered(app: TestApp, key: string): Promise<{ id: string; code: string }> {
  const session = await openSession({ app, key }, { redirect_url: 'https://shop.example/done' })
  const { body } = await postTo(session, (await decline(session.request)).form)
  return { id: session.created.id, code: new URL(body.redirect_uri ?? '').hash.slice('#response_code='.length) }
}

const redeem = (app: TestApp, key: string, id: string, response_code = randomBytes(32).toString('base64url')) =>
  app.call('POST', `/v1/verifications/${id}/redeem`, { key, body: { response_code } })

async function responseCodes(app: TestApp, soak: Soak): Promise<void> {
  const { key } = await app.tenant()
  for (let i = 0; i < 3; i++) {
    const { id } = await answered(app, key)
    const guess = (own: TestApp) => redeem(own, key, id)
    const target = { name: 'response codes', heard: 404, guess, reference: budgetOf(PLAN.redeem!), gapMs: 10_000 }
    await guessFor(app, 1 / 6, target, soak)
  }
  const { id, code } = await answered(app, key)
  for (let i = 0; i < 4; i++) await redeem(app, key, id)
  const { status } = await redeem(app, key, id, code)
  if (status !== 200) soak.violations.push(`F29: the right response code is answered ${status} after four wrong ones`)
}

async function sessionIds(app: TestApp, soak: Soak): Promise<void> {
  const poll = (own: TestApp, id: string) => own.call('GET', `/v1/verifications/${id}/status`, { headers: from(ATTACKER) })
  const guess = (own: TestApp) => poll(own, `vs_${randomBytes(11).toString('hex')}`)
  const target = { name: 'session ids', heard: 404, guess, reference: budgetOf(PLAN.ip!), gapMs: 40 }
  await guessFor(app, 0.003, target, soak)
  app.clock.advance(HOUR_MS)
  const { key } = await app.tenant()
  const { id } = await createVerification(app, key)
  const polls = { name: 'polls of one session', heard: 200, guess: (own: TestApp) => poll(own, id), gapMs: 700 }
  await guessFor(app, 0.05, { ...polls, reference: budgetOf(PLAN.status!) }, soak)
}

async function keys(app: TestApp, soak: Soak): Promise<void> {
  const { key } = await app.tenant()
  const usage = (own: TestApp, secret: string, address: string) =>
    own.call('GET', '/v1/usage', { key: secret, headers: from(address) })
  const guess = (own: TestApp) => usage(own, newSecret(own.deps.random, 'vk_test_'), ATTACKER)
  await guessFor(app, 1, { name: 'keys', heard: 401, guess, reference: budgetOf(PLAN.badauth!), gapMs: 8000 }, soak)
  const { status } = await usage(app, key, HOME)
  if (status !== 200) soak.violations.push(`F29: the right key from elsewhere is answered ${status}`)
}

/** One account from everywhere: the owner gets in at home all the while. */
async function account(app: TestApp, soak: Soak): Promise<TestApp> {
  await setUpOwner(app, 'olivia', HOME)
  const guess = async (own: TestApp) => {
    if (soak.random.below(20) === 0) await expectOwnerIn(own, soak)
    return await openBrowser(own, { from: newAddress(soak.random) }).logIn('olivia', WRONG_PASSWORD)
  }
  const target = { name: 'passwords of an account', heard: 401, guess, reference: accountFromElsewhere(), gapMs: 20_000 }
  return await guessFor(app, 1, { ...target, isRestarted: true }, soak)
}

async function expectOwnerIn(app: TestApp, { violations, counts }: Soak): Promise<void> {
  const { status } = await openBrowser(app, { from: HOME }).logIn('olivia', PASSWORD)
  if (status !== 200) violations.push(`F29: the owner at home is answered ${status}`)
  counts.owner_logins!++
}

/** One address, another account each time. */
async function address(app: TestApp, soak: Soak): Promise<void> {
  await setUpOwner(app, 'olivia', HOME)
  let n = 0
  const guess = (own: TestApp) => openBrowser(own, { from: ATTACKER }).logIn(`somebody${n++}`, WRONG_PASSWORD)
  const target = { name: 'passwords from an address', heard: 401, guess, reference: budgetOf(PLAN.login!), gapMs: 60_000 }
  await guessFor(app, 4, target, soak)
  await expectOwnerIn(app, soak)
}

/** All at once, a budget is no larger. */
async function atOnce(app: TestApp, soak: Soak): Promise<void> {
  const { key } = await app.tenant()
  await setUpOwner(app, 'olivia', HOME)
  const bursts: [string, number, number, () => Promise<Answer>][] = [
    ['pairing codes', 400, 10, () => enrollFrom(app, ATTACKER, 'VD-0000-0000')],
    [
      'keys',
      401,
      30,
      () => app.call('GET', '/v1/usage', { key: newSecret(app.deps.random, 'vk_test_'), headers: from('203.0.113.8') }),
    ],
    ['passwords', 401, 3, () => openBrowser(app, { from: newAddress(soak.random) }).logIn('olivia', WRONG_PASSWORD)],
  ]
  for (const [name, heard, most, guess] of bursts) {
    const answers = await Promise.all(Array.from({ length: AT_ONCE }, guess))
    const found = answers.filter(({ status }) => status === heard).length
    soak.counts.guesses! += AT_ONCE
    if (Math.abs(found - most) > 1) soak.violations.push(`F29 ${name} at once: ${found} were looked at, and ${most} may be`)
  }
  await guessCodesAtOnce(app, key, soak)
}

/** The right code comes behind more wrong ones than are looked at. Who is first on the way is not certain, so it may win now and then. */
async function guessCodesAtOnce(app: TestApp, key: string, { violations, counts }: Soak): Promise<void> {
  let won = 0
  for (let i = 0; i < CODE_TRIALS; i++) {
    const { id, code } = await answered(app, key)
    const wrong = Array.from({ length: AT_ONCE / 2 }, () => redeem(app, key, id))
    const right = redeem(app, key, id, code)
    counts.guesses! += (await Promise.all(wrong)).length
    if ((await right).status === 200) won++
    app.clock.advance(60_000)
  }
  if (won > CODE_TRIALS / 5) violations.push(`F29 response codes at once: more are looked at than may be, ${won} times`)
}
