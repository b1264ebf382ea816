import type { Reading } from '../ground.ts'
import { type KnownTemplate, readTemplates, withAliases } from '../templates/read.ts'
import type { Owner } from '../tenants/settings.ts'
import { listTemplatesInUse } from './store.ts'
import { findLatestUse } from './template-store.ts'

/** When a template was last used under one of its names, by a verification that still exists. */
export async function readLatestUse({ db }: Reading, owner: Owner, names: readonly string[]): Promise<number | undefined> {
  const latest = await Promise.all(names.map(name => findLatestUse(db, owner, name)))
  const known = latest.filter(at => at !== undefined)
  return known.length > 0 ? Math.max(...known) : undefined
}

/** A tenant's own templates, and the built-in ones that it used lately in live, under the names that it used. */
export async function readUsedTemplates(deps: Reading, tenantId: string): Promise<KnownTemplate[]> {
  const inUse = new Set(await listTemplatesInUse(deps.db, tenantId))
  return withAliases(await readTemplates(deps, tenantId)).filter(({ key, isBuiltin }) => !isBuiltin || inUse.has(key))
}
