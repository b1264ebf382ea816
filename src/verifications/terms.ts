// Metadata values, stored as keyed hashes, so that a merchant finds a session by its order number.
// The database alone reveals neither the values nor which tenants use the same ones.

import { hmacSha256With } from '../base/hash.ts'
import { layersOf } from '../base/seal.ts'
import type { Unsealing } from '../ground.ts'
import type { CreateVerification } from './schema.ts'
import type { VerificationRow } from './store.ts'
import { TERM_BYTES } from './term-store.ts'

type Place = { tenantId: string; environment: VerificationRow['environment'] }

export type TermOf = (place: Place, value: string) => Buffer

/** The values have no space around them. */
export const createTerms = ({ sealer }: Unsealing): TermOf => termsUnder(layersOf(sealer.key('metadata term')).at(-1)!)

/** More than one while terms are written again under the newest key. */
export const termsToFind = ({ sealer }: Unsealing, place: Place, value: string): Buffer[] =>
  layersOf(sealer.key('metadata term')).map(key => termsUnder(key)(place, value))

function termsUnder(key: Buffer): TermOf {
  const mac = hmacSha256With(key)
  return ({ tenantId, environment }, value) => mac(JSON.stringify([tenantId, environment, value])).subarray(0, TERM_BYTES)
}

/**
 * The terms of a session, one after the other and each once; null when it has none. Values are found
 * whole, as they were given, without space around them.
 */
export function termsOf(termOf: TermOf, place: Place, metadata: CreateVerification['metadata'] = {}): Buffer | null {
  const values = new Set(Object.values(metadata).map(value => value.trim()))
  values.delete('')
  return values.size > 0 ? Buffer.concat([...values].map(value => termOf(place, value))) : null
}
