import type { Deps as VerificationDeps } from '../deps.ts'
import type { Erasures } from './erasures.ts'

export type Deps = VerificationDeps & { erasures: Erasures }
