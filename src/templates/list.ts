import type { Deps } from './deps.ts'
import { askedBy } from './minimise.ts'
import { type KnownTemplate, readTemplates } from './read.ts'
import { effectiveRules } from './rules.ts'
import type { Template } from './schema.ts'

/** Built-in templates first, then the tenant's own; `allowed` are the keys of a device. */
export async function listTemplates(
  deps: Pick<Deps, 'db'>,
  tenantId: string,
  allowed?: readonly string[],
): Promise<{ data: Template[] }> {
  const known = await readTemplates(deps, tenantId)
  return { data: known.filter(({ key }) => allowed?.includes(key) ?? true).map(present) }
}

function present({ key, title, isBuiltin, query, rules }: KnownTemplate): Template {
  const asked = askedBy(query)
  return {
    key,
    title: title.en,
    builtin: isBuiltin,
    documents: [...new Set(asked.flatMap(({ types }) => types))],
    claims: [...new Set(asked.flatMap(({ claims }) => claims))],
    rules: [...effectiveRules(query, rules)],
  }
}
