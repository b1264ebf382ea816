import type { Ground } from '../ground.ts'
import type { Audit } from './append.ts'

export type Deps = Ground & { audit: Audit }
