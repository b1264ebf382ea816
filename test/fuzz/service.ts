import { createKey, revokeKey } from '../../src/access/keys.ts'
import { SCOPES } from '../../src/access/scopes.ts'
import { verifyAudit } from '../../src/audit/verify.ts'
import { setLook } from '../../src/tenants/look.ts'
import { DAILY_QUOTA_MAX } from '../../src/tenants/settings.ts'
import { startApp } from '../helpers/app.ts'
import { joinMember, ORIGIN, openBrowser, setUpOwner } from '../helpers/dashboard.ts'
import { rowsOf } from '../helpers/database.ts'
import { listOrigin } from '../helpers/dc.ts'
import { pair, refresh } from '../helpers/devices.ts'
import { receive } from '../helpers/receiver.ts'
import { SHOP } from './meanings.ts'
import { type Cast, type Header, setScene } from './scene.ts'
import { openWires } from './wire.ts'

const DAY_MS = 86_400_000

export type FuzzedService = Awaited<ReturnType<typeof startFuzzed>>

export async function startFuzzed() {
  const receiver = receive(() => new Response('no', { status: 500 }))
  const app = await startApp({
    config: { egressAllow: [receiver.allow], log: 'error' },
    resolve: async name => [name === 'hook.example' ? '127.0.0.1' : '93.184.215.14'],
  })
  const shops = { name: 'Shop', dailyQuota: DAILY_QUOTA_MAX }
  const [own, foreign, workshop] = [await app.tenant(shops), await app.tenant(shops), await app.tenant(shops)]
  await listOrigin(app, own.id, SHOP)
  await setLook(app.deps, own.id, { logo: Buffer.from('89504e470d0a1a0a', 'hex') }, 'test')
  const expired = await app.key(own.id, { expiresDays: 30 })
  const expiredDevice = (await pair(app, own.key)).access_token
  app.clock.advance(31 * DAY_MS)
  const revoked = await createKey(app.deps, { tenantId: own.id, environment: 'test', scopes: SCOPES, actor: 'test' })
  await revokeKey(app.deps, revoked.row.id, 'test')
  const reused = await pair(app, own.key)
  await refresh(app, reused.refresh_token)
  await refresh(app, reused.refresh_token)
  const till = await pair(app, own.key)
  const bearer = (token: string): Header[] => [['authorization', `Bearer ${token}`]]

  const unfresh = await setUpOwner(app)
  app.clock.advance(6 * 60_000)
  const owner = await logInAgain(app)
  const member = await joinMember(app, own.id, 'mia')
  await joinMember(app, workshop.id, 'lena')
  const page: Header[] = [
    ['origin', ORIGIN],
    ['sec-fetch-site', 'same-origin'],
    ['user-agent', 'Fuzz/1.0'],
  ]
  const user = ({ state }: typeof owner): Header[] => [
    ...page,
    ['cookie', state.cookie ?? ''],
    ['x-csrf-token', state.csrf ?? ''],
  ]

  const cast: Cast = {
    credentials: {
      none: [],
      garbage: bearer('vk_test_garbage'),
      mistyped: bearer(`${own.key.slice(0, -1)}${own.key.endsWith('a') ? 'b' : 'a'}`),
      test: bearer(own.key),
      live: bearer(own.liveKey),
      foreign: bearer(foreign.key),
      workshop: bearer(workshop.key),
      scopeless: bearer(await app.key(own.id, { scopes: ['devices:manage'] })),
      deleter: bearer(await app.key(own.id, { scopes: ['verifications:delete'] })),
      expired: bearer(expired),
      revoked: bearer(revoked.key),
      device: bearer(till.access_token),
      'expired device': bearer(expiredDevice),
      'revoked device': bearer(reused.access_token),
      'refresh token': bearer(till.refresh_token),
      shopper: [['origin', SHOP]],
      owner: user(owner),
      'unfresh owner': user(unfresh),
      member: user(member),
      visitor: [...page, ['cookie', `__Host-session=${'x'.repeat(43)}`]],
      page,
      'forged page': user(owner).filter(([name]) => name !== 'x-csrf-token'),
      'foreign page': user(owner).map(([name, value]) => [name, name === 'origin' ? 'https://attacker.example' : value] as const),
    },
    users: { owner: 'olivia', member: 'mia' },
    tenants: { own: own.id, foreign: foreign.id, workshop: workshop.id },
    hookUrl: receiver.url('/hook', 'hook.example'),
  }
  const before = counts(app.dir)
  const wire = openWires({ hostname: '127.0.0.1', port: Number(new URL(app.url).port) })
  const scene = await setScene(wire, cast)
  return {
    app,
    scene,
    /** Everything there is was acknowledged with a 201, and the audit chain holds. */
    async account() {
      const after = counts(app.dir)
      const made = Object.fromEntries(Object.entries(after).map(([name, count]) => [name, count - (before[name] ?? 0)]))
      return { made, acknowledged: Object.fromEntries(scene.created), audit: (await verifyAudit(app.deps)).problem }
    },
    faults: () => app.logs.filter(line => line.includes('"request.failed"')),
    async stop() {
      wire.close()
      receiver.stop()
      await app.stop()
    },
  }
}

async function logInAgain(app: Awaited<ReturnType<typeof startApp>>) {
  const browser = openBrowser(app)
  await browser.logIn('olivia')
  return browser
}

/** Usage counts what was ever created, erased or not. */
function counts(dir: string): Record<string, number> {
  const count = (sql: string) => Number(rowsOf<{ n: number }>(dir, sql)[0]?.n)
  return {
    verifications: count('select coalesce(sum(verifications_created), 0) as n from usage_days'),
    devices: count('select count(*) as n from devices'),
    keys: count('select count(*) as n from api_keys'),
    tenants: count('select count(*) as n from tenants'),
  }
}
