import type { Audit } from '../audit/append.ts'
import type { Ground } from '../ground.ts'
import type { Erasures } from '../verifications/erasures.ts'

export type Deps = Ground & { audit: Audit; erasures: Erasures }
