import { equalConstantTime } from '../base/hash.ts'
import type { Peeking, Remembering } from '../ground.ts'
import { isScope, type Scope } from './scopes.ts'
import { findKeyByHash, type KeyCredentials } from './store.ts'

const KEYS_MAX = 1000

/** Its JSON columns are parsed once, when it is read. */
type KnownKey = Omit<KeyCredentials, 'scopes' | 'app_schemes'> & {
  scopes: readonly Scope[]
  appSchemes: readonly string[]
}

export type KnownKeys = { find(hash: string): Promise<KnownKey | undefined> }

/** Caches keys until a setting changes: a revocation applies from the next request on. */
export function rememberKeys({ warm, settingsVersion }: Remembering & Peeking): KnownKeys {
  let known = new Map<string, KnownKey>()
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
      const key = parsed(found)
      if (current.size < KEYS_MAX) current.set(hash, key)
      return key
    },
  }
}

const parsed = ({ scopes, app_schemes, ...key }: KeyCredentials): KnownKey => ({
  ...key,
  scopes: (JSON.parse(scopes) as string[]).filter(isScope),
  appSchemes: app_schemes === null ? [] : (JSON.parse(app_schemes) as string[]),
})
