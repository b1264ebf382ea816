// The folder of backups: the meaning of its file names, and the note that the last failure leaves.
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The number of backups that are kept of each kind. */
export type BackupPlan = { hourly: number; daily: number }

type BackupKind = 'hourly' | 'daily' | 'before' | 'replaced'
export type BackupFile = { name: string; kind: BackupKind; at: number }

/** Oldest first. Files with other names are not ours. */
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

/** Scheduled backups. They get their name only after they were checked. */
export const goodBackups = (files: BackupFile[], now: number): BackupFile[] =>
  files.filter(({ kind, at }) => (kind === 'hourly' || kind === 'daily') && at <= now)

const failureFile = (folder: string): string => join(folder, 'last-failure.json')

/** Kept for commands, which cannot read the log of the service. */
export function keepFailure(folder: string, at: number, failure: string): void {
  try {
    writeFileSync(failureFile(folder), JSON.stringify({ at, failure }), { mode: 0o600 })
  } catch {
    // A full disk may be the reason. The log has the failure, and doctor sees the age of the newest backup.
  }
}

export const forgetFailure = (folder: string): void => rmSync(failureFile(folder), { force: true })

export function lastFailure(folder: string): { at: number; failure: string } | undefined {
  try {
    const { at, failure } = JSON.parse(readFileSync(failureFile(folder), 'utf8'))
    return { at: Number(at), failure: String(failure) }
  } catch {
    // The file is missing, or a full disk cut it short. Doctor still sees the age of the newest backup.
    return undefined
  }
}
