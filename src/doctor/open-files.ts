import { existsSync, readFileSync } from 'node:fs'
import type { Deps } from './deps.ts'

/** Ten thousand phones that wait, the tills, the database, and room to spare (each connection is a file). */
export const OPEN_FILES_MIN = 16_384

const LIMITS = '/proc/self/limits'

/** How many files this process may have open; undefined where the system does not say. */
export function openFilesLimit(): number | undefined {
  // Neither on other systems, nor where a sandbox hides it.
  if (!existsSync(LIMITS)) return undefined
  const [, soft] = /^Max open files\s+(\d+|unlimited)/m.exec(readFileSync(LIMITS, 'utf8')) ?? []
  if (soft === undefined) return undefined
  return soft === 'unlimited' ? Number.POSITIVE_INFINITY : Number(soft)
}

/** For the log, at the start. */
export function warnOfFewFiles({ log }: Pick<Deps, 'log'>): void {
  const limit = openFilesLimit()
  if (limit !== undefined && limit < OPEN_FILES_MIN)
    log.warn('files.limit_low', { count: limit, detail: `files may be open at once; allow ${OPEN_FILES_MIN} with "ulimit -n"` })
}
