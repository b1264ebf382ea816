import { expect } from 'bun:test'
import fc from 'fast-check'
import { FRESH_SEED } from '../helpers/fresh-seed.ts'
import { curlLine } from './curl-line.ts'
import { problemsWith } from './judge.ts'
import { meaningOf } from './meanings.ts'
import type { Operation, Surface } from './operations.ts'
import type { Scene } from './scene.ts'
import { type Shape, shapesOf } from './shapes.ts'
import type { Outcome, WireRequest } from './wire.ts'

/** Cases per route: fewer meet fewer answers of the shared entrance on each of them. soak/fuzz goes on for minutes. */
const CASES_OF_FIXED_SEED = 75
const CASES_OF_FRESH_SEED = 40
const FIXED_SEED = 20260304
/** Least share of valid requests that must succeed: a fuzz that is always refused finds nothing. */
const SUCCESS_SHARE_MIN = 0.15

/** Valid requests of the fixed seed. Those of another seed are not counted: how many of them succeed is luck. */
type Tally = { sent: number; succeeded: number }

/** Sends hundreds of requests to one route; a wrong answer throws with route, seed and a curl command. */
export async function fuzz(surface: Surface, scene: Scene, operation: Operation): Promise<Tally> {
  const tally: Tally = { sent: 0, succeeded: 0 }
  const shapes = shapesOf(surface, operation, meaningOf(operation, Object.keys(scene.cast.credentials)))
  const tryShape = async (shape: Shape): Promise<Outcome> => {
    const { request, outcome } = await tryOne(scene, operation, shape)
    const problems = problemsWith(surface, operation, shape, outcome)
    if (problems.length > 0) throw new Error(`${operation.id}: ${problems.join('; ')}\n${curlLine(request)}`)
    return outcome
  }
  const count = async (shape: Shape) => {
    const outcome = await tryShape(shape)
    if (shape.mode !== 'valid') return
    tally.sent++
    if (outcome !== 'closed' && outcome.status < 400) tally.succeeded++
  }
  const atOnce = scene.atOnce(operation)
  await tryAll(shapes, { seed: FIXED_SEED, numRuns: CASES_OF_FIXED_SEED }, atOnce, count)
  await tryAll(shapes, { seed: FRESH_SEED, numRuns: CASES_OF_FRESH_SEED }, atOnce, async shape => void (await tryShape(shape)))
  return tally
}

type Runs = { seed: number; numRuns: number }

/** Runs cases in parallel; a failed one is repeated alone and shrunk. */
async function tryAll(shapes: fc.Arbitrary<Shape>, runs: Runs, atOnce: number, tryShape: (shape: Shape) => Promise<void>) {
  const waiting = fc.sample(shapes, runs).entries()
  const lane = async () => {
    for (const [index, shape] of waiting) {
      try {
        await tryShape(shape)
      } catch (error) {
        await fc.assert(fc.asyncProperty(shapes, tryShape), { ...runs, path: String(index), numRuns: 1 })
        throw new Error(`seed ${runs.seed}, path "${index}", only beside others`, { cause: error })
      }
    }
  }
  await Promise.all(Array.from({ length: atOnce }, lane))
}

async function tryOne(scene: Scene, operation: Operation, shape: Shape): Promise<{ request: WireRequest; outcome: Outcome }> {
  const request = await scene.request(operation, shape)
  const outcome = await scene.send(request)
  await scene.after(operation, request, outcome)
  return { request, outcome }
}

/** Enough of the valid requests succeeded. */
export function expectSuccesses({ sent, succeeded }: Tally, shareMin = SUCCESS_SHARE_MIN): void {
  expect(sent).toBeGreaterThan(20)
  expect(succeeded).toBeGreaterThanOrEqual(Math.floor(sent * shareMin))
}
