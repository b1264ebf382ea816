import type { Audit } from '../audit/append.ts'
import type { Ground } from '../ground.ts'

export type Deps = Ground & { audit: Audit }
