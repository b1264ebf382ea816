import type { Storage } from '#db'
import { equalConstantTime } from '../hash.ts'
import { findKeyByHash, type KeyCredentials } from './store.ts'

const KEYS_MAX = 1000

export type KnownKeys = { find(hash: string): Promise<KeyCredentials | undefined> }

/** Keys that were asked for, as long as no setting changes: a revocation holds from the next request on. Guesses are not kept. */
export function rememberKeys({ warm, settingsVersion }: Pick<Storage, 'warm' | 'settingsVersion'>): KnownKeys {
  let known = new Map<string, KeyCredentials>()
  let version: number | undefined
  return {
    async find(hash) {
      if (version !== settingsVersion()) known = new Map()
      version = settingsVersion()
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
