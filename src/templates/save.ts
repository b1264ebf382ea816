import type { Setting } from '../audit/deps.ts'
import type { Db } from '../db/engine.ts'
import { apiError } from '../http/errors.ts'
import type { DcqlQuery } from '../openid4vp/dcql/dcql.ts'
import type { Profile } from '../openid4vp/exchange/request-object.ts'
import type { Rule } from '../openid4vp/rules.ts'
import type { Translations } from '../words/templates.ts'
import { isBuiltinName } from './forms.ts'
import { deleteTemplate, lockTemplate, type TemplateRow, upsertTemplate } from './store.ts'

export type TemplateDraft = {
  tenantId: string
  key: string
  title: string
  query: DcqlQuery
  profile?: Profile
  /** Undefined: the default. */
  rules?: Rule[]
  purpose?: string
  translations?: Translations
  /** The last change that its editor knows, null for none: with a later one nothing is saved. */
  seenAt?: number | null
}

const PARTS = ['title', 'query', 'rules', 'purpose', 'translations', 'profile'] as const
export type Part = (typeof PARTS)[number]

/** The parts in which a draft differs from what is saved; nothing is saved before a first one. */
export const changedParts = (before: TemplateRow | undefined, draft: TemplateDraft): Part[] =>
  PARTS.filter(part => !Bun.deepEquals(before?.[part] ?? null, draft[part] ?? null))

/** Throws when the act is not allowed on the template as it is saved; called in the transaction of the act. */
type Judge = (tx: Db, before: TemplateRow | undefined) => Promise<void>

const anyTime: Judge = async () => {}

export async function saveTemplate(deps: Setting, draft: TemplateDraft, actor: string, judge = anyTime): Promise<void> {
  const { tenantId, key, title, query, profile, rules, purpose, translations, seenAt } = draft
  const at = deps.now()
  await deps.writeSettings(async tx => {
    const before = await lockTemplate(tx, tenantId, key)
    if (!before && isBuiltinName(key))
      throw apiError('builtin_template', { message: `${key} is a name of a built-in template; choose another key` })
    await judge(tx, before)
    if (seenAt !== undefined && seenAt !== (before?.updatedAt ?? null)) throw apiError('template_changed')
    await upsertTemplate(tx, {
      tenantId,
      key,
      title,
      query,
      profile: profile ?? null,
      rules: rules ?? null,
      purpose: purpose ?? null,
      translations: translations ?? null,
      createdAt: at,
      updatedAt: at,
      liveSince: null,
    })
    await deps.audit.append(tx, {
      at,
      tenantId,
      actor,
      action: 'template.saved',
      subjectId: `${tenantId}/${key}`,
      details: { key, title, rules: rules ?? null, ...(before && { changed: changedParts(before, draft) }) },
    })
  })
}

export async function removeTemplate(
  deps: Setting,
  { tenantId, key }: { tenantId: string; key: string },
  actor: string,
  judge = anyTime,
): Promise<boolean> {
  const at = deps.now()
  return await deps.writeSettings(async tx => {
    const before = await lockTemplate(tx, tenantId, key)
    if (!before && isBuiltinName(key))
      throw apiError('builtin_template', { message: `${key} is a built-in template and stays; delete only your own` })
    await judge(tx, before)
    const removed = await deleteTemplate(tx, tenantId, key)
    if (removed)
      await deps.audit.append(tx, {
        at,
        tenantId,
        actor,
        action: 'template.deleted',
        subjectId: `${tenantId}/${key}`,
        details: { key },
      })
    return removed
  })
}
