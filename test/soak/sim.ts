// The simulator of test/sim with longer stories, until the time is over: `bun test/soak/sim.ts [--seed N] [--minutes M]`.
import { cleanUp } from '../helpers/app.ts'
import { simulate } from '../sim/simulate.ts'
import { parseSoakArguments, percentilesOf, soakLine } from './output.ts'

const STEPS_MAX = 200
const RUNS_PER_SEED = 50
const MINUTE_MS = 60_000

const { seed, minutes } = parseSoakArguments(process.argv.slice(2))
const until = Date.now() + minutes * MINUTE_MS
const counts = { seeds: 0, runs: 0, steps: 0 }
const violations: string[] = []
const runMs: number[] = []
let startedAt = performance.now()

for (let each = seed; Date.now() < until && violations.length === 0; each++) {
  await simulate({ seed: each, runs: RUNS_PER_SEED, stepsMax: STEPS_MAX, until, onRun }).catch((error: Error) =>
    violations.push(error.message),
  )
  counts.seeds++
  process.stderr.write(`seed ${each}: ${counts.runs} runs, ${counts.steps} steps, ${violations.length} violations\n`)
}
await cleanUp()
process.exit(soakLine({ script: 'soak/sim', seed, minutes, counts, percentiles: { run: percentilesOf(runMs) }, violations }))

function onRun(steps: number): void {
  counts.runs++
  counts.steps += steps
  runMs.push(performance.now() - startedAt)
  startedAt = performance.now()
}
