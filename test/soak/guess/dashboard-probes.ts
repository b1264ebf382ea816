// Every route of the dashboard that names a tenant, asked by a user of another one; and every one that names a thing, asked under
// one's own tenant for what is another's.
import { base62, newClientId, newDeviceId, newKeyId, newTenantId, newVerificationId } from '../../../src/base/ids.ts'
import type { TestApp } from '../../helpers/app.ts'
import { joinMember } from '../../helpers/dashboard.ts'
import { askRoute, BODIES, dashboardRoutes, nameOf, QUERY, type Things } from '../../helpers/dashboard-routes.ts'
import { logOf, type Receiver, untilAttempted } from '../../helpers/receiver.ts'
import type { Seeded } from '../../helpers/seeded.ts'
import { verifyWith } from '../../helpers/wallet.ts'
import type { Probe } from './timing.ts'

const FOREIGN_THINGS = 10

type Shop = Awaited<ReturnType<TestApp['tenant']>>

export async function dashboardProbes(app: TestApp, receiver: Receiver, random: Seeded): Promise<Probe[]> {
  const [shop, bakery] = [await app.tenant(), await app.tenant({ name: 'Bakery' })]
  const bob = await joinMember(app, bakery.id, 'bob')
  const foreign = await thingsOf(app, shop, receiver)
  const one = foreign[0]!
  const named = dashboardRoutes(app).filter(({ path }) => path.includes(':tenant'))
  const ofTenants = named.map(
    (route): Probe => ({
      name: `a user: ${nameOf(route)} of another tenant`,
      foreignId: () => shop.id,
      neverId: () => newTenantId(app.deps.random),
      ask: tenant => askRoute(bob, route, { ...one, tenant }),
    }),
  )
  const ofThings = named.flatMap((route): Probe[] => {
    const kind = kindIn(nameOf(route))
    if (!kind) return []
    return [
      {
        name: `a user: ${nameOf(route)} under their own tenant`,
        foreignId: () => foreign[random.below(foreign.length)]![kind],
        neverId: () => newIds(app)[kind],
        ask: id => askRoute(bob, route, { ...one, [kind]: id, tenant: bakery.id }),
      },
    ]
  })
  return [...ofTenants, ...ofThings]
}

async function thingsOf(app: TestApp, shop: Shop, receiver: Receiver): Promise<Things[]> {
  const mia = await joinMember(app, shop.id, 'mia')
  const at = `/tenants/${shop.id}`
  const things: Things[] = []
  for (let i = 0; i < FOREIGN_THINGS; i++) {
    // What was made in one millisecond is told apart by later ones, and sent then.
    app.clock.advance(1000)
    const { verification } = await verifyWith(app, shop.key, 'adult', { body: { webhook_url: receiver.url() } })
    await untilAttempted(app, verification.id, 1)
    const key = await mia.post<{ api_key: { id: string } }>(`${at}/keys`, BODIES['POST /tenants/:tenant/keys'])
    const client = await mia.post<{ id: string }>(`${at}/clients`, BODIES['POST /tenants/:tenant/clients'])
    const till = BODIES['POST /tenants/:tenant/devices']
    const device = await mia.post<{ device: { id: string } }>(`${at}/devices?environment=test`, till)
    await mia.put(`${at}/templates/membership_${i}`, { title: 'Member', query: QUERY })
    things.push({
      verification: verification.id,
      delivery: logOf(app, verification.id).delivery?.id ?? '',
      key: key.body.api_key.id,
      client: client.body.id,
      device: device.body.device.id,
      template: `membership_${i}`,
    })
  }
  return things
}

/** A template under one's own tenant is created: template keys belong to a tenant. */
function kindIn(name: string): keyof Things | undefined {
  if (name === 'DELETE /tenants/:tenant/templates/:key') return 'template'
  if (name.includes('/verifications/:id')) return 'verification'
  if (name.includes('/deliveries/:id')) return 'delivery'
  if (name.includes('/keys/:id')) return 'key'
  if (name.includes('/clients/:id')) return 'client'
  return name.includes('/devices/:id') ? 'device' : undefined
}

const newIds = ({ deps: { random }, clock }: TestApp): Things => ({
  verification: newVerificationId(random),
  delivery: `whd_${base62(random, 22)}`,
  key: newKeyId(random),
  client: newClientId(random, 'test'),
  device: newDeviceId(random, clock.now()),
  template: `membership_${base62(random, 8).toLowerCase()}`,
})
