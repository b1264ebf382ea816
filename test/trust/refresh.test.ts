// Looks at lists: what a host may answer, when the next look is, and what is logged and counted.
import { afterAll, beforeAll, describe, expect, spyOn, test } from 'bun:test'
import { gzipSync } from 'node:zlib'
import { addSource } from '../../src/trust/lists/add-source.ts'
import { pinSigner } from '../../src/trust/lists/pins.ts'
import { refreshDue, refreshSource } from '../../src/trust/lists/refresh.ts'
import { readSource } from '../../src/trust/lists/sources.ts'
import { presentSource } from '../../src/trust/present.ts'
import { readAnchors } from '../../src/trust/settings.ts'
import { cleanUp, startApp, type TestApp } from '../helpers/app.ts'
import { DAY_MS, NOW } from '../helpers/certificates.ts'
import { hostLists, type ListHost, startFor } from '../helpers/list-host.ts'
import { makeIssuers, pidList, trustRecords } from '../helpers/trusted-lists.ts'
import { makeSigner, type WantedLote } from '../trust-lists/make.ts'

afterAll(cleanUp)

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const signer = await makeSigner()
const issuers = await makeIssuers(3)
const listOf = (wanted: WantedLote = {}, count = 2) =>
  pidList(signer, issuers.slice(0, count), { issuedAt: NOW - DAY_MS, nextUpdate: NOW + 30 * DAY_MS, sequence: 5, ...wanted })
const first = listOf()

const add = ({ deps }: Pick<TestApp, 'deps'>, location: string) =>
  addSource(deps, { environment: 'live', kind: 'lote', label: 'PID list', signers: [signer.fingerprint], location }, 'test')

async function start(host: ListHost) {
  const app = await startFor(host)
  const { id } = await add(app, host.url())
  return { app, id, look: () => refreshSource(app.deps, id, { actor: 'test' }), read: () => readSource(app.deps, id) }
}

const eventsIn = ({ logs }: TestApp) =>
  logs
    .map(line => JSON.parse(line) as { event: string; level: string; detail?: string })
    .filter(({ event }) => event.startsWith('trust.'))

describe('the host', () => {
  let host: ListHost
  let source: Awaited<ReturnType<typeof start>>
  beforeAll(async () => {
    host = await hostLists(first)
    source = await start(host)
  })

  const plain =
    (body: BodyInit, headers: Record<string, string> = {}) =>
    () =>
      new Response(body, { headers })
  const redirect =
    (location: string, status = 302) =>
    () =>
      new Response(null, { status, headers: { location } })
  const endless = () =>
    new Response(
      new ReadableStream({
        pull(controller) {
          controller.enqueue(new Uint8Array(1024 * 1024))
        },
      }),
    )
  const LIMIT = 4 * 1024 * 1024

  test.each([
    ['500', () => new Response(null, { status: 500 }), 'unreachable', /its server answered 500/],
    ['404', () => new Response(null, { status: 404 }), 'unreachable', /its server answered 404/],
    ['304 although nothing was asked for', () => new Response(null, { status: 304 }), 'unreachable', /answered 304/],
    ['an HTML page', plain('<!doctype html><title>Sign in</title>'), 'malformed', /not a readable list|it is not/],
    ['an empty body', plain(''), 'malformed', /it is empty/],
    ['a list in gzip', plain(gzipSync(first), { 'content-encoding': 'gzip' }), 'unreachable', /compressed/],
    ['20 MB', plain(new Uint8Array(20_000_000)), 'too_large', /larger than 4 MiB/],
    ['one byte too many', plain(new Uint8Array(LIMIT + 1)), 'too_large', /larger than 4 MiB/],
    ['an endless body', endless, 'too_large', /larger than 4 MiB/],
    ['a redirect to http', redirect('http://lists.operator.example/list'), 'unreachable', /answered 302/],
    ['a redirect to a private address', redirect('https://10.0.0.1/list'), 'unreachable', /not on the public internet/],
  ])('that answers %s changes nothing that is trusted', async (_, reply, code, says) => {
    host.answer(reply)
    const before = { anchors: await readAnchors(source.app.deps), source: await source.read() }
    await expect(source.look()).rejects.toMatchObject({ code, message: expect.stringMatching(says) })
    const { failure, checkedAt, dueAt, failures, failingSince, failureDetail, failureSigner, ...rest } = await source.read()
    expect(failure).toBe(code)
    expect(before.source).toMatchObject(rest)
    expect(await readAnchors(source.app.deps)).toEqual(before.anchors)
  })

  test('that cannot be reached changes nothing, and the message says until when the last list counts', async () => {
    host.stop()
    await expect(source.look()).rejects.toMatchObject({
      code: 'unreachable',
      message: expect.stringMatching(
        /^PID list: the list could not be fetched \(.*\); the last one counts until 2026-12-22T00:00:00Z$/,
      ),
    })
    expect(await source.read()).toMatchObject({ failure: 'unreachable', sequence: 5, entries: 2 })
  })
})

test('a name that is not found is unreachable, and no connection is tried', async () => {
  const host = await hostLists(first)
  const app = await startFor(host, { resolve: async () => [] })
  const { id } = await addSource(
    app.deps,
    { environment: 'live', kind: 'lote', signers: [signer.fingerprint], bytes: first, location: host.url() },
    'test',
  )
  await expect(refreshSource(app.deps, id, { actor: 'test' })).rejects.toMatchObject({
    code: 'unreachable',
    message: expect.stringContaining('the name of its server was not found'),
  })
  expect(host.requests).toEqual([])
})

test('three redirects are followed, and a fourth is not', async () => {
  const host = await hostLists(first)
  const { look, read } = await start(host)
  const newer = Buffer.from(listOf({ issuedAt: NOW, sequence: 6 }))
  const hops = (count: number) => (request: Request) => {
    const hop = Number(/\/hop-(\d)$/.exec(request.url)?.[1] ?? 0)
    return hop === count ? new Response(newer) : new Response(null, { status: 302, headers: { location: `/hop-${hop + 1}` } })
  }
  host.answer(hops(4))
  await expect(look()).rejects.toMatchObject({ code: 'unreachable' })
  host.answer(hops(3))
  await look()
  expect((await read()).sequence).toBe(6)
})

test('the etag of an accepted list is kept from the first one on and sent, and 304 is a look that succeeded; that of a refused list is not kept', async () => {
  const host = await hostLists()
  host.answer(() => new Response(Buffer.from(first), { headers: { etag: '"one"' } }))
  const { app, look, read } = await start(host)
  expect((await read()).etag).toBe('"one"')
  host.answer(({ headers }) => new Response(null, { status: headers.get('if-none-match') === '"one"' ? 304 : 500 }))
  app.clock.advance(HOUR_MS)
  expect((await look()).outcome).toBe('unchanged')
  expect(host.requests).toHaveLength(2)
  expect(await read()).toMatchObject({ checkedAt: NOW + HOUR_MS, failure: null, etag: '"one"' })
  host.answer(() => new Response('nothing', { headers: { etag: '"two"' } }))
  await expect(look()).rejects.toMatchObject({ code: 'malformed' })
  expect(await read()).toMatchObject({ failure: 'malformed', etag: '"one"' })
})

test('the next looks after failures are in 15 minutes, an hour, and six hours; a refusal is on the chain once for each reason', async () => {
  const host = await hostLists(first)
  const { app, look, read } = await start(host)
  host.answer(() => new Response(null, { status: 500 }))
  const waits: number[] = []
  for (let i = 0; i < 4; i++) {
    await expect(look()).rejects.toMatchObject({ code: 'unreachable' })
    waits.push((await read()).dueAt - app.clock.now())
    app.clock.advance(MINUTE_MS)
  }
  expect(waits).toEqual([15 * MINUTE_MS, HOUR_MS, 6 * HOUR_MS, 6 * HOUR_MS])
  expect(await read()).toMatchObject({ failingSince: NOW, failures: 4, checkedAt: NOW + 3 * MINUTE_MS })
  host.answer(() => new Response('<p>'))
  await expect(look()).rejects.toMatchObject({ code: 'malformed' })
  const refused = (await trustRecords(app.deps)).filter(({ action }) => action === 'trust.list_refused')
  expect(refused.map(({ details }) => details.code)).toEqual(['unreachable', 'malformed'])
  host.list(first)
  await look()
  expect(await read()).toMatchObject({ failure: null, failingSince: null, failures: 0, failureDetail: null, failureSigner: null })
})

test('the job looks at lists whose time has come, a tenth earlier or later than their interval', async () => {
  const host = await hostLists(first)
  const { app, read } = await start(host)
  const share = (byte: number): TestApp['deps'] => ({ ...app.deps, random: count => new Uint8Array(count).fill(byte) })
  const asked = () => host.requests.length
  await refreshDue(app.deps)
  expect(asked()).toBe(1)
  app.clock.set((await read()).dueAt)
  await refreshDue(share(0))
  expect(asked()).toBe(2)
  expect((await read()).dueAt - app.clock.now()).toBe(0.9 * 12 * HOUR_MS)
  app.clock.set((await read()).dueAt - 1)
  await refreshDue(share(255))
  expect(asked()).toBe(2)
  app.clock.advance(1)
  await refreshDue(share(255))
  expect(asked()).toBe(3)
  expect(Math.abs((await read()).dueAt - app.clock.now() - 1.1 * 12 * HOUR_MS)).toBeLessThan(2)
})

test('the job looks at no list with VIDIMUS_TRUST_REFRESH=off, and a command still does', async () => {
  const host = await hostLists(first)
  const app = await startFor(host, { config: { trustRefresh: false } })
  const { id } = await add(app, host.url())
  app.clock.advance(2 * DAY_MS)
  await refreshDue(app.deps)
  expect(host.requests).toHaveLength(1)
  await refreshSource(app.deps, id, { actor: 'test' })
  expect(host.requests).toHaveLength(2)
})

test('the job goes on with the other lists when one fails, and writes as the service', async () => {
  const [good, bad] = [await hostLists(first), await hostLists(listOf({ territory: 'FI' }))]
  const app = await startApp({
    now: NOW,
    resolve: async () => ['127.0.0.1'],
    config: { egressAllow: [good.allow, bad.allow], extraCaFile: good.caFile },
  })
  const one = await add(app, good.url())
  const other = await addSource(
    app.deps,
    {
      environment: 'live',
      kind: 'lote',
      label: 'Other list',
      signers: [signer.fingerprint],
      bytes: listOf({ territory: 'FI' }),
      location: bad.url(),
    },
    'test',
  )
  good.list(listOf({ issuedAt: NOW, sequence: 6 }, 3))
  app.clock.advance(DAY_MS)
  await refreshDue(app.deps)
  expect(await readSource(app.deps, one.id)).toMatchObject({ sequence: 6, entries: 3 })
  // Its server has a certificate of an authority that nobody named.
  expect(await readSource(app.deps, other.id)).toMatchObject({ failure: 'unreachable', sequence: 5 })
  expect((await trustRecords(app.deps)).slice(-2).map(({ actor }) => actor)).toEqual(['service', 'service'])
  const { text } = await app.call('GET', '/metrics')
  for (const outcome of ['accepted', 'unreachable'])
    expect(text).toContain(`vidimus_trust_list_refreshes_total{outcome="${outcome}"} 1\n`)
  expect(text).toContain('vidimus_trust_lists_failing 1\n')
  expect(text).toContain('vidimus_trust_anchors 15\n')
  expect(text).toContain('vidimus_trust_list_age_seconds 0\n')
  expect(text).toContain(`vidimus_trust_list_seconds_left ${(36 * DAY_MS) / 1000}\n`)
})

test('the time left without live lists is +Inf', async () => {
  const { text } = await (await startApp()).call('GET', '/metrics')
  expect(text).toContain('vidimus_trust_list_seconds_left +Inf\n')
  expect(text).toContain('vidimus_trust_list_age_seconds 0\n')
})

test('a list that is out of date is logged once a day, and once when it ends', async () => {
  const host = await hostLists(first)
  const { app } = await start(host)
  host.stop()
  const warnings = () => eventsIn(app).filter(({ event }) => ['trust.list_stale', 'trust.list_ended'].includes(event))
  const lookAt = async (ms: number) => {
    app.clock.set(ms)
    await refreshDue(app.deps)
    return warnings().map(({ event, level }) => `${level} ${event}`)
  }
  const nextUpdate = NOW + 30 * DAY_MS
  expect(await lookAt(nextUpdate - 1)).toEqual([])
  const once = ['warn trust.list_stale']
  expect(await lookAt(nextUpdate)).toEqual(once)
  expect(await lookAt(nextUpdate + DAY_MS - 1)).toEqual(once)
  expect(await lookAt(nextUpdate + DAY_MS)).toEqual([...once, ...once])
  expect(await lookAt(nextUpdate + 7 * DAY_MS - HOUR_MS)).toEqual([...once, ...once, ...once])
  const all = [...once, ...once, ...once, 'error trust.list_ended']
  expect(await lookAt(nextUpdate + 7 * DAY_MS)).toEqual(all)
  expect(await lookAt(nextUpdate + 8 * DAY_MS - 1)).toEqual(all)
})

test('a list has ended by the clock that never goes back, even when the clock of the machine was set back a year', async () => {
  const host = await hostLists(first)
  const { app, id } = await start(host)
  app.clock.set(NOW + 38 * DAY_MS)
  const setBack = { ...app.deps, wall: () => NOW - 365 * DAY_MS }
  const late = listOf({ issuedAt: NOW, sequence: 6 })
  await expect(refreshSource(setBack, id, { bytes: late, actor: 'test' })).rejects.toMatchObject({ code: 'not_yet' })
  const wall = { ...app.deps, wall: () => NOW }
  await expect(refreshSource(wall, id, { bytes: late, actor: 'test' })).rejects.toMatchObject({ code: 'expired' })
})

test('a list that was refused for its signer is looked at again soon after the signer is pinned', async () => {
  const next = await makeSigner({ name: 'C=EU, CN=Next Signer' })
  const host = await hostLists(first)
  const { app, id, look, read } = await start(host)
  host.list(pidList(next, issuers, { issuedAt: NOW, nextUpdate: NOW + 30 * DAY_MS, sequence: 6 }))
  await expect(look()).rejects.toMatchObject({ code: 'signer_unknown' })
  expect(presentSource(await read(), NOW).failure).toMatchObject({ code: 'signer_unknown', signer: next.fingerprint })
  await pinSigner(app.deps, id, next.fingerprint, 'test')
  await refreshDue(app.deps)
  expect(await read()).toMatchObject({ sequence: 6, entries: 3, failure: null })
})

test('a look that is under way when the service stops ends at once, and is no failure', async () => {
  const host = await hostLists(first)
  const { app, id, read } = await start(host)
  const stopping = new AbortController()
  const asked = Promise.withResolvers<void>()
  host.answer(async () => {
    asked.resolve()
    return await new Promise<Response>(() => {})
  })
  app.clock.advance(DAY_MS)
  const before = await read()
  const job = refreshDue(app.deps, stopping.signal)
  await asked.promise
  stopping.abort()
  await job
  expect(await readSource(app.deps, id)).toEqual(before)
})

test('a host that is silent is given up 30 seconds after the look began, redirects included, and its connection is closed', async () => {
  const host = await hostLists(first)
  const { app, look, read } = await start(host)
  const timers = holdTimers(ms => ms > 5000 && ms <= 30_000)
  const [asked, closed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  host.answer(async request => {
    if (!request.url.endsWith('/slow')) {
      app.clock.advance(12_000)
      return new Response(null, { status: 302, headers: { location: '/slow' } })
    }
    request.signal.addEventListener('abort', () => closed.resolve())
    asked.resolve()
    return await new Promise<Response>(() => {})
  })
  try {
    const looking = look()
    await asked.promise
    expect(timers.held.map(({ ms }) => ms)).toEqual([30_000, 18_000])
    timers.held[1]!.ring()
    await expect(looking).rejects.toMatchObject({
      code: 'unreachable',
      message: expect.stringContaining('its server took too long to answer'),
    })
    await closed.promise
  } finally {
    timers.restore()
  }
  expect(await read()).toMatchObject({ failure: 'unreachable', sequence: 5, entries: 2, dueAt: app.clock.now() + 15 * MINUTE_MS })
})

/** Timers of these lengths ring by hand only. */
function holdTimers(isHeld: (ms: number) => boolean) {
  const held: { ms: number; ring: () => void }[] = []
  const real = globalThis.setTimeout
  const spy = spyOn(globalThis, 'setTimeout').mockImplementation(((ring: () => void, ms = 0, ...given: unknown[]) => {
    if (!isHeld(ms)) return real(ring, ms, ...given)
    held.push({ ms, ring })
    return real(() => {}, 0)
  }) as typeof setTimeout)
  return { held, restore: () => spy.mockRestore() }
}
