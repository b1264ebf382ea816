import fc from 'fast-check'
import { DAY, HOUR, type Model, SECOND } from './model.ts'
import type { Simulation } from './simulation.ts'
import type { Setting } from './start.ts'
import { anyStep, type Step, StepCommand } from './step.ts'

/** One of so many runs has a directory of its own, and stops and starts. */
const ALONE_EVERY = 8

type Scene = { setting: Setting; isAlone: boolean }

/** As plain JSON: what made a run fail can be kept and run again. */
export type Story = Scene & { steps: Step[] }

/** As it is run. */
export type Plot = Scene & { commands: Iterable<fc.AsyncCommand<Model, Simulation>> }

/** The commands stand first: fast-check leaves out what it can of them before it tries a simpler scene. */
export const anyPlot = (stepsMax: number): fc.Arbitrary<Plot> =>
  fc.noBias(
    fc.record({
      // Without the note for its replayPath, the text of all commands is that of the steps which were taken.
      commands: fc.commands([anyStep], { maxCommands: stepsMax, size: 'max', disableReplayLog: true }),
      setting: anySetting,
      isAlone: fc.nat(ALONE_EVERY - 1).map(n => n === ALONE_EVERY - 1),
    }),
  )

const anySetting = fc.record({
  quota: fc.oneof(
    { weight: 1, arbitrary: fc.constantFrom(0, 1) },
    { weight: 3, arbitrary: fc.constantFrom(2, 4) },
    { weight: 8, arbitrary: fc.constant(1000) },
  ),
  retentionDays: fc.constantFrom(undefined, undefined, undefined, 1),
  startsAt: fc.constantFrom(12 * HOUR, DAY - SECOND, DAY - 1),
}) as fc.Arbitrary<Setting>

export const plotOf = ({ setting, isAlone, steps }: Story): Plot => ({
  setting,
  isAlone,
  commands: steps.map(step => new StepCommand(step)),
})

/** Only of a plot that was run: the steps that were taken, none that the model did not allow and none after the one that failed. */
export const storyOf = ({ setting, isAlone, commands }: Plot): Story => ({
  setting,
  isAlone,
  steps: JSON.parse(`[${commands}]`),
})
