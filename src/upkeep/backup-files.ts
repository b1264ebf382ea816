// The names of scheduled backups, when one is due, and which are deleted.
import { type BackupFile, type BackupPlan, goodBackups } from '../db/backup-list.ts'
import { stampOf } from '../db/database-file.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** Copies made before an upgrade, and replaced databases, exist without a schedule too. */
const AGE_MAX_DEFAULT_MS = 14 * DAY_MS

export const hourlyName = (at: number): string => `hourly-${stampOf(at)}.db`
export const dailyName = (at: number): string => `daily-${stampOf(at).slice(0, 8)}.db`

export function isDue(files: BackupFile[], plan: BackupPlan, now: number): boolean {
  const good = goodBackups(files, now)
  if (plan.hourly === 0) return plan.daily > 0 && !files.some(({ name }) => name === dailyName(now))
  return good.every(({ kind, at }) => kind !== 'hourly' || now - at >= HOUR_MS)
}

/** Too many of their kind, or so old that people erased since must not be in them any more. */
export function surplusBackups(files: BackupFile[], plan: BackupPlan | undefined, now: number): BackupFile[] {
  const ageMaxMs = plan ? Math.max(plan.hourly * HOUR_MS, plan.daily * DAY_MS) : AGE_MAX_DEFAULT_MS
  const kept = (kind: 'hourly' | 'daily') => {
    const own = files.filter(file => file.kind === kind)
    return own.slice(Math.max(0, own.length - (plan?.[kind] ?? own.length)))
  }
  const newest = new Set([...kept('hourly'), ...kept('daily')])
  return files.filter(file => {
    const isScheduled = file.kind === 'hourly' || file.kind === 'daily'
    return (isScheduled && !newest.has(file)) || now - file.at > ageMaxMs
  })
}
