// F29 and F35: guessing of codes, ids, keys, tokens and passwords, and calls in the name of wallets, against the figures of the plan, over
// restarts; and how long the id of somebody else takes beside one that never was. A fifth of the time for the latter.
import '../test/fuzz/cheap-passwords.ts'
import { cleanUp } from '../test/helpers/app.ts'
import { seeded } from '../test/helpers/seeded.ts'
import { attackAll } from './soak-guess/attacks.ts'
import { checkPlan } from './soak-guess/plan.ts'
import { compareTimes, judgeTimes } from './soak-guess/timing.ts'
import { parseSoakArguments, percentilesOf, soakLine } from './soak-output.ts'
import { progress } from './soak-service.ts'

const VIOLATIONS_MAX = 20

const { seed, minutes } = parseSoakArguments(process.argv.slice(2))
const random = seeded(seed)
const violations: string[] = []
const counts = { rounds: 0, guesses: 0, heard: 0, hours: 0, restarts: 0, owner_logins: 0, compared: 0 }
const startedAt = performance.now()
const until = (share: number) => () =>
  performance.now() - startedAt > minutes * 60_000 * share || violations.length >= VIOLATIONS_MAX

checkPlan({ violations })
const times = await compareTimes({ random, violations, isOver: until(0.2) })
violations.push(...judgeTimes(times))
const samples = Object.entries(times).flatMap(([name, { foreignUs, neverUs }]) => [
  [`${name}_foreign_us`, foreignUs] as const,
  [`${name}_never_us`, neverUs] as const,
])
counts.compared = samples.reduce((sum, [, values]) => sum + values.length, 0)
do {
  await attackAll({ random, violations, counts }, until(1))
  counts.rounds++
  progress(`${JSON.stringify(counts)}, ${violations.length} violations`)
} while (!until(1)())
await cleanUp()
counts.hours = Math.round(counts.hours)
const percentiles = Object.fromEntries(samples.map(([name, values]) => [name, percentilesOf(values)]))
process.exit(soakLine({ script: 'soak-guess', seed, minutes, counts, percentiles, violations }))
