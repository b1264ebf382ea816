import { secondsToUtcMidnight, utcDay } from '../base/time.ts'
import type { Db } from '../db/engine.ts'
import { groupOf } from '../db/group.ts'
import { apiError } from '../http/errors.ts'
import { addToDay, chargeDay, type DayCount, findNewestCreation } from './store.ts'

const DAY_MS = 86_400_000

/** Does not name midnight: waiting does not help. */
const NO_QUOTA = 'The daily quota of this tenant is 0; whoever operates the service can change it.'

/** One creation: its time, and the day's budget after it. */
export type Charge = { at: number; quota: number; created: number; secondsToReset: number }

/**
 * Counts one creation against the tenant's day, inside the transaction of the creation itself, and gives its time: later than
 * every other creation of the tenant, so that paging by time neither skips nor repeats.
 */
export async function chargeOne(tx: Db, tenantId: string, quota: number, now: number): Promise<Charge> {
  if (quota <= 0) throw apiError('quota_exceeded', { message: NO_QUOTA, retryAfter: secondsToUtcMidnight(now) })
  const { created, newestAt: at } = await countOne(tx, tenantId, quota, now)
  return { at, quota, created, secondsToReset: secondsToUtcMidnight(at) }
}

/** A day's row as the creations of one commit see it; `unwritten` are not in the table yet. */
type Tally = DayCount & { endsAt: number; unwritten: number }

const TALLIES = {}

/**
 * Creations of one commit share the row that counts them: the first writes it, and the commit ends
 * with a write for the others.
 */
async function countOne(tx: Db, tenantId: string, quota: number, now: number): Promise<Omit<DayCount, 'day'>> {
  const group = groupOf(tx)
  if (!group) return await chargeRow(tx, tenantId, quota, now)
  const tallies = (group.kept.get(TALLIES) ?? new Map()) as Map<string, Tally>
  group.kept.set(TALLIES, tallies)
  const tally = tallies.get(tenantId)
  const at = tally ? Math.max(now, tally.newestAt + 1) : now
  if (tally && at < tally.endsAt) {
    if (tally.created >= quota) throw quotaExceeded(at)
    tally.newestAt = at
    tally.unwritten++
    return { created: ++tally.created, newestAt: at }
  }
  // Written before the next day's row is charged, so that its look-up finds this one complete.
  if (tally) await write(tx, tenantId, tally)
  const row = await chargeRow(tx, tenantId, quota, at)
  const begun = { ...row, endsAt: endOfDay(row.newestAt), unwritten: 0 }
  tallies.set(tenantId, begun)
  group.atEnd.push(() => write(tx, tenantId, begun))
  return row
}

async function write(tx: Db, tenantId: string, tally: Tally): Promise<void> {
  if (tally.unwritten > 0) await addToDay(tx, tenantId, tally, tally.unwritten)
  tally.unwritten = 0
}

/** One statement on the day of `now`, or of the newest creation if that is later. */
async function chargeRow(tx: Db, tenantId: string, quota: number, now: number): Promise<DayCount> {
  const charged = await chargeOn(tx, tenantId, quota, now)
  if (charged) return charged
  // A burst runs ahead of the clock, and so does a clock that was put back: over midnight it takes the next day's budget.
  const at = Math.max(now, (await findNewestCreation(tx, tenantId)) + 1)
  const next = utcDay(at) === utcDay(now) ? undefined : await chargeOn(tx, tenantId, quota, at)
  if (!next) throw quotaExceeded(at)
  return next
}

const endOfDay = (at: number): number => at - (at % DAY_MS) + DAY_MS

const chargeOn = (tx: Db, tenantId: string, quota: number, at: number): Promise<DayCount | undefined> =>
  chargeDay(tx, tenantId, { day: utcDay(at), at, lastMs: endOfDay(at) - 1, quota })

const quotaExceeded = (at: number) => apiError('quota_exceeded', { retryAfter: secondsToUtcMidnight(at) })

/** The day's budget beside the rate budgets, in the fields of the RateLimit draft. */
export function addDailyBudget(headers: Record<string, string | number>, { quota, created, secondsToReset }: Charge): void {
  const append = (name: string, item: string) => {
    headers[name] = headers[name] === undefined ? item : `${headers[name]}, ${item}`
  }
  append('ratelimit-policy', `"daily";q=${quota};w=86400`)
  append('ratelimit', `"daily";r=${Math.max(0, quota - created)};t=${secondsToReset}`)
}
