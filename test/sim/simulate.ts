// The simulator: seeded sequences of everything that can happen, against the real service on a real file with a clock of their own. After every
// step the answer is what the model says; at the end nothing is owed, the invariants hold from outside and the audit chain verifies.
import fc from 'fast-check'
import type { Ack } from '../../scripts/invariants/acks.ts'
import { temporaryDir } from '../helpers/app.ts'
import type { Command } from './command.ts'
import * as devices from './commands/devices.ts'
import * as operator from './commands/operator.ts'
import * as time from './commands/time.ts'
import * as verifications from './commands/verifications.ts'
import * as wallet from './commands/wallet.ts'
import { finishRun, inspectWorld } from './finish.ts'
import { DAY, HOUR, type Model, SECOND } from './model.ts'
import { type Fact, type Simulation, settle } from './simulation.ts'
import { type Setting, startRun } from './start.ts'
import { closeWorld, openWorld, type World } from './world.ts'

const COMMANDS = { ...verifications, ...wallet, ...devices, ...operator, ...time } as Record<string, Command<unknown>>
/** Only where a run has the service for itself. */
const ALONE = ['stopAndStart']

/** Time goes on from run to run, and certificates do not last for ever. */
const RUNS_PER_WORLD_MAX = 50
/** How many of the runs have a directory of their own, and stop and start. */
const ALONE_EVERY = 8

/** One step as plain JSON. */
export type Step = { do: string; with: unknown }
export type Story = { setting: Setting; isAlone: boolean; steps: Step[] }

export type Options = {
  seed: number
  runs: number
  stepsMax: number
  path?: string
  onRun?: (steps: number) => void
  until?: number
}

/** Throws with the seed, the shortest list of steps and how to run it again. */
export async function simulate({ seed, runs, stepsMax, path, onRun, until }: Options): Promise<void> {
  const shared = sharedWorld()
  const property = fc.asyncProperty(fc.noBias(storyOf(stepsMax)), async story => {
    if (until !== undefined && Date.now() >= until) return
    await runStory(story, shared)
    onRun?.(story.steps.length)
  })
  try {
    const result = await fc.check(property, { seed, path, numRuns: runs, endOnFailure: true })
    if (result.failed) throw new Error(await reportOf(result, seed))
    if (shared.world) await inspectWorld(shared.world)
  } finally {
    if (shared.world) await closeWorld(shared.world)
  }
}

type Shared = { world?: World }
const sharedWorld = (): Shared => ({})

/** For whoever tells them elsewhere. */
export const storiesOf = (seed: number, stepsMax: number, count: number): Story[] =>
  fc.sample(fc.noBias(storyOf(stepsMax)), { seed, numRuns: count })

function storyOf(stepsMax: number): fc.Arbitrary<Story> {
  const setting = fc.record({
    quota: fc.oneof(
      { weight: 1, arbitrary: fc.constantFrom(0, 1) },
      { weight: 3, arbitrary: fc.constantFrom(2, 4) },
      { weight: 8, arbitrary: fc.constant(1000) },
    ),
    retentionDays: fc.constantFrom(undefined, undefined, undefined, 1),
    startsAt: fc.constantFrom(12 * HOUR, DAY - SECOND, DAY - 1),
  }) as fc.Arbitrary<Setting>
  const alone = fc.nat(ALONE_EVERY - 1).map(n => n === ALONE_EVERY - 1)
  return alone.chain(isAlone =>
    fc.record({
      setting,
      isAlone: fc.constant(isAlone),
      steps: fc.array(stepOf(isAlone), { minLength: 1, maxLength: stepsMax, size: 'max' }),
    }),
  )
}

const stepOf = (isAlone: boolean): fc.Arbitrary<Step> =>
  fc.oneof(
    ...Object.entries(COMMANDS)
      .filter(([name]) => isAlone || !ALONE.includes(name))
      .map(([name, { weight, args }]) => ({ weight, arbitrary: args.map(given => ({ do: name, with: given })) })),
  )

/** A story in a world that it shares with others, or in one of its own, which is looked at from outside when it is over. */
export async function runStory(story: Story, shared?: Shared): Promise<void> {
  if (shared && !story.isAlone) return await tell(await freshEnough(shared), story)
  const world = await openWorld()
  const acks: Fact[] = []
  try {
    await tell(world, story, fact => acks.push(fact))
    await inspectWorld(world, acks as Ack[])
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

/** What was done so far is told as it is acknowledged. */
export async function tell(world: World, { setting, steps }: Story, told: (fact: Fact) => void = () => {}): Promise<void> {
  const simulation = await startRun(world, setting, told)
  for (const [i, step] of steps.entries()) {
    try {
      await perform(simulation, step)
    } catch (error) {
      throw new FailedStep(i, `step ${i + 1}, ${JSON.stringify(step)}: ${(error as Error).message}`, { cause: error })
    }
  }
  await finishRun(simulation)
}

async function perform(simulation: Simulation, { do: name, with: args }: Step): Promise<void> {
  const made = COMMANDS[name]
  if (!made) throw new Error(`there is no command ${name}`)
  if (made.can && !made.can(simulation.model satisfies Model, args)) return
  await made.run(simulation, args)
  await settle(simulation)
}

class FailedStep extends Error {
  constructor(
    readonly place: number,
    message: string,
    options: ErrorOptions,
  ) {
    super(message, options)
  }
}

async function reportOf(result: fc.RunDetails<[Story]>, seed: number): Promise<string> {
  const [story] = result.counterexample!
  const { message } = result.errorInstance as Error
  return [
    `seed ${seed}, path ${result.counterexamplePath}, after ${result.numRuns} runs: ${message}`,
    'The shortest story that fails, for "regressions" of test/sim/seeds.json:',
    JSON.stringify(await shortest(story)),
    `Again: SIM_SEED=${seed} SIM_PATH=${result.counterexamplePath} ./scripts/bun test test/sim`,
  ].join('\n')
}

/** Without what comes after the step that failed, and without every step that can be left out. */
async function shortest(story: Story): Promise<Story> {
  let steps = story.steps
  const fails = async (fewer: Step[]): Promise<boolean> => {
    try {
      await runStory({ ...story, steps: fewer })
      return false
    } catch (error) {
      steps = error instanceof FailedStep ? fewer.slice(0, error.place + 1) : fewer
      return true
    }
  }
  await fails(steps)
  // Many at once first, one by one in the end.
  for (let size = steps.length >> 1; size > 0; size >>= 1)
    for (let i = steps.length - 1 - size; i >= 0; i = Math.min(i, steps.length - 1) - size) await fails(steps.toSpliced(i, size))
  return { ...story, steps }
}
