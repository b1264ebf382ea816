import { verifyAudit } from '../../src/audit/verify.ts'
import type { Ack } from '../invariants/acks.ts'
import { checkInvariants } from '../invariants/check.ts'
import { Disagreement, same } from './expect.ts'
import { deviceView, type Environment, MINUTE, viewOf } from './model.ts'
import { moveClock, rows, type Simulation, settle } from './simulation.ts'
import type { World } from './world.ts'

/** Every message comes to its end, and everything there is, is what the model has. */
export async function finishRun(simulation: Simulation): Promise<void> {
  await drain(simulation)
  for (const environment of ['test', 'live'] as const) {
    await expectSessions(simulation, environment)
    await expectDevices(simulation, environment)
  }
  const { world, model, tenantId } = simulation
  const [audited] = rows<{ n: number }>(world, 'SELECT count(*) AS n FROM audit_records WHERE tenant_id = ?', tenantId)
  same(audited?.n, model.audited, 'records on the audit chain')
  const received = world.receiver.received.filter(({ path }) => path === '/followed').length
  same(received, 0, 'redirects that were followed')
}

async function drain(simulation: Simulation): Promise<void> {
  const { model } = simulation
  for (;;) {
    const due = model.sessions.flatMap(({ delivery }) => (delivery?.status === 'pending' ? [delivery.dueAt] : []))
    if (due.length === 0) return
    // While the clock is behind, time goes at half speed.
    moveClock(simulation, Math.max(0, Math.min(...due) - model.now) * 2 + MINUTE)
    await settle(simulation)
  }
}

async function expectSessions({ world, model, readers }: Simulation, environment: Environment): Promise<void> {
  const key = readers[environment]
  const expected = model.sessions
    .filter(session => session.environment === environment && !session.isErased)
    .sort((a, b) => b.createdAt - a.createdAt)
    .map(session => viewOf(model, session))
  const { body } = await world.app.call<{ data: unknown[] }>('GET', '/v1/verifications?limit=100', { key })
  same(body.data, expected.slice(0, 100), 'all sessions')
}

async function expectDevices({ world, model, readers }: Simulation, environment: Environment): Promise<void> {
  const key = readers[environment]
  const { body } = await world.app.call<{ data: { id: string; status: string }[] }>('GET', '/v1/devices', { key })
  const expected = model.devices
    .filter(device => device.environment === environment)
    .sort((a, b) => b.createdAt - a.createdAt)
    .map(deviceView)
  const outline = (device: { id?: unknown; status?: unknown }) => [device.id, device.status]
  same(body.data.map(outline), expected.map(outline), 'all devices')
}

/** From outside, and by the service's own verifier. */
export async function inspectWorld({ app }: World, acks?: Iterable<Ack>): Promise<void> {
  const { violations } = await checkInvariants(app.dir, { acks, publicKey: app.deps.audit.publicKey() })
  if (violations.length > 0) throw new Disagreement(violations.join('\n'))
  const { problem } = await verifyAudit(app.deps)
  if (problem) throw new Disagreement(`audit record ${problem.seq}: ${problem.problem}`)
}
