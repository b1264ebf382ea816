// What an installation agrees on while it runs, and may forget when its database crashes: who works under a name, and how much
// is left of a budget.
import type { Budget, Level } from '../base/gcra.ts'
import type { Db } from './engine.ts'

/** Held by the one request that works under a name. */
export type Claim = {
  /** Called in the transaction of the work, with whose commit the claim ends. False when another request took the name over. */
  keep(tx: Db): boolean | Promise<boolean>
  /** Must be called however the request ends; `isKept` when its transaction was committed. */
  forget(isKept: boolean): Promise<void>
}

/** What the holder of a name said, and until when others wait for it. */
export type Held = { word: string; until: number }

export type ShortLived = {
  /** The name, for so long at most, or its holder. */
  claim(name: string, word: string, forMs: number): Promise<{ claim: Claim } | { held: Held }>
  /** Takes one from the budget, unless it is spent. */
  take(budget: Budget): Promise<Level>
  giveBack(budget: Budget): Promise<void>
  /** Forgets budgets that are full again, and claims whose time is over. */
  sweep(): Promise<void>
}
