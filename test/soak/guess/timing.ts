// The id of somebody else and an id that never was, asked for in turn: the same bytes, after the same time.
import type { Answer } from '../../helpers/app.ts'
import { receive, startAppFor, stopReceiving } from '../../helpers/receiver.ts'
import type { Seeded } from '../../helpers/seeded.ts'
import { apiProbes } from './api-probes.ts'
import { dashboardProbes } from './dashboard-probes.ts'

/** Fewer say nothing. */
const PAIRS_MIN = 200
const DIFFERENCE_MAX = 0.2
const DIFFERENCE_US_MAX = 50

/** One route, for one who asks, with an id of one kind that is not theirs. */
export type Probe = {
  name: string
  foreignId(): string
  neverId(): string
  ask(id: string): Promise<Answer>
}

export type Samples = { foreignUs: number[]; neverUs: number[] }

type Soak = { random: Seeded; violations: string[]; isOver: () => boolean }

/** Microseconds, by probe. */
export async function compareTimes({ random, violations, isOver }: Soak): Promise<Map<string, Samples>> {
  const receiver = receive()
  const app = await startAppFor([receiver])
  const probes = [...(await apiProbes(app, random)), ...(await dashboardProbes(app, receiver, random))]
  const samples = new Map(probes.map(({ name }) => [name, { foreignUs: [], neverUs: [] } as Samples]))
  const told = new Map<string, string>()
  for (let i = 0; i < PAIRS_MIN || !isOver(); i++) {
    for (const { name, foreignId, neverId, ask } of probes) {
      const ids = { foreignUs: foreignId(), neverUs: neverId() }
      const whose = ['foreignUs', 'neverUs'] as const
      for (const kind of random.below(2) === 0 ? whose : whose.toReversed()) {
        const { tookUs, answer } = await timed(ask, ids[kind])
        samples.get(name)![kind].push(tookUs)
        const expected = told.get(name) ?? answer
        told.set(name, expected)
        if (answer !== expected || !answer.startsWith('404')) violations.push(`F35 ${name}: ${answer} instead of ${expected}`)
      }
    }
  }
  await app.stop()
  stopReceiving()
  return samples
}

async function timed(ask: Probe['ask'], id: string): Promise<{ tookUs: number; answer: string }> {
  const startedAt = performance.now()
  const { status, text } = await ask(id)
  return { tookUs: (performance.now() - startedAt) * 1000, answer: `${status} ${text.replaceAll(id, 'ID')}` }
}

/** A difference that the service makes is there in both halves of the samples; one that a busy machine makes is not. */
export function judgeTimes(samples: ReadonlyMap<string, Samples>): string[] {
  return [...samples].flatMap(([name, { foreignUs, neverUs }]) => {
    const middle = Math.floor(foreignUs.length / 2)
    const signs = [
      differs(foreignUs.slice(0, middle), neverUs.slice(0, middle)),
      differs(foreignUs.slice(middle), neverUs.slice(middle)),
    ]
    const isTold = signs[0] !== 0 && signs[0] === signs[1]
    const [foreign, never] = [undisturbed(foreignUs), undisturbed(neverUs)]
    return isTold ? [`F35 ${name}: ${Math.round(foreign)} µs for a foreign id, ${Math.round(never)} µs for none`] : []
  })
}

/**
 * 1 or -1 where one of the two is slower by more than is allowed: among the fast answers, and in most pairs too. The two of a pair
 * follow each other, so the machine was as busy for the one as for the other.
 */
function differs(foreignUs: readonly number[], neverUs: readonly number[]): -1 | 0 | 1 {
  const [foreign, never] = [undisturbed(foreignUs), undisturbed(neverUs)]
  const difference = foreign - never
  if (Math.abs(difference) <= DIFFERENCE_US_MAX) return 0
  const share = difference / Math.max(foreign, never)
  const inPairs = median(foreignUs.map((us, i) => (us - neverUs[i]!) / Math.max(us, neverUs[i]!)))
  if (Math.min(Math.abs(share), Math.abs(inPairs)) <= DIFFERENCE_MAX || Math.sign(share) !== Math.sign(inPairs)) return 0
  return difference > 0 ? 1 : -1
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

/** One for each probe. */
export const differencesUs = (samples: ReadonlyMap<string, Samples>): number[] =>
  [...samples.values()].map(({ foreignUs, neverUs }) => Math.abs(undisturbed(foreignUs) - undisturbed(neverUs)))

/**
 * The tenth percentile: the median of a busy machine is a time in which others worked. A lookup more or less is in every answer,
 * the fast ones too.
 */
const undisturbed = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 10)] ?? 0
