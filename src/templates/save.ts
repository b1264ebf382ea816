import { apiError } from '../http/errors.ts'
import type { DcqlQuery } from '../openid4vp/dcql.ts'
import type { Profile } from '../openid4vp/request-object.ts'
import type { Rule } from '../openid4vp/rules.ts'
import type { Deps } from './deps.ts'
import { deleteTemplate, findTemplate, upsertTemplate } from './store.ts'

type TemplateDeps = Pick<Deps, 'writeSettings' | 'now' | 'audit'>

export type TemplateDraft = {
  tenantId: string
  key: string
  title: string
  query: DcqlQuery
  profile?: Profile
  /** Undefined: the default. */
  rules?: Rule[]
  purpose?: string
  /** The last change that its editor knows, null for none: with a later one nothing is saved. */
  seenAt?: number | null
}

export async function saveTemplate(
  deps: TemplateDeps,
  { tenantId, key, title, query, profile, rules, purpose, seenAt }: TemplateDraft,
  actor: string,
): Promise<void> {
  const at = deps.now()
  await deps.writeSettings(async tx => {
    const isStale = seenAt !== undefined && seenAt !== ((await findTemplate(tx, tenantId, key))?.updatedAt ?? null)
    if (isStale) throw apiError('template_changed')
    await upsertTemplate(tx, {
      tenantId,
      key,
      title,
      query,
      profile: profile ?? null,
      rules: rules ?? null,
      purpose: purpose ?? null,
      createdAt: at,
      updatedAt: at,
    })
    await deps.audit.append(tx, {
      at,
      tenantId,
      actor,
      action: 'template.saved',
      subjectId: `${tenantId}/${key}`,
      details: { key, title, rules: rules ?? null },
    })
  })
}

export async function removeTemplate(deps: TemplateDeps, tenantId: string, key: string, actor: string): Promise<boolean> {
  const at = deps.now()
  return await deps.writeSettings(async tx => {
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
