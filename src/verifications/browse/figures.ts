import type { Db } from '../../db/engine.ts'
import { countVerifications, listTemplatesInUse } from '../store.ts'

/** Keys of the templates that a tenant used lately in live. */
export async function readTemplatesInUse(db: Db, tenantId: string): Promise<string[]> {
  return await listTemplatesInUse(db, tenantId)
}

/** Sessions of all tenants and both environments. */
export async function countAll(db: Db): Promise<number> {
  return await countVerifications(db)
}
