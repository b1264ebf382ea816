// Claims in memory, because one process serves a SQLite file: a claim ends with its process.
import { type Claims, inFlight, type KeyClaim, LEASE_MS } from './claims.ts'
import type { Deps } from './deps.ts'
import { findReplay, keepReplay } from './replay-store.ts'

type Held = { fingerprint: string; until: number }

export function claimsInMemory({ warm, now }: Pick<Deps, 'warm' | 'now'>): Claims {
  const claimed = new Map<string, Held>()

  return {
    async begin(key) {
      const { hash, fingerprint } = key
      const holder = claimed.get(hash)
      if (holder && holder.until > now()) throw inFlight(holder, fingerprint, now())
      const held = { fingerprint, until: now() + LEASE_MS }
      claimed.set(hash, held)
      const isOurs = () => claimed.get(hash) === held
      const release = async () => {
        if (isOurs()) claimed.delete(hash)
      }
      const keep: KeyClaim['keep'] = async (tx, answer) => isOurs() && (await keepReplay(tx, { ...key, ...answer }, now()))
      try {
        // A row found here is durable: until then its key is held above.
        const stored = await findReplay(warm(), hash, now())
        if (!stored) return { claim: { keep, release } }
        await release()
        return { stored }
      } catch (error) {
        await release()
        throw error
      }
    },
  }
}
