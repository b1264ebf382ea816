import type { Db } from '../db/engine.ts'
import { groupOf } from '../db/group.ts'
import { apiError } from '../http/errors.ts'
import { secondsToUtcMidnight, utcDay } from '../time.ts'
import { addToDay, chargeDay } from './store.ts'

/** Midnight would not help. */
const NO_QUOTA = 'The daily quota of this tenant is 0; whoever operates the service can change it.'

/** What a charge left of the day's budget. */
export type Charge = { quota: number; created: number; secondsToReset: number }

/** Counts one creation at `at` against the tenant's day, inside the transaction of the creation itself. */
export async function chargeOne(tx: Db, tenantId: string, quota: number, at: number): Promise<Charge> {
  const secondsToReset = secondsToUtcMidnight(at)
  if (quota <= 0) throw apiError('quota_exceeded', { message: NO_QUOTA, retryAfter: secondsToReset })
  const created = await countOne(tx, tenantId, utcDay(at), quota)
  if (created === undefined) throw apiError('quota_exceeded', { retryAfter: secondsToReset })
  return { quota, created, secondsToReset }
}

type Tally = { created: number; unwritten: number }

const TALLIES = {}

/** What creations of one commit have in common is the row that counts them: the first writes it, and the last for all between. */
async function countOne(tx: Db, tenantId: string, day: string, quota: number): Promise<number | undefined> {
  const group = groupOf(tx)
  if (!group) return await chargeDay(tx, tenantId, day, quota)
  const tallies = (group.kept.get(TALLIES) ?? new Map()) as Map<string, Tally>
  group.kept.set(TALLIES, tallies)
  const tally = tallies.get(`${tenantId} ${day}`)
  if (tally) {
    if (tally.created >= quota) return undefined
    tally.unwritten++
    return ++tally.created
  }
  const created = await chargeDay(tx, tenantId, day, quota)
  if (created === undefined) return undefined
  const begun = { created, unwritten: 0 }
  tallies.set(`${tenantId} ${day}`, begun)
  group.atEnd.push(async () => {
    if (begun.unwritten > 0) await addToDay(tx, tenantId, day, begun.unwritten)
  })
  return created
}

/** The day's budget beside the rate budgets, in the fields of the RateLimit draft. */
export function addDailyBudget(headers: Record<string, string | number>, { quota, created, secondsToReset }: Charge): void {
  const append = (name: string, item: string) => {
    headers[name] = headers[name] === undefined ? item : `${headers[name]}, ${item}`
  }
  append('ratelimit-policy', `"daily";q=${quota};w=86400`)
  append('ratelimit', `"daily";r=${Math.max(0, quota - created)};t=${secondsToReset}`)
}
