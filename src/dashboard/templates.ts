import { apiError } from '../http/errors.ts'
import { type DcqlQuery, findQueryProblem } from '../openid4vp/dcql.ts'
import type { Rule } from '../openid4vp/rules.ts'
import { actorOf, requireFresh, type Visit } from '../people/session.ts'
import { BUILTIN_TEMPLATES } from '../templates/builtin.ts'
import { askedBy, hintsFor } from '../templates/minimise.ts'
import { presentTemplate } from '../templates/present.ts'
import { readTemplates } from '../templates/read.ts'
import { effectiveRules, findRulesProblem } from '../templates/rules.ts'
import { removeTemplate, saveTemplate } from '../templates/save.ts'
import type { Deps } from './deps.ts'
import type { CheckTemplate, SaveTemplate, Template, TemplateCheck } from './settings-schema.ts'

export async function readTenantTemplates(deps: Deps, tenantId: string): Promise<{ data: Template[] }> {
  return { data: (await readTemplates(deps, tenantId)).map(presentTemplate) }
}

/** Checked while it is typed: whether it is valid, and where it could ask for less. */
export function checkTemplate({ query, rules }: CheckTemplate): TemplateCheck {
  const problem = findQueryProblem(query)
  if (problem) return { problem, rules_problem: null, effective_rules: [], asks: [], hints: [] }
  const asked = query as DcqlQuery
  const rulesProblem = findRulesProblem(rules, asked)
  return {
    problem: null,
    rules_problem: rulesProblem ?? null,
    effective_rules: rulesProblem ? [] : [...effectiveRules(asked, (rules ?? null) as Rule[] | null)],
    asks: askedBy(asked),
    hints: hintsFor(asked),
  }
}

type Which = { tenantId: string; key: string }

/** Under any profile but HAIP the wallet's answer is not encrypted: that needs a fresh authentication. */
export async function saveTenantTemplate(
  deps: Deps,
  visit: Visit,
  { tenantId, key }: Which,
  { title, query, rules, purpose, profile }: SaveTemplate,
): Promise<Template> {
  if (BUILTIN_TEMPLATES.has(key)) throw apiError('builtin_template')
  if ((profile ?? 'haip') !== 'haip') requireFresh(visit, deps.now())
  const problem = findQueryProblem(query)
  if (problem) throw apiError('invalid_request', { message: `query${problem.path ? `.${problem.path}` : ''}: ${problem.reason}` })
  const asked = query as unknown as DcqlQuery
  const rulesProblem = findRulesProblem(rules, asked)
  if (rulesProblem) throw apiError('invalid_request', { message: `rules${rulesProblem.path}: ${rulesProblem.reason}` })
  const draft = {
    tenantId,
    key,
    title,
    query: asked,
    profile: profile ?? undefined,
    rules: (rules ?? undefined) as Rule[] | undefined,
    purpose: purpose ?? undefined,
  }
  await saveTemplate(deps, draft, actorOf(visit.user))
  const saved = (await readTemplates(deps, tenantId)).find(each => each.key === key)
  if (!saved) throw apiError('template_not_found')
  return presentTemplate(saved)
}

export async function removeTenantTemplate(deps: Deps, { tenantId, key }: Which, actor: string): Promise<void> {
  if (BUILTIN_TEMPLATES.has(key)) throw apiError('builtin_template')
  if (!(await removeTemplate(deps, tenantId, key, actor))) throw apiError('template_not_found')
}
