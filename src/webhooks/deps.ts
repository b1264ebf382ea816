import type { Audit } from '../audit/append.ts'
import type { Ground } from '../ground.ts'
import type { Attempts } from './attempts.ts'

export type Deps = Ground & { audit: Audit; attempts: Attempts }
