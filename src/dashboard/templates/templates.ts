import { isoUtc } from '../../base/time.ts'
import { readDevices } from '../../devices/read.ts'
import type { Reading } from '../../ground.ts'
import { apiError } from '../../http/errors.ts'
import { type DcqlQuery, findQueryProblem } from '../../openid4vp/dcql/dcql.ts'
import type { Profile } from '../../openid4vp/exchange/request-object.ts'
import type { Rule } from '../../openid4vp/rules.ts'
import { actorOf, requireFresh, type Visit } from '../../people/session.ts'
import { buildQuery, readChoice } from '../../templates/build.ts'
import { claimsOf, DOCUMENTS, FORMS, formatsOfDocument, hasAges } from '../../templates/catalogue.ts'
import { namesOf } from '../../templates/forms.ts'
import { askedBy, hintsFor } from '../../templates/minimise.ts'
import { presentTemplate } from '../../templates/present.ts'
import { readTemplates } from '../../templates/read.ts'
import { effectiveRules, findRulesProblem } from '../../templates/rules.ts'
import { changedParts, type Part, removeTemplate, saveTemplate } from '../../templates/save.ts'
import type { Owner } from '../../tenants/settings.ts'
import { readLatestUse } from '../../verifications/template-use.ts'
import type { Deps } from '../deps.ts'
import type {
  BuiltQuery,
  Catalogue,
  CheckTemplate,
  Choice,
  SaveTemplate,
  Template,
  TemplateCheck,
  TemplateUse,
} from './schema.ts'

export async function readTenantTemplates(deps: Deps, tenantId: string): Promise<{ data: Template[] }> {
  return { data: (await readTemplates(deps, tenantId)).map(presentTemplate) }
}

/** Checked while it is typed: whether it is valid, and where it could ask for less. */
export function checkTemplate({ query, rules }: CheckTemplate): TemplateCheck {
  const problem = findQueryProblem(query)
  if (problem) return { problem, rules_problem: null, effective_rules: [], asks: [], hints: [], choice: null }
  const asked = query as DcqlQuery
  const rulesProblem = findRulesProblem(rules, asked)
  return {
    problem: null,
    rules_problem: rulesProblem ?? null,
    effective_rules: rulesProblem ? [] : [...effectiveRules(asked, (rules ?? null) as Rule[] | null)],
    asks: askedBy(asked),
    hints: hintsFor(asked),
    choice: readChoice(asked) ?? null,
  }
}

export const readCatalogue = (): Catalogue => ({
  documents: DOCUMENTS.map(key => ({
    key,
    types: [...new Set(FORMS.filter(({ document }) => document === key).flatMap(({ types }) => types([])))],
    claims: claimsOf(key),
    ages: hasAges(key),
    formats: formatsOfDocument(key),
  })),
})

export function buildTemplate(choice: Choice): BuiltQuery {
  const { query, leftOut } = buildQuery(choice)
  return { query: query && { ...query }, left_out: leftOut }
}

/** They change no verdict. */
const FREE: readonly Part[] = ['title', 'purpose', 'translations']

type Which = { tenantId: string; key: string }

export async function saveTenantTemplate(
  deps: Deps,
  visit: Visit,
  { tenantId, key }: Which,
  { title, query, rules, purpose, translations, profile, seen_at }: SaveTemplate,
): Promise<Template> {
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
    translations: translations ?? undefined,
    seenAt: typeof seen_at === 'string' ? Date.parse(seen_at) : seen_at,
  }
  await saveTemplate(deps, draft, actorOf(visit.user), async (db, before) => {
    const isJudgedAnew = changedParts(before, draft).some(part => !FREE.includes(part))
    const liveSince = before?.liveSince ?? null
    if (isJudgedAnew) await requireFreshFor({ ...deps, db }, visit, { tenantId, key, liveSince, profile: draft.profile })
  })
  const saved = (await readTemplates(deps, tenantId)).find(each => each.key === key)
  if (!saved) throw apiError('template_not_found')
  return presentTemplate(saved)
}

const ENVIRONMENTS = ['test', 'live'] as const

/** Under any name of the template. Revoked devices do not count. */
export async function readTemplateUse(deps: Reading, { tenantId, key }: Which): Promise<TemplateUse> {
  const names = namesOf(key)
  const owners = ENVIRONMENTS.map(environment => ({ tenantId, environment }))
  const devices = await Promise.all(owners.map(async owner => ({ ...owner, all: await readDevices(deps, owner) })))
  const [test, live] = await Promise.all(owners.map(owner => readLatestUse(deps, owner, names)))
  return {
    devices: devices.flatMap(({ environment, all }) =>
      all
        .filter(({ status, allowed_templates }) => status !== 'revoked' && allowed_templates.some(each => names.includes(each)))
        .map(({ id, name }) => ({ id, name, environment })),
    ),
    last_used_at: { test: test === undefined ? null : isoUtc(test), live: live === undefined ? null : isoUtc(live) },
  }
}

type Changed = Which & { liveSince: number | null; profile?: Profile }

/**
 * What live verifications or tills used counts like a live setting, and what those of Test used like one of Test. Without
 * encryption (another profile than HAIP) a template counts like one of Test before its first use.
 */
async function requireFreshFor(deps: Reading, visit: Visit, changed: Changed): Promise<void> {
  const { liveSince, profile } = changed
  const { devices, last_used_at } = await readTemplateUse(deps, changed)
  const isUsedIn = (environment: Owner['environment']) =>
    last_used_at[environment] !== null || devices.some(device => device.environment === environment)
  if (liveSince !== null || isUsedIn('live')) requireFresh(visit, deps.now(), 'live')
  else if (isUsedIn('test') || (profile ?? 'haip') !== 'haip') requireFresh(visit, deps.now(), 'test')
}

export async function removeTenantTemplate(deps: Deps, visit: Visit, { tenantId, key }: Which): Promise<void> {
  const isRemoved = await removeTemplate(deps, { tenantId, key }, actorOf(visit.user), (db, before) =>
    requireFreshFor({ ...deps, db }, visit, { tenantId, key, liveSince: before?.liveSince ?? null }),
  )
  if (!isRemoved) throw apiError('template_not_found')
}
