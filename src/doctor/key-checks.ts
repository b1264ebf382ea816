import { existsSync } from 'node:fs'
import { notSetUp, ok, problem, secondOf, warning } from '../db/check.ts'
import { fileOf, isClosedFile, isOpenFile } from '../session-keys/files.ts'
import { currentOf, neededOf } from '../session-keys/keys.ts'
import { readProgress } from '../upkeep/seal-again.ts'
import type { Scene } from './scene.ts'

const DAY_MS = 86_400_000
/** The key turns daily; a run that was missed is made up for within hours. */
const AGE_MAX_MS = 2 * DAY_MS

type Rows = Parameters<typeof neededOf>[0]

/** The file of a wrapping key that is needed, and missing or wrong. */
export function missingKeyFile({ config, sessionKeys }: Scene['deps'], rows: Rows): string | undefined {
  const isMissing = (row: Rows[number]) => !existsSync(fileOf(config.keyDir, row.id)) || !sessionKeys.isReadable(row)
  const missing = neededOf(rows).find(isMissing)
  return missing && fileOf(config.keyDir, missing.id)
}

/** Says which promise holds for what is erased. */
export async function checkWrappingKeys({ deps }: Scene) {
  const { config, db, sessionKeys, now } = deps
  const { keyDir, keyWindowDays } = config
  const rows = await sessionKeys.look(db)
  const current = currentOf(rows)
  const file = missingKeyFile(deps, rows)
  if (file !== undefined)
    return isClosedFile(file) ? problem('wrapping_key_closed', { file }) : problem('wrapping_key_missing', { file })
  const open = neededOf(rows)
    .map(({ id }) => fileOf(keyDir, id))
    .find(isOpenFile)
  if (open !== undefined) return problem('wrapping_key_readable', { file: open })
  if (!current?.activeAt) return notSetUp('no_wrapping_key')
  const unsealed = await readProgress(deps)
  if (unsealed && unsealed.total > 0) return warning('sealing_again', { count: unsealed.count, total: unsealed.total })
  const ageMs = now() - current.activeAt
  if (rows.some(({ activeAt, unreadableAt }) => activeAt === null && unreadableAt !== null))
    return warning('wrapping_key_unshared', { keyDir })
  if (ageMs > AGE_MAX_MS) return warning('wrapping_key_old', { days: Math.floor(ageMs / DAY_MS), keyDir })
  return ok('wrapping_key_good', { since: secondOf(current.activeAt), days: keyWindowDays + 1 })
}
