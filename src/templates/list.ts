import type { Reading } from '../ground.ts'
import { presentTemplate } from './present.ts'
import { type KnownTemplate, readTemplates } from './read.ts'
import type { Template } from './schema.ts'

/** Built-in templates first, then the tenant's own; `allowed` are the keys of a device. */
export async function listTemplates(deps: Reading, tenantId: string, allowed?: readonly string[]): Promise<{ data: Template[] }> {
  const known = await readTemplates(deps, tenantId)
  return { data: known.filter(({ key }) => allowed?.includes(key) ?? true).map(forCallers) }
}

function forCallers(template: KnownTemplate): Template {
  const { key, title, builtin, documents, claims, rules } = presentTemplate(template)
  return { key, title, builtin, documents, claims, rules }
}
