import { existsSync, readFileSync } from 'node:fs'
import type { Reporting } from '../ground.ts'

/** Enough for ten thousand waiting phones, the tills and the database: each connection is a file. */
export const OPEN_FILES_MIN = 16_384

const LIMITS = '/proc/self/limits'

/** Undefined where the system does not say. */
export function openFilesLimit(): number | undefined {
  // Missing on other systems, and where a sandbox hides it.
  if (!existsSync(LIMITS)) return undefined
  const [, soft] = /^Max open files\s+(\d+|unlimited)/m.exec(readFileSync(LIMITS, 'utf8')) ?? []
  if (soft === undefined) return undefined
  return soft === 'unlimited' ? Number.POSITIVE_INFINITY : Number(soft)
}

export function warnOfFewFiles({ log }: Reporting): void {
  const limit = openFilesLimit()
  if (limit !== undefined && limit < OPEN_FILES_MIN)
    log.warn('files.limit_low', { count: limit, detail: `open files allowed; allow ${OPEN_FILES_MIN} with "ulimit -n"` })
}
