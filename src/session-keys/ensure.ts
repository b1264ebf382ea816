import type { Db, Write } from '../db/engine.ts'
import type { Random } from '../ids.ts'
import { describeFailure, type Log } from '../log.ts'
import type { Clock } from '../time.ts'
import { listFiles, writeKeyFile } from './files.ts'
import { currentOf, refuseMissingKeys, type SessionKeys } from './keys.ts'
import { insertWrappingKey, listWrappingKeys, type WrappingKeyRow } from './store.ts'

export type KeyDeps = {
  config: { keyDir: string; keyWindowDays: number }
  db: Db
  write: Write
  writeSettings: Write
  now: Clock
  random: Random
  log: Log
  sessionKeys: SessionKeys
}

/**
 * Called at start. Refuses when a needed key is missing, and makes the first one. A key directory
 * that cannot be written is no reason to refuse: verifications have no keys of their own then, and
 * doctor says so.
 */
export async function ensureWrappingKey(deps: KeyDeps): Promise<void> {
  const { config, db, sessionKeys, log } = deps
  await refuseMissingKeys(config.keyDir, sessionKeys, db)
  if (currentOf(await sessionKeys.look(db))) return
  try {
    // Settings are written one at a time on all nodes: of several first starts at once, one makes the key.
    await deps.writeSettings(async tx => {
      const rows = await listWrappingKeys(tx)
      if (currentOf(rows)) return
      const made = makeKey(deps, rows)
      await insertWrappingKey(tx, { ...made, activeAt: made.createdAt })
    })
  } catch (error) {
    log.warn('keys.not_made', { failure: describeFailure(error) })
  }
  await sessionKeys.look(db)
}

/** The file is durable before any row names it. Numbers are never used twice, not even after a restore. */
export function makeKey({ config, now, random, sessionKeys }: KeyDeps, rows: readonly WrappingKeyRow[]): WrappingKeyRow {
  const { keyDir } = config
  const id = Math.max(0, ...listFiles(keyDir), ...rows.map(row => row.id)) + 1
  const createdAt = now()
  writeKeyFile(keyDir, { id, installation: sessionKeys.installation, createdAt, random })
  const fingerprint = sessionKeys.fingerprintOf(id)
  if (!fingerprint) throw new Error('a key that was just written cannot be read')
  return { id, fingerprint, createdAt, activeAt: null, unreadableAt: null, retiredAt: null }
}
