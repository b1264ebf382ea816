import type { Deps as CreateDeps } from '../verifications/create/deps.ts'
import type { TokenSigners } from './keys.ts'

export type Deps = CreateDeps & { tokenSigners: TokenSigners }
