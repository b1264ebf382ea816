// Every route of the API that takes an id, asked by a key and by a till for what belongs to another tenant, to the other
// environment, to another till, and for what was erased.
import { newDeviceId, newVerificationId } from '../../../src/base/ids.ts'
import { createVerification, type TestApp } from '../../helpers/app.ts'
import { pair, register } from '../../helpers/devices.ts'
import { ID_ROUTES, type IdRoute } from '../../helpers/id-routes.ts'
import type { Seeded } from '../../helpers/seeded.ts'
import type { Probe } from './timing.ts'

const FOREIGN_IDS = 40

type Kind = { name: string; of: IdRoute['of']; ids: string[] }

export async function apiProbes(app: TestApp, random: Seeded): Promise<Probe[]> {
  const [own, stranger] = [await app.tenant(), await app.tenant({ name: 'Stranger' })]
  const [till, other] = [await pair(app, own.key), await pair(app, own.key)]
  const sessions = (key: string) => many(async () => (await createVerification(app, key)).id)
  const devices = (key: string) => many(async () => (await register(app, key)).device.id)
  const erased = await sessions(own.key)
  for (const id of erased) await app.call('DELETE', `/v1/verifications/${id}`, { key: own.key })
  const ofAll: Kind[] = [
    { name: 'another tenant', of: 'session', ids: await sessions(stranger.key) },
    { name: 'the other environment', of: 'session', ids: await sessions(own.liveKey) },
    { name: 'nobody any more', of: 'session', ids: erased },
  ]
  const ofKey: Kind[] = [
    ...ofAll,
    { name: 'another tenant', of: 'device', ids: await devices(stranger.key) },
    { name: 'the other environment', of: 'device', ids: await devices(own.liveKey) },
  ]
  const ofTill: Kind[] = [
    ...ofAll,
    { name: 'a key', of: 'session', ids: await sessions(own.key) },
    { name: 'another till', of: 'session', ids: await sessions(other.access_token) },
  ]
  const never = { session: () => newVerificationId(app.deps.random), device: () => newDeviceId(app.deps.random, app.clock.now()) }
  const probesOf = (caller: string, key: string, kinds: Kind[], routes: readonly IdRoute[]): Probe[] =>
    routes.flatMap(({ of, method, path, body }) =>
      kinds
        .filter(kind => kind.of === of)
        .map(({ name, ids }) => ({
          name: `${caller}: ${method} ${path} of ${name}`,
          foreignId: () => ids[random.below(ids.length)]!,
          neverId: never[of],
          ask: id => app.call(method, path.replace('ID', id), { key, body }),
        })),
    )
  // A till may not erase and not revoke: there it is told so before anything is looked up.
  const tillRoutes = ID_ROUTES.filter(({ method }) => method !== 'DELETE')
  return [...probesOf('a key', own.key, ofKey, ID_ROUTES), ...probesOf('a till', till.access_token, ofTill, tillRoutes)]
}

async function many(make: () => Promise<string>): Promise<string[]> {
  const ids: string[] = []
  for (let i = 0; i < FOREIGN_IDS; i++) ids.push(await make())
  return ids
}
