import { utcDay } from '../base/time.ts'
import type { Reading } from '../ground.ts'
import { medianOf } from './answer-time.ts'
import { type Ends, kindOf, noEnds } from './kinds.ts'
import { hasOutcome, listAnswerTimes, listOutcomes, listSources, type Owner } from './outcome-store.ts'
import type { Numbers } from './schema.ts'

const DAYS_DEFAULT = 30
const DAY_MS = 86_400_000

/** Ends by template and by till, each under its name in the table. */
type Sources = { templates: Map<string, Ends>; tills: Map<string, Ends> }

/** The ends of the last days, from counts alone. */
export async function readNumbers(
  { db, now }: Reading,
  owner: Owner,
  range: number = DAYS_DEFAULT,
): Promise<Omit<Numbers, 'by_template' | 'by_till'> & Sources> {
  const at = now()
  const days = Array.from({ length: range }, (_, i) => ({ day: utcDay(at - (range - 1 - i) * DAY_MS), ...noEnds() }))
  const byDay = new Map(days.map(each => [each.day, each]))
  const total = noEnds()
  const reasons = new Map<string, number>()
  const since = { ...owner, day: days[0]!.day }
  for (const { day, outcome, count } of await listOutcomes(db, since)) {
    const [counted, kind] = [byDay.get(day), kindOf(outcome)]
    if (!counted || !kind) continue
    counted[kind] += count
    total[kind] += count
    if (kind === 'refused') reasons.set(outcome, (reasons.get(outcome) ?? 0) + count)
  }
  const ended = total.verified + total.refused + total.declined + total.expired
  return {
    days,
    total,
    success_rate: ended === 0 ? null : total.verified / ended,
    median_answer_ms: medianOf(await listAnswerTimes(db, since)),
    reasons: [...reasons].map(([code, count]) => ({ code, count })).sort((a, b) => b.count - a.count),
    templates: sumsOf(await listSources(db, since, 'template')),
    tills: sumsOf(await listSources(db, since, 'deviceId')),
  }
}

function sumsOf(counts: Awaited<ReturnType<typeof listSources>>): Map<string, Ends> {
  const sums = new Map<string, Ends>()
  for (const { name, kind, count } of counts) {
    const ends = sums.get(name) ?? noEnds()
    ends[kind] += count
    sums.set(name, ends)
  }
  return sums
}

/** Whether a session was ever completed, erased ones included. */
export const hasCompleted = async ({ db }: Reading, owner: Owner): Promise<boolean> =>
  await hasOutcome(db, { ...owner, outcome: 'completed' })
