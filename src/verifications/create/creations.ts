import type { Ground } from '../../ground.ts'
import { createTerms, type Terms } from '../terms.ts'
import { createIdempotency, type Idempotency } from './idempotency.ts'

/** State that the creations of one process share. */
export type Creations = {
  idempotency: Idempotency
  /** Versions of templates that are known to be stored. */
  keptVersions: Set<string>
  terms: Terms
}

export const shareCreations = (ground: Ground): Creations => ({
  idempotency: createIdempotency(ground),
  keptVersions: new Set(),
  terms: createTerms(ground),
})
