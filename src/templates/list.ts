import type { Reading } from '../ground.ts'
import { presentTemplate } from './present.ts'
import { type KnownTemplate, readTemplates, withAliases } from './read.ts'
import type { Template } from './schema.ts'

/** Built-in templates first, then the tenant's own; `allowed` are the names that a device may use. */
export async function listTemplates(deps: Reading, tenantId: string, allowed?: readonly string[]): Promise<{ data: Template[] }> {
  const known = await readTemplates(deps, tenantId)
  const listed = allowed ? withAliases(known).filter(({ key }) => allowed.includes(key)) : known
  return { data: listed.map(forCallers) }
}

function forCallers(template: KnownTemplate): Template {
  const { key, title, builtin, formats, documents, claims, rules } = presentTemplate(template)
  return { key, title, builtin, formats, documents, claims, rules }
}
