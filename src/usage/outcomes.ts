// Verifications by day and outcome, counted in the transaction in which they happen: the numbers of
// the dashboard read no sessions, and erasures do not change them. Counts are written last in a
// transaction and in one order, because PostgreSQL holds their rows until the commit.

import { utcDay } from '../base/time.ts'
import type { Db } from '../db/engine.ts'
import { groupOf } from '../db/group.ts'
import { stepOf } from './answer-time.ts'
import { type AnswerTimeCount, addToAnswerTime, addToOutcome, type OutcomeCount, type Owner } from './outcome-store.ts'

/** The end of a session. */
export type End = Owner & {
  /** `completed`, `expired`, or the code of the failure. */
  outcome: string
  at: number
  createdAt: number
  /** Null when no wallet answered. */
  respondedAt: number | null
}

export async function countCreation(tx: Db, { tenantId, environment }: Owner, at: number): Promise<void> {
  await add(tx, [{ tenantId, environment, day: utcDay(at), outcome: 'created', count: 1 }], [])
}

/** All that a transaction ends, in its last call. */
export async function countEnds(tx: Db, ends: readonly End[]): Promise<void> {
  await add(
    tx,
    ends.map(({ tenantId, environment, outcome, at }) => ({ tenantId, environment, day: utcDay(at), outcome, count: 1 })),
    ends.flatMap(({ tenantId, environment, at, createdAt, respondedAt }) =>
      respondedAt === null
        ? []
        : [{ tenantId, environment, day: utcDay(at), atLeastMs: stepOf(respondedAt - createdAt), count: 1 }],
    ),
  )
}

type Tally = { outcomes: Map<string, OutcomeCount>; answerTimes: Map<string, AnswerTimeCount> }

const TALLY = {}

/** The writes of one commit share their counts, which are written at its end. */
async function add(tx: Db, outcomes: readonly OutcomeCount[], answerTimes: readonly AnswerTimeCount[]): Promise<void> {
  const group = groupOf(tx)
  const kept = group?.kept.get(TALLY) as Tally | undefined
  const tally = kept ?? { outcomes: new Map(), answerTimes: new Map() }
  for (const each of outcomes) sum(tally.outcomes, `${each.tenantId} ${each.environment} ${each.day} ${each.outcome}`, each)
  for (const each of answerTimes)
    sum(tally.answerTimes, `${each.tenantId} ${each.environment} ${each.day} ${each.atLeastMs}`, each)
  if (!group) return await write(tx, tally)
  if (kept) return
  group.kept.set(TALLY, tally)
  group.atEnd.push(() => write(tx, tally))
}

function sum<Counted extends { count: number }>(counts: Map<string, Counted>, key: string, more: Counted): void {
  const known = counts.get(key)
  if (known) known.count += more.count
  else counts.set(key, more)
}

/** Rows in the order of their keys: two transactions must not wait for each other. */
async function write(tx: Db, { outcomes, answerTimes }: Tally): Promise<void> {
  for (const key of [...outcomes.keys()].sort()) await addToOutcome(tx, outcomes.get(key)!)
  for (const key of [...answerTimes.keys()].sort()) await addToAnswerTime(tx, answerTimes.get(key)!)
}
