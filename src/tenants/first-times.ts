import type { Db } from '../db/engine.ts'
import { type Owner, recordFirst } from './store.ts'

/** The first completed session of each tenant and environment. It is recorded once; later ones cost nothing. */
export type FirstTimes = {
  /** Called inside the transaction that completes the session. */
  note(tx: Db, owner: Owner, at: number): Promise<void>
  /** Called after its commit. */
  remember(owner: Owner): void
}

export function createFirstTimes(): FirstTimes {
  const known = new Set<string>()
  const keyOf = ({ tenantId, environment }: Owner) => `${environment} ${tenantId}`
  return {
    async note(tx, owner, at) {
      if (!known.has(keyOf(owner))) await recordFirst(tx, owner, at)
    },
    remember: owner => void known.add(keyOf(owner)),
  }
}
