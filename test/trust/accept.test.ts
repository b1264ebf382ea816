// Which lists are taken: each refusal leaves the list before in force, with its anchors, and one audit record.
import { afterAll, expect, test } from 'bun:test'
import { pinSigner, unpinSigner } from '../../src/trust/lists/pins.ts'
import { refreshSource } from '../../src/trust/lists/refresh.ts'
import { readSource } from '../../src/trust/lists/sources.ts'
import { ListProblem, readAnchors, TrustProblem } from '../../src/trust/settings.ts'
import { cleanUp, type Installation, openInstallation } from '../helpers/app.ts'
import { DAY_MS, NOW } from '../helpers/certificates.ts'
import { addLote, makeIssuers, pidList, provider, trustRecords } from '../helpers/trusted-lists.ts'
import { LOTE, makeIssuer, makeLote, makeSigner, makeVical, SERVICE, type WantedLote } from '../trust-lists/make.ts'

afterAll(cleanUp)

const HOUR_MS = 3_600_000
const signer = await makeSigner()
const issuers = await makeIssuers(4)
const issuedAt = NOW - DAY_MS
const listOf = (wanted: WantedLote = {}, count = 2, by = signer) => pidList(by, issuers.slice(0, count), { issuedAt, ...wanted })

/** A service with one source, whose list has number 5. */
async function start() {
  const app = await openInstallation({ now: NOW })
  const first = listOf({ sequence: 5 })
  const { id } = await addLote(app.deps, signer, first)
  return { app, id, first, bring: (bytes: Uint8Array) => refreshSource(app.deps, id, { bytes, actor: 'test' }) }
}

const anchorIds = async ({ deps }: Installation) => (await readAnchors(deps)).map(({ id }) => id).toSorted()

/** Brings a list that must be refused, and gives the problem. */
async function refusal({ app, id, bring }: Awaited<ReturnType<typeof start>>, bytes: Uint8Array): Promise<ListProblem> {
  const before = { ids: await anchorIds(app), source: await readSource(app.deps, id), records: await trustRecords(app.deps) }
  const problem = await bring(bytes).then(
    () => undefined,
    error => error,
  )
  expect(problem).toBeInstanceOf(ListProblem)
  expect(await anchorIds(app)).toEqual(before.ids)
  expect(await readSource(app.deps, id)).toEqual(before.source)
  const [record, ...others] = (await trustRecords(app.deps)).slice(before.records.length)
  expect(others).toEqual([])
  expect(record).toMatchObject({ action: 'trust.list_refused', actor: 'test', details: { id, code: problem.code } })
  return problem
}

test('a newer list replaces the anchors: those that stay keep their ids, and the difference is kept and on the chain', async () => {
  const { app, id, bring } = await start()
  const before = await readAnchors(app.deps)
  expect(before.map(({ trustedFor, use, entity, country }) => ({ trustedFor, use, entity, country }))).toContainEqual({
    trustedFor: 'urn:eudi:pid:fi:*',
    use: 'both',
    entity: 'Provider 1',
    country: 'FI',
  })
  const newer = pidList(signer, [issuers[1]!, issuers[2]!], { issuedAt: NOW, sequence: 6 })
  const { outcome, source } = await bring(newer)
  expect({ outcome, sequence: source.sequence, entries: source.entries }).toEqual({
    outcome: 'accepted',
    sequence: 6,
    entries: 2,
  })
  const [added, removed] = [source.difference?.added, source.difference?.removed]
  expect([added, removed].map(all => all?.length)).toEqual([1, 1])
  const { certificate } = issuers[1]
    ? (await readAnchors(app.deps)).find(row => before.some(({ id }) => id === row.id))!
    : before[0]!
  const staying = before.filter(row => row.certificate === certificate).map(row => row.id)
  expect(await anchorIds(app)).toEqual(expect.arrayContaining(staying))
  expect(staying).toHaveLength(3)
  expect((await trustRecords(app.deps)).map(({ action }) => action)).toEqual([
    'trust.source_added',
    'trust.list_accepted',
    'trust.list_accepted',
  ])
  expect((await trustRecords(app.deps)).at(-1)?.details).toMatchObject({
    id,
    sequence: 6,
    signer: signer.fingerprint,
    digest: source.digest,
    added,
    removed,
    added_count: 1,
    removed_count: 1,
  })
  expect(app.logs.filter(line => line.includes('trust.list_accepted'))).toHaveLength(2)
})

test('the same bytes again change nothing but the time of the look', async () => {
  const { app, id, first, bring } = await start()
  const before = await readSource(app.deps, id)
  // Longer than two looks can be apart.
  app.clock.advance(DAY_MS)
  const { outcome, source } = await bring(first)
  expect(outcome).toBe('unchanged')
  const { checkedAt, dueAt, ...rest } = source
  expect(checkedAt).toBe(NOW + DAY_MS)
  expect(dueAt).toBeGreaterThan(before.dueAt)
  expect(before).toMatchObject(rest)
  expect(await trustRecords(app.deps)).toHaveLength(2)
})

test('a list by a signer that is not pinned is refused, and the message has the fingerprint', async () => {
  const stranger = await makeSigner({ name: 'C=EU, CN=Stranger' })
  const source = await start()
  const { code, message } = await refusal(source, listOf({ issuedAt: NOW }, 3, stranger))
  expect(code).toBe('signer_unknown')
  expect(message).toStartWith(`PID list: signed by ${stranger.fingerprint}, which you have not pinned; compare it`)
  expect(message).toEndWith(`then "vidimus trust source pin ${source.id} ${stranger.fingerprint}"`)
})

test('a signer that the last list announced is refused until it is pinned', async () => {
  const next = await makeSigner({ name: 'C=EU, CN=Next Signer' })
  const source = await start()
  await source.bring(listOf({ issuedAt: NOW, sequence: 6, pointers: [{ certificates: [next.der] }] }))
  const coming = listOf({ issuedAt: NOW + 1000, sequence: 7 }, 3, next)
  const { code, message } = await refusal(source, coming)
  expect(code).toBe('signer_unknown')
  expect(message).toContain('the last list announced it')
  await pinSigner(source.app.deps, source.id, next.fingerprint, 'test')
  expect((await source.bring(coming)).source).toMatchObject({ sequence: 7, signer: next.fingerprint, entries: 3 })
  const { pins } = await readSource(source.app.deps, source.id)
  expect(pins.map(({ certificate }) => certificate?.startsWith('-----BEGIN CERTIFICATE-----'))).toEqual([true, true])
  expect((await trustRecords(source.app.deps)).find(({ action }) => action === 'trust.source_changed')?.details).toMatchObject({
    before: { pins: [signer.fingerprint] },
    after: { pins: [signer.fingerprint, next.fingerprint].toSorted() },
  })
})

test('a list by a pinned signer whose certificate has expired is refused', async () => {
  const ending = await makeSigner({ notAfter: NOW + 2 * DAY_MS })
  const app = await openInstallation({ now: NOW })
  const { id } = await addLote(app.deps, ending, listOf({}, 2, ending))
  app.clock.advance(3 * DAY_MS)
  const newer = listOf({ issuedAt: NOW + 3 * DAY_MS }, 3, ending)
  await expect(refreshSource(app.deps, id, { bytes: newer, actor: 'test' })).rejects.toMatchObject({ code: 'signer_expired' })
})

test('another list by the same signer is refused', async () => {
  const source = await start()
  const wallets = makeLote({ type: LOTE.wallets, issuedAt: NOW, entities: [provider(issuers[0]!)] }, signer)
  const { code, message } = await refusal(source, wallets)
  expect(code).toBe('wrong_list')
  expect(message).toMatch(/^PID list: this is .*EUWalletProvidersList of EU, the source is for another$/)
  expect((await refusal(source, listOf({ issuedAt: NOW, territory: 'FI' }))).code).toBe('wrong_list')
})

test('a list that was issued a second earlier is refused, whatever its number', async () => {
  const source = await start()
  const { code, message } = await refusal(source, listOf({ issuedAt: issuedAt - 1000, sequence: 99 }))
  expect(code).toBe('rolled_back')
  expect(message).toEndWith('issued 2026-11-13T23:59:59.000Z, which is not after the accepted one of 2026-11-14T00:00:00.000Z')
})

test('the higher number wins among two lists of the same second', async () => {
  const source = await start()
  expect((await refusal(source, listOf({ sequence: 5 }, 3))).code).toBe('rolled_back')
  expect((await refusal(source, listOf({ sequence: 4 }, 3))).code).toBe('rolled_back')
  expect((await source.bring(listOf({ sequence: 6 }, 3))).outcome).toBe('accepted')
})

test('a VICAL with an earlier date is refused, whatever its number', async () => {
  const app = await openInstallation({ now: NOW })
  const vical = (date: number, issueId: number, count = 1) =>
    makeVical({ date, issueId, entries: issuers.slice(0, count).map(({ der }) => ({ certificate: der })) }, signer)
  const { id } = await addLote(app.deps, signer, vical(issuedAt, 10), { kind: 'vical' })
  const bring = (bytes: Uint8Array) => refreshSource(app.deps, id, { bytes, actor: 'test' })
  await expect(bring(vical(issuedAt - 1000, 11, 2))).rejects.toMatchObject({ code: 'rolled_back' })
  expect((await bring(vical(NOW, 9, 2))).source.entries).toBe(2)
})

test('a later list with a lower number is accepted, and the log says that its number went back', async () => {
  const { app, bring } = await start()
  expect((await bring(listOf({ issuedAt: NOW, sequence: 2 }, 3))).source).toMatchObject({ sequence: 2, entries: 3 })
  expect(app.logs.filter(line => line.includes('trust.number_went_back'))).toEqual([expect.stringContaining('from 5 to 2')])
})

test('a list that is dated more than a day ahead is refused, and one of 24 hours is not', async () => {
  const source = await start()
  const { code, message } = await refusal(source, listOf({ issuedAt: NOW + DAY_MS + 1000 }))
  expect(code).toBe('not_yet')
  expect(message).toContain('check the clock')
  expect((await source.bring(listOf({ issuedAt: NOW + DAY_MS }))).outcome).toBe('accepted')
})

test('an ETSI list without a next update is refused: its operator has closed it', async () => {
  expect((await refusal(await start(), listOf({ issuedAt: NOW, nextUpdate: null }))).code).toBe('closed')
})

test('a list is refused from its end on, not a second before', async () => {
  const source = await start()
  const ended = listOf({ issuedAt: NOW, nextUpdate: NOW + HOUR_MS })
  source.app.clock.advance(7 * DAY_MS + HOUR_MS)
  expect((await refusal(source, ended)).code).toBe('expired')
  const alive = listOf({ issuedAt: NOW, nextUpdate: NOW + HOUR_MS + 1000 })
  expect((await source.bring(alive)).outcome).toBe('accepted')
})

test('a list of 2,001 certificates is refused', async () => {
  const source = await start()
  const many = Array.from({ length: 2001 }, () => issuers[0]!.der)
  const list = makeLote({ issuedAt: NOW, entities: [{ services: [{ certificates: many }] }] }, signer)
  expect((await refusal(source, list)).code).toBe('too_many')
})

test('entries that cannot be used are skipped and counted, and do not refuse their list', async () => {
  const { app, bring } = await start()
  const expired = await makeIssuer({ notBefore: NOW - 90 * DAY_MS, notAfter: NOW - DAY_MS })
  const services = [
    { certificates: [issuers[0]!.der] },
    { certificates: [Uint8Array.of(1, 2, 3), new Uint8Array(8193), expired.der] },
    { members: { ServiceDigitalIdentity: { OtherIds: ['did:example:1'] } } },
    { type: SERVICE.wrpacIssuance, certificates: [issuers[1]!.der] },
  ]
  const { source } = await bring(makeLote({ issuedAt: NOW, entities: [{ services }] }, signer))
  expect(source.entries).toBe(1)
  expect(source.skipped).toMatchObject({ unreadable: 1, too_large: 1, expired: 1, no_certificate: 1, other_type: 1 })
  expect(await readAnchors(app.deps)).toHaveLength(2)
})

test.each([
  ['without any entry', (sequence: number) => makeLote({ issuedAt: NOW, sequence, entities: [] }, signer)],
  [
    'whose entries are all for something else',
    (sequence: number) =>
      makeLote(
        { issuedAt: NOW, sequence, entities: [{ services: [{ type: SERVICE.wrpacIssuance, certificates: [issuers[0]!.der] }] }] },
        signer,
      ),
  ],
])('a newer list %s is accepted and leaves no anchor', async (_, make) => {
  const { app, bring } = await start()
  const { outcome, source } = await bring(make(6))
  expect({ outcome, entries: source.entries }).toEqual({ outcome: 'accepted', entries: 0 })
  expect(await readAnchors(app.deps)).toEqual([])
  expect(app.logs.filter(line => line.includes('trust.entries_halved'))).toHaveLength(1)
})

test('a source is not added with a list that has nothing that counts', async () => {
  const app = await openInstallation({ now: NOW })
  const adding = addLote(app.deps, signer, makeLote({ entities: [] }, signer))
  await expect(adding).rejects.toMatchObject({ code: 'empty' })
  await expect(adding).rejects.toBeInstanceOf(TrustProblem)
  expect(await trustRecords(app.deps)).toEqual([])
})

test('entries that were withdrawn stay for the explanation only', async () => {
  const { app, bring } = await start()
  const withdrawn = 'http://uri.etsi.org/TrstSvc/TrustedList/Svcstatus/withdrawn'
  const services = [
    { certificates: [issuers[0]!.der] },
    { certificates: [issuers[1]!.der], status: withdrawn, since: NOW - DAY_MS },
  ]
  const { source } = await bring(makeLote({ issuedAt: NOW, entities: [{ services }] }, signer))
  expect(source).toMatchObject({ entries: 1, withdrawn: 1, difference: { removedCount: 1, addedCount: 0 } })
  expect((await readAnchors(app.deps)).filter(({ use }) => use === 'none').map(({ since }) => since)).toEqual([
    NOW - DAY_MS,
    NOW - DAY_MS,
  ])
})

test('the later of two lists brought at once stays, in either order', async () => {
  for (const order of [0, 1]) {
    const { app, id, bring } = await start()
    const lists = [listOf({ issuedAt: NOW, sequence: 6 }, 3), listOf({ issuedAt: NOW + 1000, sequence: 7 }, 4)]
    const results = await Promise.allSettled((order === 0 ? lists : lists.toReversed()).map(bring))
    expect(results.filter(({ status }) => status === 'fulfilled').length).toBeGreaterThan(0)
    expect(await readSource(app.deps, id)).toMatchObject({ sequence: 7, entries: 4 })
  }
})

test('a list that was judged before a later one was taken is refused under the lock, and so is one whose signer was unpinned', async () => {
  const { app, id, bring } = await start()
  const { deps } = app
  /** Does something else between the reading of a list and its transaction. */
  const after = (other: () => Promise<unknown>): typeof deps => ({
    ...deps,
    writeSettings: async work => {
      await other()
      return await deps.writeSettings(work)
    },
  })
  const [later, latest] = [listOf({ issuedAt: NOW, sequence: 6 }, 3), listOf({ issuedAt: NOW + 1000, sequence: 7 }, 4)]
  const late = { bytes: later, actor: 'test' }
  await expect(refreshSource(after(once(() => bring(latest))), id, late)).rejects.toMatchObject({ code: 'rolled_back' })
  expect(await readSource(deps, id)).toMatchObject({ sequence: 7, entries: 4 })
  await pinSigner(deps, id, 'ab'.repeat(32), 'test')
  const unpin = once(() => unpinSigner(deps, id, signer.fingerprint, 'test'))
  const unpinned = { bytes: listOf({ issuedAt: NOW + 2000, sequence: 8 }), actor: 'test' }
  await expect(refreshSource(after(unpin), id, unpinned)).rejects.toMatchObject({ code: 'signer_unknown' })
  expect(await readSource(deps, id)).toMatchObject({ sequence: 7 })
})

function once(act: () => Promise<unknown>): () => Promise<unknown> {
  let acting: Promise<unknown> | undefined
  return async () => {
    acting ??= act()
    await acting
  }
}

/** Self-signed, with a key on brainpoolP256r1. */
const BRAINPOOL =
  'MIIBpzCCAU6gAwIBAgIUF0c0eWc99hLblt9mBTWsz2UbNTgwCgYIKoZIzj0EAwIwKDELMAkGA1UEBhMCREUxGTAXBgNVBAMMEEJyYWlucG9vbCBJc3N1ZXIw' +
  'IBcNMjYxMTE2MTAyNTU0WhgPMjA1MTA3MDgxMDI1NTRaMCgxCzAJBgNVBAYTAkRFMRkwFwYDVQQDDBBCcmFpbnBvb2wgSXNzdWVyMFowFAYHKoZIzj0CAQYJ' +
  'KyQDAwIIAQEHA0IABFByIq5mkJSWe2SJxcHQ1lhAYe+E9uzKI/x+BUbFxDbmKUUarKdglMbbEyVfNo3Erl/MFlu271zFyJvjuE4jdqqjUzBRMB0GA1UdDgQW' +
  'BBQL42eH00IfGjBVWd4vyA9XSMx3MjAfBgNVHSMEGDAWgBQL42eH00IfGjBVWd4vyA9XSMx3MjAPBgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0cAMEQC' +
  'IDioNGdpVP/nLY4TXekejwSPjTq3ldo5jfBpytECs29TAiAJwR+LQZFDIMdO99FSDZXPcOV+ToLNACcL6Lk6NOOcOQ=='

test('an issuer with a key on a brainpool curve is left out and counted, and the rest of the list is taken', async () => {
  const { app, bring } = await start()
  const { source } = await bring(pidList(signer, [issuers[0]!, { der: Buffer.from(BRAINPOOL, 'base64') }], { issuedAt: NOW }))
  expect([source.entries, source.skipped]).toEqual([1, { key_refused: 1 }])
  expect((await readAnchors(app.deps)).some(({ label }) => label.includes('Provider 2'))).toBe(false)
})

test('a disk that is full while a list is taken leaves the list before, and the same list is taken later', async () => {
  const { app, id, bring } = await start()
  const before = { ids: await anchorIds(app), source: await readSource(app.deps, id), records: await trustRecords(app.deps) }
  const { writeSettings } = app.deps
  // The whole transaction, and then no room for it.
  app.deps.writeSettings = work =>
    writeSettings(async tx => {
      await work(tx)
      throw new Error('database or disk is full')
    })
  const newer = listOf({ issuedAt: NOW, sequence: 6 }, 3)
  await expect(bring(newer)).rejects.toThrow('full')
  app.deps.writeSettings = writeSettings
  expect(await anchorIds(app)).toEqual(before.ids)
  expect(await readSource(app.deps, id)).toEqual(before.source)
  expect(await trustRecords(app.deps)).toEqual(before.records)
  expect((await bring(newer)).outcome).toBe('accepted')
})
