import type { Deps as VerificationDeps } from '../deps.ts'
import type { Creations } from './creations.ts'

export type Deps = VerificationDeps & { creations: Creations }
