import type { Engine } from '../db/engine.ts'
import { equalConstantTime } from '../hash.ts'
import { findKeyByHash, type KeyCredentials } from './store.ts'

const KEYS_MAX = 1000

export type KnownKeys = { find(hash: string): Promise<KeyCredentials | undefined> }

/** Caches keys until a setting changes: a revocation applies from the next request on. */
export function rememberKeys({ warm, settingsVersion }: Pick<Engine, 'warm' | 'settingsVersion'>): KnownKeys {
  let known = new Map<string, KeyCredentials>()
  let version: number | undefined
  return {
    async find(hash) {
      const asked = await settingsVersion()
      if (version !== asked) known = new Map()
      version = asked
      // The result belongs to the version it was read under.
      const current = known
      const kept = current.get(hash)
      if (kept) return kept
      const found = await findKeyByHash(warm(), hash)
      if (!found || !equalConstantTime(found.hash, hash)) return undefined
      if (current.size < KEYS_MAX) current.set(hash, found)
      return found
    },
  }
}
