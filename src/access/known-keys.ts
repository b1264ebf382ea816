import type { Engine } from '../db/engine.ts'
import { equalConstantTime } from '../hash.ts'
import { findKeyByHash, type KeyCredentials } from './store.ts'

const KEYS_MAX = 1000

export type KnownKeys = { find(hash: string): Promise<KeyCredentials | undefined> }

/** Keys that were asked for, as long as no setting changes: a revocation holds from the next request on. Guesses are not kept. */
export function rememberKeys({ warm, settingsVersion }: Pick<Engine, 'warm' | 'settingsVersion'>): KnownKeys {
  let known = new Map<string, KeyCredentials>()
  let version: number | undefined
  return {
    async find(hash) {
      const asked = await settingsVersion()
      if (version !== asked) known = new Map()
      version = asked
      // What is found belongs to the version it was read under.
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
