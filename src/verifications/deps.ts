import type { Deps as AccessDeps } from '../access/deps.ts'
import type { RequestIdentities } from '../signing/keys.ts'
import type { Versions } from '../templates/resolve.ts'
import type { FirstTimes } from '../tenants/first-times.ts'
import type { Attempts } from '../webhooks/attempts.ts'
import type { Changes } from './changes.ts'

export type Deps = AccessDeps &
  Resolving &
  Watching & {
    attempts: Attempts
    firstTimes: FirstTimes
    identity: RequestIdentities
  }

/** Finds out what a version of a template asks. */
export type Resolving = { versions: Versions }
/** Hears of changes of sessions. */
export type Watching = { changes: Changes }
