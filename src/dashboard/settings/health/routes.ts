import { Elysia } from 'elysia'
import { isoUtc } from '../../../base/time.ts'
import { examineProfile } from '../../../doctor/eu/examine.ts'
import { examine } from '../../../doctor/examine.ts'
import { Nothing } from '../../../http/wire.ts'
import { guard } from '../../../people/guard.ts'
import type { Deps } from '../../deps.ts'
import { sharedWork } from '../../shared-work.ts'
import { CHANGED_ALL, READ, TENANT } from '../../tenant-options.ts'
import { EuProfile, Health } from './schema.ts'

/** The findings of `vidimus doctor`. */
export const healthRoutes = (deps: Deps) => {
  const checkedAt = () => isoUtc(deps.now())
  const look = sharedWork(deps, async () => ({ checked_at: checkedAt(), checks: await examine(deps, true) }))
  const judge = sharedWork(deps, async tenantId => ({
    checked_at: checkedAt(),
    clauses: await examineProfile(deps, { tenantId, environment: 'live' }),
  }))
  return new Elysia()
    .use(guard(deps))
    .post('/health', () => look(), { user: { who: 'owner' }, body: Nothing, response: { 200: Health, ...CHANGED_ALL } })
    .get('/tenants/:tenant/eu-profile', ({ tenant }) => judge(tenant.id), { ...TENANT, response: { 200: EuProfile, ...READ } })
}
