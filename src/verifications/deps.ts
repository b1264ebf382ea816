import type { Deps as AccessDeps } from '../access/deps.ts'
import type { RequestIdentity } from '../signing/keys.ts'
import type { Outbox } from '../webhooks/outbox.ts'
import type { Changes } from './changes.ts'
import type { Erasures } from './erasures.ts'
import type { Portraits } from './portraits.ts'

export type Deps = AccessDeps & {
  changes: Changes
  portraits: Portraits
  erasures: Erasures
  outbox: Outbox
  identity: () => Promise<RequestIdentity>
}
