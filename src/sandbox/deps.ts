import type { Deps as AccessDeps } from '../access/deps.ts'
import type { Sandbox } from './world.ts'

export type Deps = AccessDeps & { sandbox: () => Promise<Sandbox> }
