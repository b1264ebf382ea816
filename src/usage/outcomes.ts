// Verifications by day and outcome, counted in the transaction in which they happen: the numbers of
// the dashboard read no sessions, and erasures do not change them. Counts are written last in a
// transaction and in one order, because PostgreSQL holds their rows until the commit.

import { utcDay } from '../base/time.ts'
import type { Db } from '../db/engine.ts'
import { groupOf } from '../db/group.ts'
import { stepOf } from './answer-time.ts'
import { kindOf } from './kinds.ts'
import {
  type AnswerTimeCount,
  addToAnswerTime,
  addToOutcome,
  addToSource,
  type OutcomeCount,
  type Owner,
  type SourceCount,
} from './outcome-store.ts'

/** The end of a session. */
export type End = Owner & {
  /** `completed`, `expired`, or the code of the failure. */
  outcome: string
  /** Null for a query of its own. */
  template: string | null
  /** The till that asked; null for an API key. */
  deviceId: string | null
  at: number
  createdAt: number
  /** Null when no wallet answered. */
  respondedAt: number | null
}

export async function countCreation(tx: Db, { tenantId, environment }: Owner, at: number): Promise<void> {
  await add(tx, { outcomes: [{ tenantId, environment, day: utcDay(at), outcome: 'created', count: 1 }] })
}

/** All that a transaction ends, in its last call. */
export async function countEnds(tx: Db, ends: readonly End[]): Promise<void> {
  await add(tx, {
    outcomes: ends.map(end => ({ ...dayOf(end), outcome: end.outcome, count: 1 })),
    sources: ends.flatMap(end => {
      const kind = kindOf(end.outcome)
      return kind ? [{ ...dayOf(end), template: end.template ?? '', deviceId: end.deviceId ?? '', kind, count: 1 }] : []
    }),
    answerTimes: ends.flatMap(end =>
      end.respondedAt === null ? [] : [{ ...dayOf(end), atLeastMs: stepOf(end.respondedAt - end.createdAt), count: 1 }],
    ),
  })
}

const dayOf = ({ tenantId, environment, at }: End) => ({ tenantId, environment, day: utcDay(at) })

type Counts = { outcomes: OutcomeCount[]; sources?: SourceCount[]; answerTimes?: AnswerTimeCount[] }

type Tally = {
  outcomes: Map<string, OutcomeCount>
  sources: Map<string, SourceCount>
  answerTimes: Map<string, AnswerTimeCount>
}

const TALLY = {}

/** The writes of one commit share their counts, which are written at its end. */
async function add(tx: Db, { outcomes, sources = [], answerTimes = [] }: Counts): Promise<void> {
  const group = groupOf(tx)
  const kept = group?.kept.get(TALLY) as Tally | undefined
  const tally = kept ?? { outcomes: new Map(), sources: new Map(), answerTimes: new Map() }
  for (const each of outcomes) sum(tally.outcomes, `${each.tenantId} ${each.environment} ${each.day} ${each.outcome}`, each)
  for (const each of sources)
    sum(tally.sources, `${each.tenantId} ${each.environment} ${each.day} ${each.template} ${each.deviceId} ${each.kind}`, each)
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
async function write(tx: Db, { outcomes, sources, answerTimes }: Tally): Promise<void> {
  for (const key of [...outcomes.keys()].sort()) await addToOutcome(tx, outcomes.get(key)!)
  for (const key of [...sources.keys()].sort()) await addToSource(tx, sources.get(key)!)
  for (const key of [...answerTimes.keys()].sort()) await addToAnswerTime(tx, answerTimes.get(key)!)
}
