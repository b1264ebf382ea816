import { afterAll, expect, test } from 'bun:test'
import { block } from '../../src/trust/blocks.ts'
import { pinSigner, unpinSigner } from '../../src/trust/lists/pins.ts'
import { refreshSource } from '../../src/trust/lists/refresh.ts'
import type { NewSource } from '../../src/trust/lists/source.ts'
import { store } from '../../src/trust/status/kept-lists.ts'
import { cleanUp, createVerification, startApp, type TestApp } from '../helpers/app.ts'
import { DAY_MS, NOW } from '../helpers/certificates.ts'
import { examine } from '../helpers/doctor.ts'
import { hostLists, startFor } from '../helpers/list-host.ts'
import { addLote, makeIssuers, pidList } from '../helpers/trusted-lists.ts'
import { fingerprintOf, makeLote, makeSigner, type WantedLote } from '../trust-lists/make.ts'

afterAll(cleanUp)

const HOUR_MS = 3_600_000
const signer = await makeSigner({ notAfter: NOW + 100 * DAY_MS })
const issuers = await makeIssuers(4)
const listOf = (wanted: WantedLote = {}, count = 4, by = signer) =>
  pidList(by, issuers.slice(0, count), {
    issuedAt: NOW - DAY_MS,
    nextUpdate: NOW + 40 * DAY_MS,
    sequence: 5,
    members: { SchemeName: [{ lang: 'en', value: 'List of providers' }] },
    ...wanted,
  })

const checkOf = async ({ deps }: TestApp, name = 'trust_lists') =>
  (await examine(deps, true, ['trust_lists', 'trust_anchors', 'status_lists'])).find(check => check.name === name)

async function start(asked: Partial<NewSource> = {}, bytes = listOf()) {
  const app = await startApp({ now: NOW })
  const { id } = await addLote(app.deps, signer, bytes, asked)
  return { app, id, bring: (next: Uint8Array) => refreshSource(app.deps, id, { bytes: next, actor: 'test' }) }
}

test('a service without lists has nothing to say about them', async () => {
  expect(await checkOf(await startApp({ now: NOW }))).toMatchObject({ status: 'not_set_up', detail: 'There are no trust lists.' })
})

test('a list in order is named with its number, dates, issuers and last look', async () => {
  const { app } = await start()
  expect(await checkOf(app)).toMatchObject({
    status: 'ok',
    detail: 'PID list: number 5, issued 2026-11-14, next 2026-12-25, 4 issuers, looked at 2026-11-15T00:00:00Z.',
  })
})

test('a live list is a warning when it is out of date, and a problem from its end on', async () => {
  const { app, id } = await start()
  app.clock.set(NOW + 40 * DAY_MS)
  expect(await checkOf(app)).toMatchObject({
    status: 'warning',
    detail: 'PID list has been out of date since 2026-12-25T00:00:00Z and counts until 2027-01-01T00:00:00Z.',
    remedy: expect.stringContaining(`trust source refresh ${id} --file LIST`),
  })
  app.clock.set(NOW + 47 * DAY_MS - 1)
  expect(await checkOf(app)).toMatchObject({ status: 'warning' })
  app.clock.advance(1)
  expect(await checkOf(app)).toMatchObject({
    status: 'problem',
    detail: 'PID list has ended on 2027-01-01T00:00:00Z: its issuers count no more.',
  })
})

test('a test list that has ended is a warning', async () => {
  const { app } = await start({ environment: 'test' })
  app.clock.set(NOW + 47 * DAY_MS)
  expect(await checkOf(app)).toMatchObject({ status: 'warning' })
})

test('a live list that ends within seven days is a warning before it is out of date', async () => {
  const { app } = await start({ graceMs: 0 })
  app.clock.set(NOW + 33 * DAY_MS)
  expect(await checkOf(app)).toMatchObject({ status: 'ok' })
  app.clock.advance(1)
  expect(await checkOf(app)).toMatchObject({ status: 'warning', detail: 'PID list counts only until 2026-12-25T00:00:00Z.' })
})

test('a live list by a signer that is not pinned is a problem that names the fingerprint', async () => {
  const next = await makeSigner({ name: 'C=EU, CN=Next Signer' })
  const host = await hostLists(listOf({ issuedAt: NOW, sequence: 6 }, 4, next))
  const app = await startFor(host)
  const { id } = await addLote(app.deps, signer, listOf(), { location: host.url() })
  await expect(refreshSource(app.deps, id, { actor: 'test' })).rejects.toMatchObject({ code: 'signer_unknown' })
  expect(await checkOf(app)).toMatchObject({
    status: 'problem',
    detail: expect.stringContaining(`PID list is signed by ${next.fingerprint}, which you have not pinned`),
    remedy: expect.stringContaining(`trust source pin ${id} ${next.fingerprint}`),
  })
})

test('a live list whose signer was unpinned is a problem', async () => {
  const { app, id } = await start()
  await pinSigner(app.deps, id, 'ab'.repeat(32), 'test')
  await unpinSigner(app.deps, id, signer.fingerprint, 'test')
  expect(await checkOf(app)).toMatchObject({
    status: 'problem',
    detail: `PID list was signed by ${signer.fingerprint}, which is not pinned any more, and counts until 2027-01-01T00:00:00Z.`,
  })
  await unpinSigner(app.deps, id, signer.fingerprint, 'test', { withdraw: true })
  expect(await checkOf(app)).toMatchObject({
    status: 'problem',
    detail: 'PID list was withdrawn with its signer: none of its issuers counts.',
  })
})

test('several bad lists are told with the remedy of each, and one list with its own once', async () => {
  const { app, id } = await start()
  app.clock.set(NOW + 47 * DAY_MS)
  await pinSigner(app.deps, id, 'ab'.repeat(32), 'test')
  await unpinSigner(app.deps, id, signer.fingerprint, 'test')
  const remedyOf = (id: string) =>
    `Look at it with "vidimus trust source refresh ${id}", or bring it: vidimus trust source refresh ${id} --file LIST`
  expect(await checkOf(app)).toMatchObject({
    detail: `PID list has ended on 2027-01-01T00:00:00Z: its issuers count no more. PID list was signed by ${signer.fingerprint}, which is not pinned any more, and counts until 2027-01-01T00:00:00Z.`,
    remedy: remedyOf(id),
  })
  app.clock.set(NOW)
  const second = await addLote(app.deps, signer, listOf({ territory: 'FI' }), { label: 'Other list' })
  app.clock.set(NOW + 47 * DAY_MS)
  expect((await checkOf(app))?.remedy?.split('\n').toSorted()).toEqual([
    `Other list: ${remedyOf(second.id)}`,
    `PID list: ${remedyOf(id)}`,
  ])
})

test('lists with the same remedy are all named beside one with another', async () => {
  const app = await startApp({ now: NOW })
  const add = (territory: string) => addLote(app.deps, signer, listOf({ territory }), { label: territory })
  for (const territory of ['DE', 'FI']) {
    const { id } = await add(territory)
    const bytes = listOf({ territory, issuedAt: NOW, sequence: 6, entities: [] })
    await refreshSource(app.deps, id, { bytes, actor: 'test' })
  }
  const remedies = async () =>
    (await checkOf(app))?.remedy
      ?.split('\n')
      .map(line => line.slice(0, 10))
      .toSorted()
  expect(await remedies()).toEqual(['DE: Ask it', 'FI: Ask it'])
  const { id } = await add('SE')
  await pinSigner(app.deps, id, 'ab'.repeat(32), 'test')
  await unpinSigner(app.deps, id, signer.fingerprint, 'test')
  expect(await remedies()).toEqual(['DE: Ask it', 'FI: Ask it', 'SE: Look a'])
})

test('a live list that fails is a warning after a day', async () => {
  const host = await hostLists()
  const app = await startFor(host)
  const { id } = await addLote(app.deps, signer, listOf(), { location: host.url() })
  host.stop()
  await expect(refreshSource(app.deps, id, { actor: 'test' })).rejects.toMatchObject({ code: 'unreachable' })
  app.clock.advance(24 * HOUR_MS)
  expect(await checkOf(app)).toMatchObject({ status: 'ok' })
  app.clock.advance(1)
  expect(await checkOf(app)).toMatchObject({
    status: 'warning',
    detail: expect.stringMatching(/^PID list could not be updated since 2026-11-15T00:00:00Z: the list could not be fetched/),
  })
})

test('a pin that ends within 30 days is a warning', async () => {
  const { app, id } = await start({}, listOf({ nextUpdate: NOW + 99 * DAY_MS }))
  app.clock.set(NOW + 70 * DAY_MS)
  expect(await checkOf(app)).toMatchObject({ status: 'ok' })
  app.clock.advance(1)
  expect(await checkOf(app)).toMatchObject({
    status: 'warning',
    detail: expect.stringMatching(/^PID list has a signer that ends on 2027-02-23/),
    remedy: `Pin its successor: vidimus trust source pin ${id} FINGERPRINT`,
  })
})

test('a list that lost half of its issuers, or whose number went back, is a warning', async () => {
  const halved = await start()
  await halved.bring(listOf({ issuedAt: NOW, sequence: 6 }, 2))
  expect(await checkOf(halved.app)).toMatchObject({ status: 'warning', detail: 'PID list names 2 issuers, and 4 before.' })
  const back = await start()
  await back.bring(listOf({ issuedAt: NOW, sequence: 2 }, 3))
  expect(await checkOf(back.app)).toMatchObject({ status: 'warning', detail: 'PID list has number 2, and 5 before.' })
})

test('a live list that calls itself a test list is a warning', async () => {
  const { app } = await start({}, listOf({ members: { SchemeName: [{ lang: 'en', value: 'EU:TEST list of providers' }] } }))
  expect(await checkOf(app)).toMatchObject({ status: 'warning', detail: expect.stringContaining('calls itself a test list') })
})

test('a live list that names nobody any more is a problem, and so are the templates it was for', async () => {
  const { app, bring } = await start()
  const { liveKey } = await app.tenant()
  await createVerification(app, liveKey)
  expect(await checkOf(app, 'trust_anchors')).toMatchObject({
    status: 'ok',
    detail: '4 issuers from 1 list are trusted for live sessions.',
  })
  await bring(makeLote({ issuedAt: NOW, nextUpdate: NOW + 40 * DAY_MS, sequence: 6, entities: [] }, signer))
  expect(await checkOf(app)).toMatchObject({ status: 'problem', detail: 'PID list names no issuer that counts any more.' })
  expect(await checkOf(app, 'trust_anchors')).toMatchObject({
    status: 'problem',
    remedy: expect.stringContaining('vidimus trust source add --preset eu-av --env live'),
  })
})

test('issuers of a list that has ended cover no template', async () => {
  const { app } = await start()
  const { liveKey } = await app.tenant()
  await createVerification(app, liveKey)
  app.clock.set(NOW + 47 * DAY_MS)
  expect(await checkOf(app, 'trust_anchors')).toMatchObject({ status: 'problem' })
})

test('issuers that are blocked in live cover no template; blocks in test change nothing', async () => {
  const { app } = await start()
  const { liveKey } = await app.tenant()
  await createVerification(app, liveKey)
  const refuse = (environment: 'test' | 'live', { der }: (typeof issuers)[number]) =>
    block(app.deps, { environment, fingerprint: fingerprintOf(der), reason: 'stolen key' }, 'test')
  for (const issuer of issuers) await refuse('test', issuer)
  await refuse('live', issuers[0]!)
  const detail = '3 issuers from 1 list are trusted for live sessions.'
  expect(await checkOf(app, 'trust_anchors')).toMatchObject({ status: 'ok', detail })
  for (const issuer of issuers.slice(1)) await refuse('live', issuer)
  expect(await checkOf(app, 'trust_anchors')).toMatchObject({
    status: 'problem',
    detail: 'No issuer is trusted for live sessions: every session will fail.',
  })
})

test('live PIDs on a machine without a way out are a warning about their status lists', async () => {
  const app = await startApp({ now: NOW, config: { trustRefresh: false } })
  expect(await checkOf(app, 'status_lists')).toMatchObject({ status: 'ok' })
  await addLote(app.deps, signer, listOf())
  expect(await checkOf(app, 'status_lists')).toMatchObject({
    status: 'warning',
    detail: expect.stringContaining('they end as status_unknown'),
  })
})

test('kept lists of revoked documents are a problem when they ended, and a warning in the last quarter of their age', async () => {
  const app = await startApp({ now: NOW, config: { trustRefresh: false, statusMaxAgeMs: 24 * HOUR_MS } })
  expect(await checkOf(app, 'status_lists')).toMatchObject({ status: 'ok' })
  const bytes = Buffer.of(1)
  const dates = { issuedAt: NOW, endsAt: NOW + 30 * HOUR_MS, ttlMs: null, fetchedAt: NOW }
  await app.deps.write(tx =>
    store(
      tx,
      app.deps,
      { uri: 'https://issuer.example/1', media: 'statuslist+jwt', bytes, ...dates, from: 'bundle' },
      { mayInsert: true },
    ),
  )
  app.clock.advance(17 * HOUR_MS)
  expect(await checkOf(app, 'status_lists')).toMatchObject({
    status: 'ok',
    detail: expect.stringContaining('1 list of revoked documents may be used for 24 hours'),
  })
  app.clock.advance(2 * HOUR_MS)
  expect(await checkOf(app, 'status_lists')).toMatchObject({
    status: 'warning',
    detail: expect.stringMatching(/nearly too old.*issuer\.example \(2026.*older than 24 hours/),
    remedy: expect.stringContaining('--status'),
  })
  app.clock.advance(11 * HOUR_MS)
  expect(await checkOf(app, 'status_lists')).toMatchObject({
    status: 'problem',
    detail: expect.stringMatching(/have ended: issuer\.example/),
  })
  expect(await checkOf(await startApp({ now: NOW }), 'status_lists')).toMatchObject({ status: 'ok' })
})
