import { createKey } from '../../src/access/keys.ts'
import { createTenant } from '../../src/tenants/settings.ts'
import { DAY, type Model, SCOPES, type Scope } from './model.ts'
import type { Fact, Simulation } from './simulation.ts'
import type { Story } from './story.ts'
import type { World } from './world.ts'

export type Setting = { quota: number; retentionDays?: number; startsAt: number; keepsLogins?: boolean }

/** A tenant of its own, with a key for each environment. The clock goes on from where the run before left it, to a chosen time of a day. */
export async function startRun(
  world: World,
  { setting: { quota, retentionDays, startsAt, keepsLogins = false }, isAlone }: Pick<Story, 'setting' | 'isAlone'>,
  told: (fact: Fact) => void,
): Promise<Simulation> {
  const { app } = world
  const now = Math.ceil(app.clock.now() / DAY) * DAY + startsAt
  app.clock.set(now)
  const tag = `run-${++world.runs}`
  const made = await createTenant(app.deps, { name: `${tag} ${now}`, dailyQuota: quota, retentionDays }, 'operator')
  const { tenant } = made
  const model: Model = {
    isAlone,
    wall: now,
    now,
    quota,
    retentionDays,
    keepsLogins,
    keys: [],
    sessions: [],
    devices: [],
    clients: [],
    usage: new Map(),
    kept: new Map(),
    newestAt: 0,
    webhookSecrets: {
      test: [{ secret: made.webhookSecret, createdAt: now, validUntil: null }],
      live: [{ secret: made.webhookSecretLive, createdAt: now, validUntil: null }],
    },
    audited: 1,
  }
  const readers = { test: await readerOf(world, tenant.id, 'test'), live: await readerOf(world, tenant.id, 'live') }
  model.audited += 2
  const simulation = { world, model, tenantId: tenant.id, tag, readers, told, steps: 0 }
  await addKey(simulation, { environment: 'test', scopes: [...SCOPES] })
  await addKey(simulation, { environment: 'live', scopes: [...SCOPES] })
  return simulation
}

const readerOf = ({ app }: World, tenantId: string, environment: 'test' | 'live') =>
  app.key(tenantId, { environment, scopes: ['verifications:read', 'devices:manage'] })

type NewKey = { environment: 'test' | 'live'; scopes: Scope[]; expiresDays?: 30 }

export async function addKey(
  { world, model, tenantId }: Simulation,
  { environment, scopes, expiresDays }: NewKey,
): Promise<void> {
  const { key, row } = await createKey(world.app.deps, { tenantId, environment, scopes, expiresDays, actor: 'operator' })
  const expiresAt = expiresDays === undefined ? null : model.now + expiresDays * DAY
  model.keys.push({ id: row.id, secret: key, environment, scopes, createdAt: model.now, expiresAt, isRevoked: false })
  model.audited++
}
