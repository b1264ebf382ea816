import { existsSync } from 'node:fs'
import { type Found, ok, problem, secondOf, warning } from '../db/check.ts'
import { fileOf } from '../session-keys/files.ts'
import { currentOf, neededOf } from '../session-keys/keys.ts'
import { readProgress } from '../upkeep/seal-again.ts'
import type { Scene } from './scene.ts'

const DAY_MS = 86_400_000
/** The key turns daily; a run that was missed is made up for within hours. */
const AGE_MAX_MS = 2 * DAY_MS

/** Says which promise holds for what is erased. */
export async function checkWrappingKeys({ deps }: Scene): Promise<Found> {
  const { config, db, sessionKeys, now } = deps
  const { keyDir, keyWindowDays } = config
  const rows = await sessionKeys.look(db)
  const current = currentOf(rows)
  const missing = neededOf(rows).find(row => !existsSync(fileOf(keyDir, row.id)) || !sessionKeys.isReadable(row))
  if (missing)
    return problem(
      `${fileOf(keyDir, missing.id)} is missing or wrong: verifications cannot be read, and the next start will fail.`,
      'Put it back from your safe copy of the key directory.',
    )
  if (!current?.activeAt)
    return warning(
      `${keyDir} cannot be written, so verifications have no keys of their own: what is erased can be read from old copies with the master key.`,
      'Let the service write there, or set VIDIMUS_KEY_DIR, and start it again.',
    )
  const unsealed = await readProgress(deps)
  if (unsealed && unsealed.total > 0)
    return warning(
      `${unsealed.count} of ${unsealed.total} verifications are sealed under the newest keys; for the others old keys still count.`,
      'Let the service run: it continues by itself.',
    )
  const ageMs = now() - current.activeAt
  const sentence = 'What is erased can be read from old copies, with the keys, until it turns.'
  if (rows.some(({ activeAt, unreadableAt }) => activeAt === null && unreadableAt !== null))
    return warning(
      `The wrapping key does not turn, because not every node can read ${keyDir}. ${sentence}`,
      'Let all nodes share this directory, on any network volume.',
    )
  if (ageMs > AGE_MAX_MS)
    return warning(
      `The wrapping key has not turned for ${Math.floor(ageMs / DAY_MS)} days. ${sentence}`,
      `Let the service write to ${keyDir}; see keys.not_turned in the log.`,
    )
  return ok(
    `The wrapping key is in use since ${secondOf(current.activeAt)}. What is erased cannot be read from any copy after ${keyWindowDays + 1} days.`,
  )
}
