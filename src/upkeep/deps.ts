import type { Audited } from '../audit/deps.ts'
import type { Ground } from '../ground.ts'
import type { Erasures } from '../verifications/erasure/erasures.ts'

export type Deps = Ground & Audited & { erasures: Erasures }
