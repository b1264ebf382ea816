// The simulator: seeded sequences of everything that can happen, against the real service on a real file with a clock of their
// own. After every step the answer is what the model says; at the end nothing is owed, the invariants hold from outside and the
// audit chain verifies.
import fc from 'fast-check'
import { temporaryDir } from '../helpers/app.ts'
import type { Ack } from '../invariants/acks.ts'
import { finishRun, inspectWorld } from './finish.ts'
import type { Fact } from './simulation.ts'
import { startRun } from './start.ts'
import { anyPlot, type Plot, plotOf, type Story, storyOf } from './story.ts'
import { closeWorld, openWorld, type World } from './world.ts'

/** Time goes on from run to run, and certificates do not last for ever. */
const RUNS_PER_WORLD_MAX = 50
/** Each attempt at a shorter story is a run, in a world of its own: after this the shortest so far is told. */
const SHRINK_MS = 60_000

export type Options = {
  seed: number
  runs: number
  stepsMax: number
  path?: string
  /** With the number of steps that were taken. */
  onRun?: (steps: number) => void
  until?: number
}

/** Throws with the seed, the shortest list of steps and how to run it again. */
export async function simulate({ seed, runs, stepsMax, path, onRun, until = Number.POSITIVE_INFINITY }: Options): Promise<void> {
  const shared: Shared = {}
  let shrinking: Shrinking | undefined
  const property = fc.asyncProperty(anyPlot(stepsMax), async plot => {
    if (shrinking) return await attempt(plot, shrinking)
    if (Date.now() >= until) return
    try {
      onRun?.(await runPlot(plot, shared))
    } catch (error) {
      shrinking = { startedAt: Date.now(), attempts: 0 }
      throw error
    }
  })
  try {
    const result = await fc.check(property, { seed, path, numRuns: runs })
    if (result.failed) throw new Error(reportOf(result, stepsMax, shrinking!))
    if (shared.world) await inspectWorld(shared.world)
  } finally {
    if (shared.world) await closeWorld(shared.world)
  }
}

type Shared = { world?: World }
type Shrinking = { startedAt: number; attempts: number }

/** In a world of its own: what went wrong may have left its marks in the shared one, and any story would fail there. */
async function attempt(plot: Plot, shrinking: Shrinking): Promise<void> {
  if (Date.now() >= shrinking.startedAt + SHRINK_MS) return
  shrinking.attempts++
  await runPlot(plot)
}

/** For whoever tells them elsewhere. */
export const plotsOf = (seed: number, stepsMax: number, count: number): Plot[] =>
  fc.sample(anyPlot(stepsMax), { seed, numRuns: count })

export const runStory = (story: Story): Promise<number> => runPlot(plotOf(story))

/** In a world that it shares with others, or in one of its own, which is looked at from outside when it is over. */
async function runPlot(plot: Plot, shared?: Shared): Promise<number> {
  if (shared && !plot.isAlone) return await tell(await freshEnough(shared), plot)
  const world = await openWorld()
  const acks: Fact[] = []
  try {
    const steps = await tell(world, plot, fact => acks.push(fact))
    await inspectWorld(world, acks as Ack[])
    return steps
  } finally {
    await closeWorld(world)
  }
}

async function freshEnough(shared: Shared): Promise<World> {
  if (shared.world && shared.world.runs < RUNS_PER_WORLD_MAX) return shared.world
  if (shared.world) {
    await inspectWorld(shared.world)
    await closeWorld(shared.world)
  }
  shared.world = await openWorld({ dir: temporaryDir() })
  return shared.world
}

/** Reports each acknowledged step at once; returns the number of steps taken. */
export async function tell(world: World, plot: Plot, told: (fact: Fact) => void = () => {}): Promise<number> {
  const simulation = await startRun(world, plot, told)
  await fc.asyncModelRun(() => ({ model: simulation.model, real: simulation }), plot.commands)
  await finishRun(simulation)
  return simulation.steps
}

function reportOf(
  { counterexample, counterexamplePath, errorInstance, seed, numRuns }: fc.RunDetails<[Plot]>,
  stepsMax: number,
  { startedAt, attempts }: Shrinking,
): string {
  const story = storyOf(counterexample![0])
  // The number of the run. What follows in the path are choices of fast-check that depend on what was done: they are made again.
  const [run] = counterexamplePath!.split(':')
  const tookMs = Date.now() - startedAt
  const how = `${attempts} attempts in ${(tookMs / 1000).toFixed(1)} s${tookMs < SHRINK_MS ? '' : ', when time was over'}`
  return [
    `seed ${seed}, path ${run}, after ${numRuns} runs: ${(errorInstance as Error).message}`,
    `The shortest story that fails, of ${story.steps.length} steps, after ${how}; for "regressions" of test/sim/seeds.json:`,
    JSON.stringify(story),
    `Again: SIM_SEED=${seed} SIM_PATH=${run} SIM_STEPS=${stepsMax} ./scripts/bun test test/sim/sim.test.ts`,
  ].join('\n')
}
