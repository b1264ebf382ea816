import type { Setting } from '../audit/deps.ts'
import { newTenantId, newWebhookSecret } from '../base/ids.ts'
import { foldName } from '../base/plain-text.ts'
import type { Db } from '../db/engine.ts'
import type { Sealing } from '../ground.ts'
import { apiError } from '../http/errors.ts'
import {
  findTenant,
  insertTenant,
  insertWebhookSecret,
  listTenants,
  type TenantRow,
  updateTenant,
  upsertRetentionChosen,
} from './store.ts'
import { sealSecret } from './webhook-secret.ts'

export { lockTenant, type Owner, type TenantRow } from './store.ts'

/** Verifications a day. */
export const PLANS = { trial: 100, standard: 10_000, large: 100_000 } as const
export type Plan = keyof typeof PLANS

export const DAILY_QUOTA_MAX = 10_000_000
export const RETENTION_DAYS_MAX = 3650

export const dailyQuotaOf = ({ plan, dailyQuota }: { plan: Plan; dailyQuota: number | null }): number => dailyQuota ?? PLANS[plan]

export const readTenant = async (db: Db, id: string): Promise<TenantRow | undefined> => await findTenant(db, id)

export const readTenants = async (db: Db): Promise<TenantRow[]> => await listTenants(db)

/** Tenants whose ended sessions are erased after some days. */
export async function retentions(db: Db): Promise<{ tenantId: string; days: number }[]> {
  const tenants = await listTenants(db)
  return tenants.flatMap(({ id, retentionDays }) => (retentionDays === null ? [] : [{ tenantId: id, days: retentionDays }]))
}

type TenantSettings = { name: string; plan?: Plan; dailyQuota?: number | null; retentionDays?: number | null }

export async function createTenant(
  deps: Sealing & Setting,
  { name, plan = 'standard', dailyQuota = null, retentionDays = null }: TenantSettings,
  actor: string,
): Promise<{ tenant: TenantRow; webhookSecret: string; webhookSecretLive: string }> {
  const at = deps.now()
  const tenant = { id: newTenantId(deps.random), name, plan, dailyQuota, retentionDays, appSchemes: null, createdAt: at }
  const [webhookSecret, webhookSecretLive] = [newWebhookSecret(deps.random), newWebhookSecret(deps.random)]
  const secretRows = [
    sealSecret(deps, { tenantId: tenant.id, environment: 'test' }, webhookSecret, at),
    sealSecret(deps, { tenantId: tenant.id, environment: 'live' }, webhookSecretLive, at),
  ]
  await deps.writeSettings(async tx => {
    await refuseTakenName(tx, tenant)
    await insertTenant(tx, tenant)
    for (const row of secretRows) await insertWebhookSecret(tx, row)
    const details = { name, plan, daily_quota: dailyQuota, retention_days: retentionDays }
    await deps.audit.append(tx, { at, tenantId: tenant.id, actor, action: 'tenant.created', subjectId: tenant.id, details })
  })
  return { tenant, webhookSecret, webhookSecretLive }
}

export async function changeTenant(
  deps: Sealing & Setting,
  id: string,
  changes: Partial<TenantSettings & Pick<TenantRow, 'appSchemes'>>,
  actor: string,
): Promise<TenantRow | undefined> {
  const at = deps.now()
  return await deps.writeSettings(async tx => {
    if (changes.name !== undefined) await refuseTakenName(tx, { id, name: changes.name })
    const tenant = await updateTenant(tx, id, changes)
    if (tenant && changes.retentionDays !== undefined) await upsertRetentionChosen(tx, id, at)
    const { name, plan, dailyQuota, retentionDays, appSchemes } = changes
    const details = { name, plan, daily_quota: dailyQuota, retention_days: retentionDays, app_schemes: appSchemes }
    if (tenant) await deps.audit.append(tx, { at, tenantId: id, actor, action: 'tenant.changed', subjectId: id, details })
    return tenant
  })
}

/** A wallet shows the name to the customer. Settings are written one at a time, so no other one takes it in between. */
async function refuseTakenName(tx: Db, { id, name }: { id: string; name: string }): Promise<void> {
  const others = (await listTenants(tx)).filter(each => each.id !== id)
  if (others.some(each => foldName(each.name) === foldName(name))) throw apiError('shop_name_taken')
}
