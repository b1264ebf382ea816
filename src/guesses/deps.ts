import type { Audited } from '../audit/deps.ts'
import type { Ground } from '../ground.ts'
import type { GuessBudgets } from './budgets.ts'
import type { Networks } from './networks.ts'

export type Deps = Ground & Audited & Throttling

/** Holds up those who guess. */
export type Throttling = { guesses: GuessBudgets; networks: Networks }
