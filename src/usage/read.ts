import { utcDay } from '../base/time.ts'
import type { Reading } from '../ground.ts'
import type { Usage } from './schema.ts'
import { listUsageDays } from './store.ts'

const RECENT_DAYS_MAX = 30

export async function readUsage({ db, now }: Reading, tenantId: string, dailyQuota: number): Promise<Usage> {
  const day = utcDay(now())
  const days = await listUsageDays(db, tenantId, RECENT_DAYS_MAX)
  const created = days.find(each => each.day === day)?.verificationsCreated ?? 0
  return {
    day,
    verifications_created: created,
    daily_quota: dailyQuota,
    remaining: Math.max(0, dailyQuota - created),
    recent: days.map(each => ({ day: each.day, verifications_created: each.verificationsCreated })),
  }
}
