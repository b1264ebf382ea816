import type { Audited } from '../audit/deps.ts'
import type { Ground } from '../ground.ts'
import type { Attempts } from './attempts.ts'

export type Deps = Ground & Audited & { attempts: Attempts }
