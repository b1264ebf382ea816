import type { Deps } from './deps.ts'
import { eraseBatch } from './retain.ts'
import { countTest, listTest } from './store.ts'

const BATCH_MAX = 50

/** Erases some of a tenant's test sessions, each as a whole and with its audit record. Called until none remains. */
export async function emptyTest(deps: Deps, tenantId: string, actor: string): Promise<{ erased: number; remaining: number }> {
  const erased = await eraseBatch(deps, await listTest(deps.db, tenantId, BATCH_MAX), actor)
  return { erased, remaining: await countTest(deps.db, tenantId) }
}
