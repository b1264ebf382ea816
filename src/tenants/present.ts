import { dailyQuotaOf, type TenantRow } from './settings.ts'

export const presentTenant = (row: TenantRow) => ({
  id: row.id,
  name: row.name,
  plan: row.plan,
  daily_quota: dailyQuotaOf(row),
  retention_days: row.retentionDays,
  app_schemes: row.appSchemes ?? [],
})
