// The folder of backups: how its files are named, and which are kept.
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BackupFile } from '../db/sqlite/backup-list.ts'
import { stampOf } from '../db/sqlite/files.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** For copies that no schedule makes, when there is none: those from before an upgrade, and databases that were replaced. */
const AGE_MAX_DEFAULT_MS = 14 * DAY_MS

/** How many are kept of each kind. */
export type BackupPlan = { hourly: number; daily: number }

export const hourlyName = (at: number): string => `hourly-${stampOf(at)}.db`
export const dailyName = (at: number): string => `daily-${stampOf(at).slice(0, 8)}.db`

/** Scheduled ones that were found good; they get their name only then. */
export const goodBackups = (files: BackupFile[], now: number): BackupFile[] =>
  files.filter(({ kind, at }) => (kind === 'hourly' || kind === 'daily') && at <= now)

const failureFile = (folder: string): string => join(folder, 'last-failure.json')

/** For whoever asks later, and for commands: the log of the service is not theirs to read. */
export function keepFailure(folder: string, at: number, failure: string): void {
  try {
    writeFileSync(failureFile(folder), JSON.stringify({ at, failure }), { mode: 0o600 })
  } catch {
    // A full disk may be why it failed: then the log has it, and the age of the newest backup tells.
  }
}

export const forgetFailure = (folder: string): void => rmSync(failureFile(folder), { force: true })

export function lastFailure(folder: string): { at: number; failure: string } | undefined {
  try {
    const { at, failure } = JSON.parse(readFileSync(failureFile(folder), 'utf8'))
    return { at: Number(at), failure: String(failure) }
  } catch {
    // There is none, or a full disk left half of it: then the age of the newest backup tells.
    return undefined
  }
}

export function isDue(files: BackupFile[], plan: BackupPlan, now: number): boolean {
  const good = goodBackups(files, now)
  if (plan.hourly === 0) return plan.daily > 0 && !files.some(({ name }) => name === dailyName(now))
  return good.every(({ kind, at }) => kind !== 'hourly' || now - at >= HOUR_MS)
}

/** Too many of their kind, or so old that whoever was erased since must not be in them any more. */
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
