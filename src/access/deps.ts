import type { Deps as GuessDeps } from '../guesses/deps.ts'
import type { KeyUses } from './key-uses.ts'
import type { KnownKeys } from './known-keys.ts'

export type Deps = GuessDeps & { keys: KnownKeys; keyUses: KeyUses }
