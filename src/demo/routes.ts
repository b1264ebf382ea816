import { Elysia } from 'elysia'
import { accessPlugin } from '../access/plugin.ts'
import { verifyAudit } from '../audit/verify.ts'
import { registerDevice } from '../devices/register.ts'
import { errorResponses } from '../http/schema.ts'
import { Nothing } from '../http/wire.ts'
import { VerificationId } from '../verifications/schema.ts'
import { openClub } from './club.ts'
import { demoCommands } from './commands.ts'
import type { Deps } from './deps.ts'
import { type Demo, TEMPLATES } from './furnish.ts'
import { DemoAudit, DemoClub, DemoData, DemoSession, DemoTill, NewDemoTill } from './schema.ts'
import { readSession } from './session.ts'

/**
 * Routes of the demo's page. They return the key of the demo's shop, which lives only as long as
 * the demo; no other service has these routes.
 */
export const demoRoutes = (deps: Deps, demo: Demo) =>
  new Elysia({ prefix: '/demo', detail: { hide: true } })
    .use(accessPlugin(deps))
    .get('/data', () => ({ shop: demo.shop, key: demo.key, commands: demoCommands(deps.config.publicUrl, demo.key) }), {
      open: { ownPages: true },
      response: { 200: DemoData, ...errorResponses(429, 500) },
    })
    .post('/tills', ({ body }) => newTill(deps, demo, body.name), {
      open: { ownPages: true, body: 'json' },
      body: NewDemoTill,
      response: { 200: DemoTill, ...errorResponses(400, 429, 500) },
    })
    .post('/club', () => openClub(deps, demo), {
      open: { ownPages: true, body: 'json' },
      body: Nothing,
      response: { 200: DemoClub, ...errorResponses(400, 429, 500) },
    })
    .get('/sessions/:id', ({ params }) => readSession(deps, demo, params.id), {
      open: { ownPages: true },
      params: VerificationId,
      response: { 200: DemoSession, ...errorResponses(404, 429, 500) },
    })
    .get('/audit', () => audit(deps), {
      open: { ownPages: true },
      response: { 200: DemoAudit, ...errorResponses(429, 500) },
    })

async function newTill(deps: Deps, { tenantId }: Demo, name: string): Promise<DemoTill> {
  const wanted = { name, allowed_templates: TEMPLATES }
  const { device, pairingCode } = await registerDevice(deps, { tenantId, environment: 'test' }, wanted, 'demo')
  return { device: device.id, pairing_code: pairingCode }
}

async function audit(deps: Deps): Promise<DemoAudit> {
  const { problem, count, head } = await verifyAudit(deps)
  return { ok: problem === undefined, count, head }
}
