// Somebody guesses at the real service, over HTTP and from as many addresses as it takes, while its clock runs fast: pairing
// codes, response codes, session ids, keys, tokens, passwords, and the answers of wallets. Each guess is compared with what the
// plan lets through.
import { randomBytes } from 'node:crypto'
import { newSecret } from '../../../src/base/ids.ts'
import { createVerification, type TestApp } from '../../helpers/app.ts'
import { register } from '../../helpers/devices.ts'
import { atOnce } from './at-once.ts'
import { ATTACKER, from, guessFor, HOME, HOUR_MS, limited, newAddress, type Soak } from './guess.ts'
import { account, address, everybodysLogins } from './logins.ts'
import { PLAN } from './plan.ts'
import { budgetOf, pairingNetwork } from './reference.ts'
import { refreshes, reuse } from './tokens.ts'
import { answered, enrollFrom, redeem } from './tries.ts'
import { walletRequests, walletResponses } from './wallets.ts'

const ATTACKS = [
  pairing,
  everybodysPairing,
  responseCodes,
  sessionIds,
  walletRequests,
  walletResponses,
  keys,
  refreshes,
  reuse,
  account,
  address,
  everybodysLogins,
  atOnce,
]

export async function attackAll(soak: Soak, isOver: () => boolean): Promise<void> {
  for (const attack of ATTACKS) {
    if (isOver()) return
    const app = await limited()
    const last = await attack(app, soak).catch(error => void soak.violations.push(`F29 ${attack.name}: ${error}`))
    await (last ?? app).stop()
  }
}

async function pairing(app: TestApp, soak: Soak): Promise<TestApp> {
  const { key } = await app.tenant()
  const { pairing_code } = await register(app, key, { pairing_ttl_seconds: 86_400 })
  const reference = pairingNetwork(PLAN.enroll)
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
  const reference = budgetOf(PLAN['enroll-all'])
  const guess = (own: TestApp) => enrollFrom(own, newAddress(soak.random), 'VD-0000-0000')
  await guessFor(app, 0.2, { name: 'pairing codes of everybody', heard: 400, guess, reference, gapMs: 1000 }, soak)
  const code = async () => (await register(app, key)).pairing_code
  while ((await guess(app)).status !== 429);
  const [stranger, known] = [await enrollFrom(app, ATTACKER, await code()), await enrollFrom(app, HOME, await code())]
  if (stranger.status !== 429) soak.violations.push(`F29: a stranger is answered ${stranger.status} beyond everybody's budget`)
  if (known.status !== 200) soak.violations.push(`F29: a known network with the right code is answered ${known.status}`)
}

async function responseCodes(app: TestApp, soak: Soak): Promise<void> {
  const { key } = await app.tenant()
  for (let i = 0; i < 3; i++) {
    const { id } = await answered(app, key)
    const guess = (own: TestApp) => redeem(own, key, id)
    const target = { name: 'response codes', heard: 404, guess, reference: budgetOf(PLAN.redeem), gapMs: 10_000 }
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
  const target = { name: 'session ids', heard: 404, guess, reference: budgetOf(PLAN.ip), gapMs: 40 }
  await guessFor(app, 0.003, target, soak)
  app.clock.advance(HOUR_MS)
  const { key } = await app.tenant()
  const { id } = await createVerification(app, key)
  const polls = { name: 'polls of one session', heard: 200, guess: (own: TestApp) => poll(own, id), gapMs: 700 }
  await guessFor(app, 0.05, { ...polls, reference: budgetOf(PLAN.status) }, soak)
}

async function keys(app: TestApp, soak: Soak): Promise<void> {
  const { key } = await app.tenant()
  const usage = (own: TestApp, secret: string, address: string) =>
    own.call('GET', '/v1/usage', { key: secret, headers: from(address) })
  const guess = (own: TestApp) => usage(own, newSecret(own.deps.random, 'vk_test_'), ATTACKER)
  await guessFor(app, 1, { name: 'keys', heard: 401, guess, reference: budgetOf(PLAN.badauth), gapMs: 8000 }, soak)
  for (const address of [HOME, ATTACKER]) {
    const { status } = await usage(app, key, address)
    if (status !== 200) soak.violations.push(`F29: the right key from ${address} is answered ${status}`)
  }
}
