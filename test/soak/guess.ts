// F29 and F35: guessing of codes, ids, keys, tokens and passwords, and calls in the name of wallets, against the figures of the
// plan, over restarts; and how long the id of somebody else takes beside one that never was. A fifth of the time for the latter.
import { cleanUp } from '../helpers/app.ts'
import { makePasswordsCheap } from '../helpers/passwords.ts'
import { seeded } from '../helpers/seeded.ts'
import { attackAll } from './guess/attacks.ts'
import { checkPlan } from './guess/plan.ts'
import { compareTimes, differencesUs, judgeTimes, type Samples } from './guess/timing.ts'
import { parseSoakArguments, percentilesOf, soakLine } from './output.ts'
import { progress } from './service.ts'

const VIOLATIONS_MAX = 20

const { seed, minutes } = parseSoakArguments(process.argv.slice(2))
const random = seeded(seed)
const violations: string[] = []
const counts = { rounds: 0, guesses: 0, heard: 0, hours: 0, restarts: 0, owner_logins: 0, probes: 0, compared: 0 }
const startedAt = performance.now()
const until = (share: number) => () =>
  performance.now() - startedAt > minutes * 60_000 * share || violations.length >= VIOLATIONS_MAX

makePasswordsCheap()
checkPlan({ violations })
const times = await compareTimes({ random, violations, isOver: until(0.2) })
violations.push(...judgeTimes(times))
const percentiles = percentilesOfTimes(times)
counts.probes = times.size
counts.compared = [...times.values()].reduce((sum, { foreignUs, neverUs }) => sum + foreignUs.length + neverUs.length, 0)
do {
  await attackAll({ random, violations, counts }, until(1))
  counts.rounds++
  progress(`${JSON.stringify(counts)}, ${violations.length} violations`)
} while (!until(1)())
await cleanUp()
counts.hours = Math.round(counts.hours)
process.exit(soakLine({ script: 'soak/guess', seed, minutes, counts, percentiles, violations }))

/** Each probe is judged by itself; told are all of them together, and the differences of their medians. */
function percentilesOfTimes(times: ReadonlyMap<string, Samples>) {
  const all = (kind: keyof Samples) => percentilesOf([...times.values()].flatMap(samples => samples[kind]))
  return { foreign_us: all('foreignUs'), never_us: all('neverUs'), difference_us: percentilesOf(differencesUs(times)) }
}
