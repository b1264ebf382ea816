// The folder of backups: what the names of its files mean.
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

export type BackupKind = 'hourly' | 'daily' | 'before' | 'replaced'
export type BackupFile = { name: string; kind: BackupKind; at: number }

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
