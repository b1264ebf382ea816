import type { Deps as AccessDeps } from '../access/deps.ts'
import type { RequestIdentities } from '../signing/keys.ts'
import type { Versions } from '../templates/resolve.ts'
import type { FirstTimes } from '../tenants/first-times.ts'
import type { Attempts } from '../webhooks/attempts.ts'
import type { Changes } from './changes.ts'
import type { Creations } from './creations.ts'
import type { Erasures } from './erasures.ts'

export type Deps = AccessDeps & {
  versions: Versions
  changes: Changes
  creations: Creations
  erasures: Erasures
  attempts: Attempts
  firstTimes: FirstTimes
  identity: RequestIdentities
}
