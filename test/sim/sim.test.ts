import { afterAll, describe, expect, test } from 'bun:test'
import { FRESH_SEED } from '../helpers/fresh-seed.ts'
import { stopReceiving } from '../helpers/receiver.ts'
import { met } from './expect.ts'
import { CODES } from './model.ts'
import seeds from './seeds.json' with { type: 'json' }
import { runStory, simulate } from './simulate.ts'
import type { Story } from './story.ts'

afterAll(stopReceiving)

const { SIM_SEED, SIM_PATH, SIM_STEPS = '60' } = process.env
const chosen = SIM_SEED === undefined ? [...seeds.seeds, FRESH_SEED] : [Number(SIM_SEED)]
const RUNS_PER_SEED = 18

describe('the service answers as the model says, whatever happens in whichever order', () => {
  test.each(chosen)(
    'seed %d',
    async seed => {
      let runs = 0
      let steps = 0
      const onRun = (count: number) => {
        runs++
        steps += count
      }
      await simulate({ seed, path: SIM_PATH, runs: RUNS_PER_SEED, stepsMax: Number(SIM_STEPS), onRun })
      expect(runs).toBeGreaterThanOrEqual(SIM_PATH === undefined ? RUNS_PER_SEED : 1)
      expect(steps).toBeGreaterThan(runs)
    },
    300_000,
  )
})

test.skipIf(SIM_SEED !== undefined)('every refusal of the model was met, and most answers are no refusal', () => {
  expect(CODES.filter(code => !met.has(code))).toEqual([])
  const refusals = CODES.reduce((sum, code) => sum + (met.get(code) ?? 0), 0)
  expect(met.get('ok')).toBeGreaterThan(refusals)
})

describe('stories that once went wrong', () => {
  test.each((seeds.regressions as { why: string; story: Story }[]).map(({ why, story }) => [why, story] as const))(
    '%s',
    async (_, story) => {
      await runStory(story)
    },
  )
})
