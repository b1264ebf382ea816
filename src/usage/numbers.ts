import { utcDay } from '../base/time.ts'
import type { Reading } from '../ground.ts'
import { medianOf } from './answer-time.ts'
import { hasOutcome, listAnswerTimes, listOutcomes, type Owner } from './outcome-store.ts'
import type { Numbers } from './schema.ts'

const NUMBER_DAYS = 30
const DAY_MS = 86_400_000

type Kind = 'verified' | 'refused' | 'declined' | 'expired'

/** Neither an answer nor a refusal: the shop itself stopped it. */
const UNCOUNTED = ['created', 'cancelled']

/** Nobody answered, redeemed or compared in time. */
const UNDECIDED = ['expired', 'redirect_not_followed', 'not_compared']

function kindOf(outcome: string): Kind {
  if (outcome === 'completed') return 'verified'
  if (outcome === 'wallet_declined') return 'declined'
  return UNDECIDED.includes(outcome) ? 'expired' : 'refused'
}

const nothing = () => ({ verified: 0, refused: 0, declined: 0, expired: 0 })

/** The ends of the last 30 days, from counts alone. */
export async function readNumbers({ db, now }: Reading, owner: Owner): Promise<Numbers> {
  const at = now()
  const days = Array.from({ length: NUMBER_DAYS }, (_, i) => ({
    day: utcDay(at - (NUMBER_DAYS - 1 - i) * DAY_MS),
    ...nothing(),
  }))
  const byDay = new Map(days.map(each => [each.day, each]))
  const total = nothing()
  const reasons = new Map<string, number>()
  const since = { ...owner, day: days[0]!.day }
  for (const { day, outcome, count } of await listOutcomes(db, since)) {
    const counted = byDay.get(day)
    if (!counted || UNCOUNTED.includes(outcome)) continue
    const kind = kindOf(outcome)
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
  }
}

/** Whether a session was ever completed, erased ones included. */
export const hasCompleted = async ({ db }: Reading, owner: Owner): Promise<boolean> =>
  await hasOutcome(db, { ...owner, outcome: 'completed' })
