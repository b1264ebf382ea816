// F19 to F27 for as long as asked: the races of the tests, and creations under one key that a kill cuts off.
import type { TokenPair } from '../../src/devices/schema.ts'
import type { Holder } from '../../src/sandbox/wallet/wallet.ts'
import { changeTenant } from '../../src/tenants/settings.ts'
import { cleanUp, startApp, temporaryDir } from '../helpers/app.ts'
import { outcome, pair, refresh } from '../helpers/devices.ts'
import type { Party } from '../helpers/exchange.ts'
import * as races from '../helpers/scenarios/races.ts'
import { seeded } from '../helpers/seeded.ts'
import { holderOf } from '../helpers/wallet.ts'
import { checkInvariants } from '../invariants/check.ts'
import { parseSoakArguments, percentilesOf, soakLine } from './output.ts'
import { progress, serviceOn, shopIn } from './service.ts'

const MANY = 1000
const DAY_MS = 86_400_000

const { seed, minutes } = parseSoakArguments(process.argv.slice(2))
const random = seeded(seed)
const violations: string[] = []
const counts: Record<string, number> = {}
const roundsMs: number[] = []
const endsAt = performance.now() + minutes * 60_000

type Shop = Party & { holder: Holder }

const meeting = (): races.Meeting => ({ isErasedFirst: random.below(2) === 0, waitMs: random.below(4) })

const RACES: Record<string, ((shop: Shop) => Promise<unknown>)[]> = {
  F19: [({ app }) => races.createWithOneKey(app), ({ app }) => races.createWithOneKeyAndManyBodies(app)],
  F20: [({ app }) => races.createBeyondQuota(app)],
  F21: [({ app }) => races.claimOneCode(app), ({ app }) => races.claimWithOneKey(app)],
  F22: [({ app }) => races.refreshOneToken(app), ({ app }) => races.refreshWithOneKey(app)],
  F23: [repeatRefresh],
  F24: [races.redeemOneCode],
  F25: [shop => races.answerAtDeadline(shop, shop.holder, random.below(2) === 0 ? random.below(120) : Number.POSITIVE_INFINITY)],
  F26: [
    shop => races.eraseAmidRedemption(shop, meeting()),
    shop => races.eraseAmidAnswer(shop, shop.holder, meeting()),
    shop => races.eraseAmidReads(shop, `round-${random.below(1e9)}`),
  ],
  F27: [({ app }) => races.revokeAmidUse(app, random.below(30))],
}

while (performance.now() < endsAt) {
  const app = await startApp({ now: Date.now() })
  const { id, key } = await app.tenant()
  await changeTenant(app.deps, id, { dailyQuota: 10_000_000 }, 'soak')
  const shop: Shop = { app, key, holder: await holderOf(app) }
  for (const [fault, scenarios] of Object.entries(RACES)) {
    if (performance.now() > endsAt) break
    const begun = performance.now()
    for (const race of scenarios) await race(shop).catch(error => violations.push(`${fault}: ${error}`))
    roundsMs.push(performance.now() - begun)
    counts[fault] = (counts[fault] ?? 0) + 1
  }
  await app.stop()
  violations.push(...(await checkInvariants(app.dir)).violations)
  if (performance.now() < endsAt) await createAmidKill().catch(error => violations.push(`F19 with kills: ${error}`))
  progress(`${JSON.stringify(counts)}, ${violations.length} violations`)
  await cleanUp()
}
process.exit(
  soakLine({ script: 'soak/race', seed, minutes, counts, percentiles: { round: percentilesOf(roundsMs) }, violations }),
)

function expectThat(fault: string, holds: boolean, problem: string): void {
  if (!holds) violations.push(`${fault}: ${problem}`)
}

/** The process is killed while 1,000 creations with one key are under way; repeats get the one session afterwards. */
async function createAmidKill(): Promise<void> {
  const dir = temporaryDir()
  const { key } = await shopIn(dir)
  const acknowledged = new Set<string>()
  const first = await serviceOn(dir)
  const creating = races.times(MANY, () =>
    races
      .createWith(first.url, key, 'one')
      .then(({ status, body }) => status === 201 && acknowledged.add(body.id))
      .catch(() => undefined),
  )
  await Bun.sleep(random.below(150))
  await first.kill()
  await creating
  const second = await serviceOn(dir)
  for (const { status, body } of await races.times(50, () => races.createWith(second.url, key, 'one')))
    if (status === 201) acknowledged.add(body.id)
  const last = await races.createWith(second.url, key, 'one')
  expectThat('F19 with kills', last.status === 201 && acknowledged.size === 1, `${acknowledged.size} sessions, ${last.status}`)
  expectThat('F19 with kills', (await races.chargesOf(second.url, key)) === 1, 'not one charge')
  await second.kill()
  // A service opens it again, so that it can be read.
  await (await serviceOn(dir)).stop()
  violations.push(...(await checkInvariants(dir)).violations)
  counts['F19 with kills'] = (counts['F19 with kills'] ?? 0) + 1
}

/** A repeated refresh gets the same pair; it is a reuse once that pair was used, with another key, or after a day. */
async function repeatRefresh({ app, key }: Shop): Promise<void> {
  const repeat = async (between: (next: TokenPair) => Promise<unknown>, name = 'one') => {
    const { refresh_token } = await pair(app, key)
    const { body } = await refresh(app, refresh_token, 'one')
    await between(body)
    const again = await refresh(app, refresh_token, name)
    return again.status === 200 ? (again.body.refresh_token === body.refresh_token ? 'same' : 'other') : outcome(again)
  }
  const refused = '400 invalid_refresh_token'
  const cases: [string, string, (next: TokenPair) => Promise<unknown>, name?: string][] = [
    ['at once', 'same', async () => {}],
    ['after a use', refused, next => app.call('GET', '/v1/usage', { key: next.access_token })],
    ['after the next refresh', refused, next => refresh(app, next.refresh_token)],
    ['with another key', refused, async () => {}, 'two'],
    ['after a day', refused, async () => app.clock.advance(DAY_MS)],
  ]
  for (const [when, expected, between, name] of cases) {
    const got = await repeat(between, name)
    expectThat('F23', got === expected, `a repeat ${when} gets ${got}`)
  }
}
