// Lists of issuers on the dashboard: who may do what, and what a list must be.
import { afterAll, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isoUtc } from '../../src/base/time.ts'
import type { Overview } from '../../src/dashboard/overview/schema.ts'
import type {
  CheckedList,
  RefreshedSource,
  RevocationLists,
  TrustAnchor,
  TrustBlock,
  TrustSource,
  TrustSourceDetail,
  TrustSources,
} from '../../src/dashboard/settings/trust/schema.ts'
import { trustSources } from '../../src/db/schema/trust.ts'
import { JSON_BYTES_MAX } from '../../src/http/body.ts'
import { exportBundle } from '../../src/trust/bundle/export.ts'
import { store } from '../../src/trust/status/kept-lists.ts'
import { cleanUp, startWithTenant, type TestApp } from '../helpers/app.ts'
import { DAY_MS, NOW } from '../helpers/certificates.ts'
import { type Browser, joinMember, outcome, setUpOwner } from '../helpers/dashboard.ts'
import { MDL, makeIssuer, makeSigner, makeVical, type VicalEntry } from '../trust-lists/make.ts'

afterAll(cleanUp)

const signer = await makeSigner()
const [first, second] = [await makeIssuer(), await makeIssuer()]
const entriesOf = (...issuers: { der: Uint8Array }[]): VicalEntry[] => issuers.map(({ der }) => ({ certificate: der }))
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64')

const FIRST = makeVical({ issueId: 5, date: NOW - DAY_MS, entries: entriesOf(first) }, signer)
const SECOND = makeVical({ issueId: 6, date: NOW, entries: entriesOf(first, second) }, signer)

const bodyOf = (bytes: Uint8Array = FIRST, changed: object = {}) => ({
  environment: 'live',
  kind: 'vical',
  label: 'Utopia',
  list: base64(bytes),
  signers: [signer.fingerprint],
  ...changed,
})

async function start() {
  const started = await startWithTenant({ now: NOW })
  return { ...started, boss: await setUpOwner(started.app), mia: await joinMember(started.app, started.id, 'mia') }
}

const add = (browser: Browser, body = bodyOf()) => browser.post<TrustSource>('/trust/sources', body)
const listed = async (browser: Browser) => (await browser.get<TrustSources>('/trust/sources')).body.data

/** The password becomes older than five minutes. */
const wait = (app: TestApp) => app.clock.advance(5 * 60_000 + 1)

test('kept lists of revoked documents are shown to everybody, and refreshed by owners', async () => {
  const { app, boss, mia } = await start()
  const uri = 'https://gone.example/status/1'
  await app.deps.write(tx =>
    store(
      tx,
      app.deps,
      {
        ...{ uri, media: 'statuslist+jwt', bytes: Buffer.of(1), issuedAt: NOW - DAY_MS, endsAt: NOW + DAY_MS },
        ...{ ttlMs: null, fetchedAt: NOW, from: 'bundle' },
      },
      { mayInsert: true },
    ),
  )
  const list = { uri, media: 'statuslist+jwt', from: 'bundle', wanted: false, as_of: isoUtc(NOW), good_until: isoUtc(NOW) }
  const { body } = await mia.get<RevocationLists>('/trust/revocation')
  expect(body).toMatchObject({ data: [list], max_age_hours: 0 })
  expect(outcome(await mia.post('/trust/revocation/refresh'))).toBe('403 owner_required')
  const refreshed = (await boss.post<RevocationLists>('/trust/revocation/refresh')).body.data
  expect(refreshed).toMatchObject([{ ...list, problem: expect.stringContaining('could not be fetched') }])
})

describe('rights', () => {
  test('a member reads lists and blocks, and changes neither', async () => {
    const { boss, mia } = await start()
    const { id } = (await add(boss)).body
    expect((await listed(mia)).map(({ label, state, entries }) => [label, state, entries])).toEqual([['Utopia', 'fresh', 1]])
    expect((await mia.get(`/trust/sources/${id}`)).status).toBe(200)
    expect((await mia.get('/trust/blocks')).status).toBe(200)
    const block = { environment: 'live', fingerprint: '0'.repeat(64), reason: 'Lost' }
    for (const refused of [
      await add(mia),
      await mia.post('/trust/sources/check', { list: base64(FIRST) }),
      await mia.delete(`/trust/sources/${id}`),
      await mia.post(`/trust/sources/${id}/refresh`, { list: base64(SECOND) }),
      await mia.post(`/trust/sources/${id}/pins`, { signer: '0'.repeat(64) }),
      await mia.delete(`/trust/sources/${id}/pins`, { signer: signer.fingerprint }),
      await mia.post('/trust/blocks', block),
      await mia.delete('/trust/blocks', block),
    ])
      expect(outcome(refused)).toBe('403 owner_required')
    expect(await listed(boss)).toHaveLength(1)
  })

  test('every change of trust asks for a fresh authentication; a refresh does not', async () => {
    const { app, boss } = await start()
    const { id } = (await add(boss)).body
    wait(app)
    const block = { environment: 'live', fingerprint: '0'.repeat(64), reason: 'Lost' }
    expect(outcome(await add(boss))).toBe('403 reauthentication_required')
    expect(outcome(await boss.post(`/trust/sources/${id}/pins`, { signer: '0'.repeat(64) }))).toBe(
      '403 reauthentication_required',
    )
    expect(outcome(await boss.post('/trust/blocks', block))).toBe('403 reauthentication_required')
    expect(outcome(await boss.delete('/trust/blocks', { environment: 'live', fingerprint: block.fingerprint }))).toBe(
      '403 reauthentication_required',
    )
    expect((await boss.post(`/trust/sources/${id}/refresh`, { list: base64(SECOND) })).status).toBe(200)
    expect(outcome(await boss.delete(`/trust/sources/${id}`))).toBe('403 reauthentication_required')
  })

  test('a page of another origin adds nothing', async () => {
    const { boss } = await start()
    const foreign = await boss.post('/trust/sources', bodyOf(), { headers: { origin: 'https://evil.example' } })
    expect(outcome(foreign)).toBe('403 csrf_refused')
    expect(await listed(boss)).toEqual([])
  })

  test('a file of the server is never read, whatever its spelling', async () => {
    const { app, boss } = await start()
    const file = join(app.dir, 'list.vical')
    writeFileSync(file, FIRST)
    for (const location of [
      `file://${file}`,
      `FILE://${file}`,
      ` file://${file}`,
      `file:${file}`,
      file,
      'http://lists.example/x',
    ]) {
      const body = { ...bodyOf(), list: undefined, location }
      expect([location, outcome(await boss.post('/trust/sources', body))]).toEqual([location, '400 invalid_request'])
      expect([location, outcome(await boss.post('/trust/sources/check', { location }))]).toEqual([
        location,
        '400 invalid_request',
      ])
    }
    expect(await listed(boss)).toEqual([])
  })
})

describe('a look', () => {
  test('a changed list is refused with its code', async () => {
    const { boss } = await start()
    const spoilt = makeVical({ entries: entriesOf(first) }, signer, { signature: bytes => bytes.map(byte => byte ^ 1) })
    const { body } = await boss.post<CheckedList>('/trust/sources/check', { list: base64(spoilt) })
    expect(body).toMatchObject({ list: null, refused: { code: 'signature_invalid' } })
  })

  test('a preset, an address or a file is needed, and only one', async () => {
    const { boss } = await start()
    for (const body of [{}, { preset: 'eu-av', list: base64(FIRST) }, { preset: 'nosuch' }, { list: '***' }])
      expect([body, outcome(await boss.post('/trust/sources/check', body))]).toEqual([body, '400 invalid_request'])
  })

  test('a list may be larger than other bodies; a body above its own limit is refused', async () => {
    const { boss } = await start()
    const many = Array.from({ length: 200 }, () => entriesOf(first, second)).flat()
    const large = makeVical({ entries: many }, signer)
    expect(base64(large).length).toBeGreaterThan(JSON_BYTES_MAX)
    const { body } = await boss.post<CheckedList>('/trust/sources/check', { list: base64(large) })
    expect(body.list?.entries).toBe(400)
    const huge = await boss.post('/trust/sources/check', { list: 'A'.repeat(6 * 1024 * 1024) })
    expect([huge.status, huge.text]).toEqual([413, expect.stringContaining('larger than 6144 KiB')])
    const plain = await boss.post('/trust/blocks', { environment: 'live', fingerprint: 'A'.repeat(JSON_BYTES_MAX), reason: 'x' })
    expect(plain.status).toBe(413)
  })

  test('the presets of both environments are listed with the place to compare', async () => {
    const { mia } = await start()
    const { presets } = (await mia.get<TrustSources>('/trust/sources')).body
    expect(presets.find(({ name }) => name === 'aamva')).toMatchObject({ environment: 'live', terms: expect.any(String) })
    expect(new Set(presets.map(({ environment }) => environment))).toEqual(new Set(['test', 'live']))
    for (const { compare_at } of presets) expect(compare_at).not.toBe('')
  })
})

describe('a list', () => {
  test('an added list shows its issuers, which are not among the single ones', async () => {
    const { boss } = await start()
    const added = await add(boss)
    expect(added.status).toBe(201)
    expect(added.body).toMatchObject({ label: 'Utopia', location: null, sequence: 5, signer: signer.fingerprint, failure: null })
    const { anchors } = (await boss.get<TrustSourceDetail>(`/trust/sources/${added.body.id}`)).body
    expect(anchors).toMatchObject([{ trusted_for: MDL, use: 'both', source: added.body.id }])
    expect((await boss.get<{ data: TrustAnchor[] }>('/trust')).body.data).toEqual([])
    expect(outcome(await boss.delete(`/trust/${anchors[0]?.id}`))).toBe('400 invalid_request')
  })

  test('a list whose signer was not confirmed is refused', async () => {
    const { boss } = await start()
    const refused = await add(boss, bodyOf(FIRST, { signers: ['0'.repeat(64)] }))
    expect(outcome(refused)).toBe('400 list_refused')
    expect(refused.text).toContain(signer.fingerprint)
    expect(outcome(await add(boss, bodyOf(FIRST, { signers: [] })))).toBe('400 invalid_request')
    expect(await listed(boss)).toEqual([])
  })

  test('a list of a new signer is refused until the signer is pinned; the last pin stays', async () => {
    const { boss } = await start()
    const { id } = (await add(boss)).body
    const other = await makeSigner({ name: 'CN=Next Signer' })
    const list = base64(makeVical({ date: NOW, issueId: 9, entries: entriesOf(second) }, other))
    const path = `/trust/sources/${id}`
    expect((await boss.post<RefreshedSource>(`${path}/refresh`, { list })).body.refused?.code).toBe('signer_unknown')
    expect(outcome(await boss.post(`${path}/pins`, { signer: 'no fingerprint' }))).toBe('400 invalid_request')
    const pinned = await boss.post<TrustSource>(`${path}/pins`, { signer: other.pem })
    expect(pinned.body.pins.map(({ fingerprint }) => fingerprint).toSorted()).toEqual(
      [signer.fingerprint, other.fingerprint].toSorted(),
    )
    expect((await boss.post<RefreshedSource>(`${path}/refresh`, { list })).body.outcome).toBe('accepted')
    expect((await boss.delete<TrustSource>(`${path}/pins`, { signer: signer.fingerprint })).body.pins).toHaveLength(1)
    expect(outcome(await boss.delete(`${path}/pins`, { signer: other.fingerprint }))).toBe('400 invalid_request')
  })

  test('a removed list is gone with its issuers, and an unknown one is 404', async () => {
    const { boss } = await start()
    const { id } = (await add(boss)).body
    expect((await boss.delete(`/trust/sources/${id}`)).status).toBe(200)
    expect(await listed(boss)).toEqual([])
    for (const refused of [
      await boss.get(`/trust/sources/${id}`),
      await boss.delete(`/trust/sources/${id}`),
      await boss.post(`/trust/sources/${id}/refresh`, {}),
      await boss.post(`/trust/sources/${id}/pins`, { signer: '0'.repeat(64) }),
      await boss.delete(`/trust/sources/${id}/pins`, { signer: '0'.repeat(64) }),
    ])
      expect(outcome(refused)).toBe('404 source_not_found')
  })
})

test('a block is listed with its reason until it is lifted', async () => {
  const { boss } = await start()
  const block = { environment: 'live', fingerprint: `${'AB:'.repeat(31)}AB`, reason: 'Key was stolen' }
  expect((await boss.post<TrustBlock>('/trust/blocks', block)).body.fingerprint).toBe('ab'.repeat(32))
  expect(outcome(await boss.post('/trust/blocks', block))).toBe('400 invalid_request')
  expect(outcome(await boss.post('/trust/blocks', { ...block, fingerprint: 'short' }))).toBe('400 invalid_request')
  const blocks = async () => (await boss.get<{ data: TrustBlock[] }>('/trust/blocks')).body.data
  expect(await blocks()).toMatchObject([{ environment: 'live', reason: 'Key was stolen' }])
  const { environment, fingerprint } = block
  expect((await boss.delete('/trust/blocks', { environment, fingerprint })).status).toBe(200)
  expect(outcome(await boss.delete('/trust/blocks', { environment, fingerprint }))).toBe('400 invalid_request')
  expect(await blocks()).toEqual([])
})

test('importing a bundle is for owners with a fresh password, and a spoilt or too large one is refused', async () => {
  const { app, boss, mia } = await start()
  const bundle = Buffer.from((await exportBundle(app.deps, {}, 'test')).bytes).toString()
  expect(outcome(await mia.post('/trust/bundle', { bundle }))).toBe('403 owner_required')
  expect(outcome(await boss.post('/trust/bundle', { bundle: 'no bundle' }))).toBe('400 invalid_request')
  expect((await boss.post('/trust/bundle', { bundle: 'A'.repeat(16 * 1024 * 1024 + 1) })).status).toBe(400)
  expect((await boss.post('/trust/bundle', { bundle: 'A'.repeat(17 * 1024 * 1024) })).status).toBe(413)
  wait(app)
  expect(outcome(await boss.post('/trust/bundle', { bundle }))).toBe('403 reauthentication_required')
})

describe('the overview', () => {
  const codes = async (browser: Browser, id: string) =>
    (await browser.get<Overview>(`/tenants/${id}/overview?environment=live`)).body.attention
      .filter(({ code }) => code.startsWith('trust_'))
      .map(({ code }) => code)

  test('a list that is out of date, and one that has ended, are named', async () => {
    const { app, id, boss } = await start()
    await add(boss)
    expect(await codes(boss, id)).toEqual([])
    app.clock.advance(31 * DAY_MS)
    await boss.logIn('olivia')
    expect(await codes(boss, id)).toEqual(['trust_list_stale'])
    app.clock.advance(30 * DAY_MS)
    await boss.logIn('olivia')
    expect(await codes(boss, id)).toEqual(['trust_list_ended'])
  })

  test('a list whose signer changed, one that is refused, and one that is away for a day are named', async () => {
    const { app, id, boss } = await start()
    await add(boss)
    const fail = async (failure: string) => {
      const changes = { failure, failureDetail: 'x', failingSince: app.clock.now() }
      await app.deps.writeSettings(async tx => void (await tx.update(trustSources).set(changes)))
    }
    await fail('signer_unknown')
    expect(await codes(boss, id)).toEqual(['trust_signer_changed'])
    await fail('rolled_back')
    expect(await codes(boss, id)).toEqual(['trust_list_refused'])
    await fail('unreachable')
    expect(await codes(boss, id)).toEqual([])
    app.clock.advance(DAY_MS)
    await boss.logIn('olivia')
    expect(await codes(boss, id)).toEqual(['trust_list_refused'])
  })
})
