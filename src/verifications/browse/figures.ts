import type { Db } from '../../db/engine.ts'
import { countVerifications } from '../store.ts'

/** Sessions of all tenants and both environments. */
export async function countAll(db: Db): Promise<number> {
  return await countVerifications(db)
}
