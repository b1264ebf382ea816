// Metadata values, stored as keyed hashes, so that a merchant finds a session by its order number.
// Whoever has the database alone cannot tell the values, nor which tenants use the same ones.
import type { Db } from '../db/engine.ts'
import type { Ground } from '../ground.ts'
import { hmacSha256With } from '../hash.ts'
import { insertTerms } from './browse-store.ts'
import type { CreateVerification } from './schema.ts'
import type { VerificationRow } from './store.ts'

type Place = Pick<VerificationRow, 'tenantId' | 'environment'>

export type TermOf = (place: Place, value: string) => string

/** Values are found whole, as they were given, without space around them. */
export function createTerms({ sealer }: Pick<Ground, 'sealer'>): TermOf {
  const mac = hmacSha256With(sealer.key('metadata term'))
  return ({ tenantId, environment }, value) => mac(JSON.stringify([tenantId, environment, value.trim()])).toString('hex')
}

/** In the transaction of the creation, after the session. */
export async function keepTerms(
  termOf: TermOf,
  tx: Db,
  { id: verificationId, tenantId, environment, createdAt }: Pick<VerificationRow, 'id' | 'createdAt'> & Place,
  metadata: NonNullable<CreateVerification['metadata']>,
): Promise<void> {
  const values = Object.values(metadata).filter(value => value.trim() !== '')
  const terms = new Set(values.map(value => termOf({ tenantId, environment }, value)))
  await insertTerms(tx, { tenantId, environment, createdAt, verificationId }, [...terms])
}
