import type { Audit } from '../audit/append.ts'
import type { Ground } from '../ground.ts'
import type { GuessBudgets } from './guess-budgets.ts'
import type { KeyUses } from './key-uses.ts'
import type { KnownKeys } from './known-keys.ts'
import type { Networks } from './networks.ts'

export type Deps = Ground & { audit: Audit; keys: KnownKeys; keyUses: KeyUses; networks: Networks; guesses: GuessBudgets }
