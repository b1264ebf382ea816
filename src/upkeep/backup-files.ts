// The folder of backups: what the names of its files mean, and which are kept.
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stampOf } from '../db/files.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** For copies that no schedule makes, when there is none: those from before an upgrade, and databases that were replaced. */
const AGE_MAX_DEFAULT_MS = 14 * DAY_MS

/** How many are kept of each kind. */
export type BackupPlan = { hourly: number; daily: number }

export type BackupKind = 'hourly' | 'daily' | 'before' | 'replaced'
export type BackupFile = { name: string; kind: BackupKind; at: number }

export const hourlyName = (at: number): string => `hourly-${stampOf(at)}.db`
export const dailyName = (at: number): string => `daily-${stampOf(at).slice(0, 8)}.db`

/** What is here and ours; oldest first. Files of any other name belong to somebody else. */
export function listBackups(folder: string): BackupFile[] {
  if (!existsSync(folder)) return []
  const files = readdirSync(folder).flatMap(name => {
    const kind = /^(hourly|daily|before|replaced)-[\w.]+\.db$/.exec(name)?.[1] as BackupKind | undefined
    const modified = statSync(join(folder, name), { throwIfNoEntry: false })
    return kind && modified ? [{ name, kind, at: timeIn(name) ?? Math.floor(modified.mtimeMs) }] : []
  })
  return files.sort((a, b) => a.at - b.at)
}

function timeIn(name: string): number | undefined {
  const [, year, month, day, hour = '00', minute = '00', second = '00'] =
    /-(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)Z)?\.db$/.exec(name) ?? []
  return year === undefined ? undefined : Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
}

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
