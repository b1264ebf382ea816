import type { Db } from '#db'
import { apiError } from '../http/errors.ts'
import { secondsToUtcMidnight, utcDay } from '../time.ts'
import { chargeDay } from './store.ts'

/** What a charge left of the day's budget. */
export type Charge = { quota: number; created: number; secondsToReset: number }

/** Counts one creation at `at` against the tenant's day, inside the transaction of the creation itself. */
export async function chargeOne(tx: Db, tenantId: string, quota: number, at: number): Promise<Charge> {
  const secondsToReset = secondsToUtcMidnight(at)
  const created = quota > 0 ? await chargeDay(tx, tenantId, utcDay(at), quota) : undefined
  if (created === undefined) throw apiError('quota_exceeded', { retryAfter: secondsToReset })
  return { quota, created, secondsToReset }
}

/** The day's budget beside the rate budgets, in the fields of the RateLimit draft. */
export function addDailyBudget(headers: Record<string, string | number>, { quota, created, secondsToReset }: Charge): void {
  const append = (name: string, item: string) => {
    headers[name] = headers[name] === undefined ? item : `${headers[name]}, ${item}`
  }
  append('ratelimit-policy', `"daily";q=${quota};w=86400`)
  append('ratelimit', `"daily";r=${Math.max(0, quota - created)};t=${secondsToReset}`)
}
