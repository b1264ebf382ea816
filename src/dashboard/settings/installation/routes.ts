import { Elysia } from 'elysia'
import { errorResponses } from '../../../http/schema.ts'
import { ItemPath, Nothing } from '../../../http/wire.ts'
import { guard } from '../../../people/guard.ts'
import { actorOf } from '../../../people/session.ts'
import type { Deps } from '../../deps.ts'
import { CreateTenant, Tenant, TenantList } from '../../schema.ts'
import {
  AddTrust,
  AuditFilter,
  AuditPage,
  AuditVerification,
  Health,
  Installation,
  PairingLockList,
  TrustAnchorList,
} from '../../settings-schema.ts'
import { liftPairingLock, readPairingLocks } from '../../tills/devices.ts'
import { createWalk, readAuditPage, streamExport } from '../audit.ts'
import { addTenant, readOwnTenants } from '../shop/tenants.ts'
import { addTrust, createExamination, readInstallation, readTrust, removeTrust } from './installation.ts'

const READ = errorResponses(401, 403, 429, 500)
const CHANGED = errorResponses(400, 401, 403, 404, 409, 413, 429, 500)

/** Settings of the whole installation, and the list of tenants. */
export const installationRoutes = (deps: Deps) => {
  const walk = createWalk(deps)
  const look = createExamination(deps)
  return new Elysia()
    .use(guard(deps))
    .get('/tenants', ({ visit }) => readOwnTenants(deps, visit), {
      user: { who: 'anyone' },
      response: { 200: TenantList, ...READ },
    })
    .post('/tenants', async ({ visit, body, status }) => status(201, await addTenant(deps, visit, body.name)), {
      user: { who: 'owner' },
      body: CreateTenant,
      response: { 201: Tenant, ...CHANGED },
    })
    .get('/installation', () => readInstallation(deps), { user: { who: 'owner' }, response: { 200: Installation, ...READ } })
    .post('/health', () => look(), { user: { who: 'owner' }, body: Nothing, response: { 200: Health, ...CHANGED } })
    .get('/pairing-locks', () => readPairingLocks(deps), {
      user: { who: 'owner' },
      response: { 200: PairingLockList, ...READ },
    })
    .delete(
      '/pairing-locks/:id',
      async ({ visit, params }) => {
        await liftPairingLock(deps, params.id, actorOf(visit.user))
        return {}
      },
      { user: { who: 'owner' }, params: ItemPath, body: Nothing, response: { 200: Nothing, ...CHANGED } },
    )
    .get('/trust', () => readTrust(deps), { user: { who: 'anyone' }, response: { 200: TrustAnchorList, ...READ } })
    .post('/trust', async ({ visit, body, status }) => status(201, await addTrust(deps, visit, body)), {
      user: { who: 'owner', fresh: 'hour' },
      body: AddTrust,
      response: { 201: TrustAnchorList, ...CHANGED },
    })
    .delete(
      '/trust/:id',
      async ({ visit, params }) => {
        await removeTrust(deps, visit, params.id)
        return {}
      },
      { user: { who: 'owner', fresh: 'hour' }, params: ItemPath, body: Nothing, response: { 200: Nothing, ...CHANGED } },
    )
    .get('/audit', ({ query }) => readAuditPage(deps, query), {
      user: { who: 'owner' },
      query: AuditFilter,
      response: { 200: AuditPage, ...errorResponses(400, 401, 403, 429, 500) },
    })
    .get('/audit/verification', () => walk.state(), { user: { who: 'owner' }, response: { 200: AuditVerification, ...READ } })
    .post('/audit/verification', () => walk.start(), {
      user: { who: 'owner' },
      body: Nothing,
      response: { 200: AuditVerification, ...CHANGED },
    })
    .post(
      '/audit/export',
      async ({ visit, set }) => {
        set.headers['content-type'] = 'application/jsonl'
        set.headers['content-disposition'] = 'attachment; filename="audit.jsonl"'
        return await streamExport(deps, actorOf(visit.user))
      },
      { user: { who: 'owner', fresh: 'hour' }, body: Nothing },
    )
}
