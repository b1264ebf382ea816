import type { Random } from '../base/ids.ts'
import type { Log } from '../base/log.ts'
import type { Clock } from '../base/time.ts'
import type { Db, Write } from '../db/engine.ts'
import { StartRefusal } from '../db/refusal.ts'
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

/** Called at start. Refuses when a needed key is missing, or when the first one cannot be made. */
export async function ensureWrappingKey(deps: KeyDeps): Promise<void> {
  const { config, db, sessionKeys } = deps
  await refuseMissingKeys(config.keyDir, sessionKeys, db)
  if (currentOf(await sessionKeys.look(db))) return
  try {
    // Settings are written one at a time by all processes: of several first starts at once, one makes the key.
    await deps.writeSettings(async tx => {
      const rows = await listWrappingKeys(tx)
      if (currentOf(rows)) return
      const made = makeKey(deps, rows)
      await insertWrappingKey(tx, { ...made, activeAt: made.createdAt })
    })
  } catch (error) {
    const { code } = error as { code?: unknown }
    if (typeof code !== 'string' || !/^(E[A-Z]+|ERR_FS_\w+)$/.test(code)) throw error
    throw new StartRefusal(
      'directory_unusable',
      `cannot make a wrapping key in ${config.keyDir} (${code}); let the service write there, or set VIDIMUS_KEY_DIR`,
      error,
    )
  }
  await sessionKeys.look(db)
}

/** The file is durable before any row names it. Numbers are never used twice, not even after a restore. */
export function makeKey({ config, now, random, sessionKeys }: KeyDeps, rows: readonly WrappingKeyRow[]): WrappingKeyRow {
  const { keyDir } = config
  const id = Math.max(0, ...listFiles(keyDir), ...rows.map(row => row.id)) + 1
  const createdAt = now()
  writeKeyFile(keyDir, { id, installation: sessionKeys.names.at(-1)!, createdAt, random })
  const fingerprint = sessionKeys.fingerprintOf(id)
  if (!fingerprint) throw new Error('a key that was just written cannot be read')
  return { id, fingerprint, createdAt, activeAt: null, unreadableAt: null, retiredAt: null }
}
