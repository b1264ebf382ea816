// Lists of revoked documents that outlive the process: which are kept, when they are fetched, and what a session says of them.
import { afterAll, describe, expect, test } from 'bun:test'
import type { Config } from '../../src/config.ts'
import { insertList } from '../../src/trust/status/list-store.ts'
import { addStatusList, prefetchLists, readLists, refreshLists, removeStatusList } from '../../src/trust/status/refresh.ts'
import { cleanUp, NOON, startApp, type TestApp, temporaryDir } from '../helpers/app.ts'
import { forgeSigner, trust } from '../helpers/forger.ts'
import { hostLists } from '../helpers/list-host.ts'
import { publishLists, shown } from '../helpers/status-lists.ts'
import { trustRecords } from '../helpers/trusted-lists.ts'
import { verifyWith } from '../helpers/wallet.ts'

afterAll(cleanUp)

const HOUR = 3_600_000
const DAY = 24 * HOUR

type Options = { config?: Partial<Config>; dir?: string; now?: number }

/** An issuer whose status lists are on a host of the test, and a service that trusts it. */
async function start({ config, ...options }: Options = {}) {
  const host = await hostLists()
  const issuer = await forgeSigner()
  const startService = async (more: Options = {}) => {
    const app = await startApp({
      resolve: async () => ['127.0.0.1'],
      config: { egressAllow: [host.allow], extraCaFile: host.caFile, ...config, ...more.config },
      ...options,
      ...more,
    })
    return app
  }
  const app = await startService()
  await trust(app, issuer)
  const { id: tenantId, key } = await app.tenant()
  let clock = () => app.clock.now()
  publishLists(host, issuer, () => clock())
  return {
    app,
    tenantId,
    key,
    host,
    startService,
    follow(other: TestApp) {
      clock = () => other.clock.now()
    },
    shown: (on: TestApp, uri: string) => shown({ app: on, key, tenantId }, issuer, uri),
  }
}

const urisOf = async ({ deps }: TestApp): Promise<string[]> => (await readLists(deps)).map(({ uri }) => uri)

describe('the lists that are kept', () => {
  test('a list is kept once two sessions have named it; one of a single person leaves no row', async () => {
    const { app, host, shown } = await start()
    const [own, common] = [host.url('/one-person'), host.url('/common')]
    expect((await shown(app, own)).outcome).toBe('completed')
    expect((await shown(app, common)).outcome).toBe('completed')
    expect(await urisOf(app)).toEqual([])
    await shown(app, common)
    expect(await urisOf(app)).toEqual([common])
    expect(host.requests).toHaveLength(2)
  })

  test("the sandbox issuer's list is never kept", async () => {
    const { app, key } = await start()
    for (const _ of [1, 2]) expect((await verifyWith(app, key, 'adult')).verification.status).toBe('completed')
    expect(await urisOf(app)).toEqual([])
  })

  test('a restart without internet knows what was kept, and the session says as of when', async () => {
    const { app, host, shown, startService } = await start({ config: { statusMaxAgeMs: DAY } })
    const uri = host.url()
    await shown(app, uri)
    await shown(app, uri)
    await app.stop()
    host.answer(() => new Response('gone', { status: 503 }))
    const later = await startService({ dir: app.dir, now: NOON + 6 * HOUR })
    const { outcome, findings, against, id } = await shown(later, uri)
    expect([outcome, against]).toEqual(['completed', { as_of: '2026-03-04T12:00:00.000Z', from: 'fetched' }])
    expect(findings).toEqual([
      {
        check: 'status',
        status: 'warning',
        detail: "Checked against the issuer's list as of 2026-03-04 12:00 UTC; a newer one could not be fetched.",
      },
    ])
    expect(later.logs.filter(line => line.includes('status.stale_used'))).toHaveLength(1)
    await shown(later, uri)
    expect(later.logs.filter(line => line.includes('status.stale_used'))).toHaveLength(1)
    expect(later.logs.join()).not.toContain(id)
    const metrics = await (await fetch(`${later.url}/metrics`)).text()
    expect(metrics).toContain('\nvidimus_status_list_age_seconds 21600\n')
  })

  test('without VIDIMUS_STATUS_MAX_AGE a restart without internet ends status_unknown', async () => {
    const { app, host, shown, startService } = await start()
    await shown(app, host.url())
    await shown(app, host.url())
    await app.stop()
    host.answer(() => new Response('gone', { status: 503 }))
    const later = await startService({ dir: app.dir, now: NOON + 6 * HOUR })
    expect((await shown(later, host.url())).outcome).toBe('status_unknown')
  })

  test("at most 200 lists are kept: the operator's own stay, and the least recently needed goes", async () => {
    const { app, host } = await start()
    await app.deps.write(async tx => {
      for (let index = 0; index < 200; index++)
        await insertList(
          tx,
          {
            ...{
              uri: `https://issuer.example/${index}`,
              media: 'statuslist+jwt',
              bytes: Buffer.of(1),
              issuedAt: NOON,
              endsAt: null,
            },
            ...{ ttlMs: null, fetchedAt: NOON, from: 'fetched' },
          },
          { seenAt: NOON - DAY - index, dueAt: NOON + DAY, wanted: index === 199 ? 1 : 0 },
        )
    })
    await addStatusList(app.deps, { uri: host.url() }, 'test')
    const uris = await urisOf(app)
    expect(uris).toHaveLength(200)
    expect(uris).toContain('https://issuer.example/199')
    expect(uris).not.toContain('https://issuer.example/198')
  })
})

describe('fetches apart from sessions', () => {
  test('a list is fetched again near the end of its ttl, also when no session needs it, for 30 days', async () => {
    const { app, host, shown } = await start()
    const uri = host.url()
    await shown(app, uri)
    await shown(app, uri)
    expect(host.requests).toHaveLength(1)
    app.clock.advance(0.89 * HOUR)
    await prefetchLists(app.deps)
    expect(host.requests).toHaveLength(1)
    app.clock.advance(0.22 * HOUR)
    await prefetchLists(app.deps)
    expect(host.requests).toHaveLength(2)
    // The session meets a fresh list, and nobody is asked for it.
    expect((await shown(app, uri)).findings).toEqual([])
    expect(host.requests).toHaveLength(2)
    app.clock.advance(31 * DAY)
    await prefetchLists(app.deps)
    expect(host.requests).toHaveLength(2)
  })

  test('VIDIMUS_TRUST_REFRESH=off fetches no list that no session needs', async () => {
    const { app, host } = await start({ config: { trustRefresh: false } })
    await addStatusList(app.deps, { uri: host.url() }, 'test')
    app.clock.advance(2 * HOUR)
    await prefetchLists(app.deps)
    expect(host.requests).toHaveLength(1)
  })

  test('a list that cannot be fetched is tried again after a quarter of an hour', async () => {
    const { app, host } = await start()
    await addStatusList(app.deps, { uri: host.url() }, 'test')
    host.answer(() => new Response('gone', { status: 503 }))
    app.clock.advance(2 * HOUR)
    for (const minutes of [0, 14, 1]) {
      app.clock.advance(minutes * 60_000)
      await prefetchLists(app.deps)
    }
    expect(host.requests).toHaveLength(3)
    const [refreshed] = await refreshLists(app.deps)
    expect(refreshed?.problem).toContain('its server answered 503')
  })

  test('an older list is not taken in place of the one that is kept', async () => {
    const { app, host, follow, startService } = await start()
    await addStatusList(app.deps, { uri: host.url() }, 'test')
    const before = await startService({ now: NOON - HOUR, dir: temporaryDir() })
    follow(before)
    app.clock.advance(2 * HOUR)
    expect((await refreshLists(app.deps))[0]?.problem).toContain('older than that of')
    expect((await readLists(app.deps))[0]?.issuedAt).toBe(NOON)
  })
})

test('an added list, and its removal, are on the audit chain; an address that is no list is refused', async () => {
  const { app, host } = await start()
  const uri = host.url()
  expect((await addStatusList(app.deps, { uri }, 'test')).media).toBe('statuslist+jwt')
  expect((await readLists(app.deps))[0]).toMatchObject({ uri, wanted: 1, from: 'fetched' })
  await removeStatusList(app.deps, uri, 'test')
  expect(await urisOf(app)).toEqual([])
  const lists = (await trustRecords(app.deps)).filter(({ action }) => action.startsWith('trust.status_list'))
  expect(lists.map(({ action, details }) => [action, details])).toEqual([
    ['trust.status_list_added', { id: uri, media: 'statuslist+jwt' }],
    ['trust.status_list_removed', { id: uri }],
  ])
  const refused = (place: { uri: string; media?: 'crl' }) =>
    addStatusList(app.deps, place, 'test').catch((error: Error) => error.message)
  expect(await refused({ uri: uri.replace('https', 'http') })).toContain('not the https address of a list')
  expect(await refused({ uri, media: 'crl' })).toContain('no issuer that is trusted here has signed it')
  expect(await removeStatusList(app.deps, uri, 'test').catch((error: Error) => error.message)).toContain('there is no list')
})
