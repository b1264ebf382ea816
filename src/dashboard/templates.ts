import type { Deps } from '../deps.ts'
import { apiError } from '../http/errors.ts'
import { type DcqlQuery, findQueryProblem } from '../openid4vp/dcql.ts'
import { BUILTIN_TEMPLATES } from '../templates/builtin.ts'
import { askedBy, hintsFor } from '../templates/minimise.ts'
import { type KnownTemplate, readTemplates } from '../templates/read.ts'
import { removeTemplate, saveTemplate } from '../templates/save.ts'
import { isoUtc } from '../time.ts'
import type { SaveTemplate, Template, TemplateCheck } from './settings-schema.ts'

export async function readTenantTemplates(deps: Deps, tenantId: string): Promise<{ data: Template[] }> {
  return { data: (await readTemplates(deps, tenantId)).map(present) }
}

/** While somebody types: whether wallets could be asked with it, and where less would do. */
export function checkTemplate(query: unknown): TemplateCheck {
  const problem = findQueryProblem(query)
  if (problem) return { problem, asks: [], hints: [] }
  return { problem: null, asks: askedBy(query as DcqlQuery), hints: hintsFor(query as DcqlQuery) }
}

type Which = { tenantId: string; key: string }

export async function saveTenantTemplate(
  deps: Deps,
  { tenantId, key }: Which,
  { title, query, profile }: SaveTemplate,
  actor: string,
): Promise<Template> {
  if (BUILTIN_TEMPLATES.has(key)) throw apiError('builtin_template')
  if (/\p{Cc}/u.test(key + title)) throw apiError('invalid_request', { message: 'key and title: without control characters' })
  const problem = findQueryProblem(query)
  if (problem) throw apiError('invalid_request', { message: `query${problem.path ? `.${problem.path}` : ''}: ${problem.reason}` })
  const asked = query as unknown as DcqlQuery
  await saveTemplate(deps, { tenantId, key, title, query: asked, profile: profile ?? undefined }, actor)
  const saved = (await readTemplates(deps, tenantId)).find(each => each.key === key)
  if (!saved) throw apiError('template_not_found')
  return present(saved)
}

export async function removeTenantTemplate(deps: Deps, { tenantId, key }: Which, actor: string): Promise<void> {
  if (BUILTIN_TEMPLATES.has(key)) throw apiError('builtin_template')
  if (!(await removeTemplate(deps, tenantId, key, actor))) throw apiError('template_not_found')
}

const present = ({ key, isBuiltin, title, purpose, profile, query, ageOver, updatedAt }: KnownTemplate): Template => ({
  key,
  is_builtin: isBuiltin,
  title,
  purpose,
  profile,
  query: { ...query },
  asks: askedBy(query),
  hints: hintsFor(query),
  age_over: ageOver,
  updated_at: updatedAt === null ? null : isoUtc(updatedAt),
})
