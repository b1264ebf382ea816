// F38, F7, F3 and F4, one of each in turn: upgrades to the program of a next version, killed at random until they are through; starts on what is
// damaged, foreign, newer or taken; syncs counted over two hundred commits; and everything that writes, killed before and after
// each of its writes.
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Verification } from '../../src/verifications/schema.ts'
import { call, cleanUp, createVerification, startApp } from '../helpers/app.ts'
import { vidimus } from '../helpers/cli.ts'
import { countSyncs } from '../helpers/crash/count-syncs.ts'
import { DAMAGES, problemsOfRefusal, startOn } from '../helpers/crash/damage.ts'
import { canTrace, type KillPoint, killPoints } from '../helpers/crash/kill-at.ts'
import { ACTS, expectWhole, killWithin, type Shop } from '../helpers/crash/killed-acts.ts'
import { copyBefore, IDS_BEFORE, IDS_OF_NEXT, NEXT_VERSION } from '../helpers/crash/next-version.ts'
import { copyOf, invariantsOf, one, SOUND } from '../helpers/directories.ts'
import { stopReceiving } from '../helpers/receiver.ts'
import { seeded } from '../helpers/seeded.ts'
import { verifyWith } from '../helpers/wallet.ts'
import { checkInvariants } from '../invariants/check.ts'
import { parseSoakArguments, percentilesOf, soakLine } from './output.ts'
import { progress, serviceOn } from './service.ts'

const SESSIONS = 300
const KILLS_MAX = 8
const COMMITS = 200
const POINTS_PER_KIND = 50
const VIOLATIONS_MAX = 20
/** As the shell counts signals. */
const KILLED = 128 + 9

const { seed, minutes } = parseSoakArguments(process.argv.slice(2))
const random = seeded(seed)
const violations: string[] = []
const counts = {
  upgrades: 0,
  upgrade_kills: 0,
  /** After the copy from before was begun. */
  upgrade_kills_under_way: 0,
  refusals: 0,
  commits: 0,
  syncs: 0,
  syncs_skipped: 0,
  acts: 0,
  act_kills: 0,
}
const upgradeMs: number[] = []
const endsAt = performance.now() + minutes * 60_000
const isOver = () => performance.now() > endsAt

const traded = await trade()
let points: KillPoint[] | undefined
for (let turn = 0; turn === 0 || (!isOver() && violations.length < VIOLATIONS_MAX); turn++) {
  await upgradeKilled().catch(failed('F38'))
  if (turn % ACTS.length === 0) await countOnce().catch(failed('F3'))
  await refuseOnce(turn).catch(failed('F7'))
  await killAct(turn).catch(failed('F4'))
  if (turn % 10 === 0) progress(`${JSON.stringify(counts)}, ${violations.length} violations`)
}
stopReceiving()
await cleanUp()
const percentiles = { upgrade: percentilesOf(upgradeMs) }
process.exit(soakLine({ script: 'soak/start', seed, minutes, counts, percentiles, violations }))

function failed(what: string) {
  return (error: unknown) => void violations.push(`${what}: ${error}`)
}

function expectThat(holds: boolean, what: string): void {
  if (!holds) violations.push(what)
}

/** A day of this version, stopped in good order and, in a copy of it, by a kill. */
async function trade() {
  const app = await startApp({ now: Date.now() })
  const { key } = await app.tenant()
  const body = { purpose: 'to sell a bottle', metadata: { order: 'o-1' }, redirect_url: 'https://shop.example/done' }
  const made: Verification[] = []
  for (const persona of ['adult', 'minor'] as const) made.push((await verifyWith(app, key, persona, { body })).verification)
  for (let i = made.length; i < SESSIONS; i++) made.push(await createVerification(app, key, { purpose: `number ${i}` }))
  await app.stop()
  const killed = copyOf(app.dir)
  const service = await serviceOn(killed)
  await call(service.url, 'POST', '/v1/verifications', { key, body: { template: 'age_over_18' } })
  await service.kill()
  return { stopped: app.dir, killed, key, made }
}

async function upgradeKilled(): Promise<void> {
  const dir = copyOf(traded.stopped)
  if (canTrace && random.below(2) === 0) await killAtPoint(dir)
  const usualMs = upgradeMs.at(-1) ?? 500
  for (let kill = 0; kill < KILLS_MAX; kill++) {
    const { exitCode, stderr } = await startOn(dir, random.below(Math.ceil(usualMs * 1.2)), NEXT_VERSION)
    if (exitCode === 'it started') break
    countKill(dir)
    expectThat(exitCode === KILLED, `F38: a start ended with ${exitCode}: ${stderr}`)
  }
  await expectUpgraded(dir)
  rmSync(dir, { recursive: true })
  counts.upgrades++
}

/** Just before something that changes a file. */
async function killAtPoint(dir: string): Promise<void> {
  points ??= await killPoints(copyOf(traded.stopped), ['upgrade'], POINTS_PER_KIND, { under: NEXT_VERSION })
  const { isKilled } = await points[random.below(points.length)]!.run(dir, ['upgrade'])
  if (isKilled) countKill(dir)
}

function countKill(dir: string): void {
  counts.upgrade_kills++
  if (existsSync(join(dir, 'backups'))) counts.upgrade_kills_under_way++
}

async function expectUpgraded(dir: string): Promise<void> {
  const begun = performance.now()
  const service = await serviceOn(dir, {}, NEXT_VERSION)
  upgradeMs.push(performance.now() - begun)
  const { key, made } = traded
  for (const before of [...made.slice(0, 3), made[random.below(made.length)]!]) {
    const { body } = await call<Verification>(service.url, 'GET', `/v1/verifications/${before.id}`, { key })
    expectThat(Bun.deepEquals(keptOf(body), keptOf(before)), `F38: ${before.id} is not what it was`)
  }
  const { status } = await call(service.url, 'POST', '/v1/verifications', { key, body: { template: 'age_over_18' } })
  expectThat(status === 201, `F38: nothing can be created afterwards: ${status}`)
  await service.stop()
  const acks = made.map(({ id }) => ({ fact: 'created', id }) as const)
  const broken = (await checkInvariants(dir, { acks })).violations
  violations.push(...broken.map(violation => `F38: ${violation}`))
  expectThat(appliedIn(join(dir, 'vidimus.db')) === IDS_OF_NEXT.join(), `F38: not all were applied`)
  const { exitCode } = await vidimus(dir, ['audit', 'verify'], {}, NEXT_VERSION)
  expectThat(exitCode === 0, `F38: audit verify does not pass`)
  const copy = copyBefore(dir)
  const isFromBefore = appliedIn(copy) === IDS_BEFORE.join() && Bun.deepEquals(invariantsOf(copy), SOUND)
  expectThat(isFromBefore, `F38: the copy is not from before`)
}

/** A session that nobody answered may have expired since. */
function keptOf({ purpose, metadata, claims, credentials, status }: Verification): unknown[] {
  return [purpose, metadata, claims, credentials, status === 'pending' ? 'expired' : status]
}

function appliedIn(file: string): unknown {
  return one(file, 'SELECT group_concat(id) FROM (SELECT id FROM schema_migrations ORDER BY id)')
}

async function refuseOnce(turn: number): Promise<void> {
  const names = Object.keys(DAMAGES)
  const name = names[turn % (names.length + 1)]
  if (name === undefined) return await refuseSecond()
  const { reason, remedy, make } = DAMAGES[name]!
  for (const source of [traded.stopped, traded.killed]) {
    const dir = make(source, random)
    const problems = await problemsOfRefusal(dir, reason, remedy)
    violations.push(...problems.map(problem => `F7 ${name}: ${problem}`))
    rmSync(dir, { recursive: true })
    counts.refusals++
  }
}

async function refuseSecond(): Promise<void> {
  const dir = copyOf(traded.stopped)
  const first = await serviceOn(dir)
  const problems = await problemsOfRefusal(dir, 'directory_in_use', 'give this one its own VIDIMUS_DATA_DIR')
  violations.push(...problems.map(problem => `F7 a second process: ${problem}`))
  expectThat((await call(first.url, 'GET', '/readyz')).status === 200, 'F7: the first process does not go on')
  await first.stop()
  counts.refusals++
}

async function countOnce(): Promise<void> {
  if (!canTrace) {
    counts.syncs_skipped++
    return progress('SKIPPED: strace is not here, syncs are not counted')
  }
  const syncs = await countSyncs(COMMITS)
  counts.commits += COMMITS
  counts.syncs += syncs
  expectThat(syncs >= COMMITS, `F3: ${COMMITS} commits and ${syncs} syncs`)
}

/** On a file that had something else done to it each time, so that other pages are touched. */
async function killAct(turn: number): Promise<void> {
  const act = ACTS[turn % ACTS.length]!
  const kills = await killWithin(act, others)
  counts.acts++
  for (const killed of kills.killed) {
    await expectWhole(act, kills, killed).catch(failed(`F4 ${act.name}, ${killed.name}`))
    rmSync(killed.dir, { recursive: true })
    counts.act_kills++
  }
}

async function others({ app }: Shop): Promise<void> {
  const { key } = await app.tenant({ name: 'Other' })
  for (let i = random.below(30); i > 0; i--) {
    const { id } = await createVerification(app, key, { metadata: { text: 'x'.repeat(random.below(500)) } })
    if (random.below(3) === 0) await app.call('DELETE', `/v1/verifications/${id}`, { key })
  }
}
