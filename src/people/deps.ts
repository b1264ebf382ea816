import type { Deps as AccessDeps } from '../access/deps.ts'

export type Deps = AccessDeps
