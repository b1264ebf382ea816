import type { Reading } from '../ground.ts'
import type { Owner } from '../tenants/settings.ts'
import { findLatestUse } from './template-store.ts'

/** When a template was last used, by a verification that still exists. */
export const readLatestUse = async ({ db }: Reading, owner: Owner, template: string): Promise<number | undefined> =>
  await findLatestUse(db, owner, template)
