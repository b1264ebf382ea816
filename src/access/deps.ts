import type { Audited } from '../audit/deps.ts'
import type { Ground } from '../ground.ts'
import type { GuessBudgets } from '../guesses/budgets.ts'
import type { Networks } from '../guesses/networks.ts'
import type { KeyUses } from './key-uses.ts'
import type { KnownKeys } from './known-keys.ts'

export type Deps = Ground & Audited & Throttling & { keys: KnownKeys; keyUses: KeyUses }

/** Holds up those who guess. */
export type Throttling = { guesses: GuessBudgets; networks: Networks }
