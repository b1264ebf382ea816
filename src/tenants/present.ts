import { isoUtc } from '../base/time.ts'
import { dailyQuotaOf, type TenantRow } from './settings.ts'

export const presentTenant = (row: TenantRow) => ({
  id: row.id,
  name: row.name,
  plan: row.plan,
  /** The override, or else the plan's. */
  daily_quota: dailyQuotaOf(row),
  quota_override: row.dailyQuota,
  retention_days: row.retentionDays,
  app_schemes: row.appSchemes ?? [],
  created_at: isoUtc(row.createdAt),
})
