import type { Environment } from '../access/scopes.ts'
import { dailyQuotaOf, type TenantRow } from '../tenants/settings.ts'
import { readUsage } from '../usage/read.ts'
import { readAttention } from './attention.ts'
import type { Deps } from './deps.ts'
import type { Overview } from './verification-schema.ts'
import { readSummaries } from './verifications.ts'

const RECENT_MAX = 10

export async function readOverview(deps: Deps, tenant: TenantRow, environment: Environment): Promise<Overview> {
  const usage = await readUsage(deps, tenant.id, dailyQuotaOf(tenant))
  const { data } = await readSummaries(deps, tenant.id, { environment, limit: RECENT_MAX })
  return { usage, recent: data, attention: await readAttention(deps, { tenantId: tenant.id, environment, usage }) }
}
