import { afterAll, expect, test } from 'bun:test'
import { block, readBlocks, unblock } from '../../src/trust/blocks.ts'
import { addSource } from '../../src/trust/lists/add-source.ts'
import { checkList } from '../../src/trust/lists/check-list.ts'
import { pinSigner, unpinSigner } from '../../src/trust/lists/pins.ts'
import { PRESET_NAMES, PRESETS, presetFor } from '../../src/trust/lists/presets.ts'
import { readSource, readSources, removeSource } from '../../src/trust/lists/sources.ts'
import { presentSource } from '../../src/trust/present.ts'
import { readAnchors, TrustProblem } from '../../src/trust/settings.ts'
import { cleanUp, openInstallation } from '../helpers/app.ts'
import { DAY_MS, issueAuthority, NOW, pemOf } from '../helpers/certificates.ts'
import { rowsOf } from '../helpers/database.ts'
import { addLote, makeIssuers, pidList, trustRecords } from '../helpers/trusted-lists.ts'
import { withVector } from '../helpers/vectors.ts'
import { fingerprintOf, LOTE, makeLote, makeSigner, makeVical, SERVICE } from '../trust-lists/make.ts'

afterAll(cleanUp)

const HOUR_MS = 3_600_000
const signer = await makeSigner()
const issuers = await makeIssuers(2)
const list = pidList(signer, issuers)

test('a source is presented with its list, its pins and its state', async () => {
  const { deps } = await openInstallation({ now: NOW })
  const source = await addLote(deps, signer, list, { location: 'https://lists.example/pid.jwt' })
  expect(presentSource(source, NOW)).toMatchObject({
    environment: 'live',
    kind: 'lote',
    use: 'issuers',
    label: 'PID list',
    location: 'https://lists.example/pid.jwt',
    types: null,
    every_seconds: 12 * 3600,
    grace_seconds: 7 * 86_400,
    name: 'Test List',
    state: 'fresh',
    sequence: 1,
    issued_at: '2026-11-14T00:00:00.000Z',
    next_update: '2027-02-13T00:00:00.000Z',
    ends_at: '2027-02-20T00:00:00.000Z',
    signer: signer.fingerprint,
    entries: 2,
    withdrawn: 0,
    difference: null,
    failure: null,
    pins: [{ fingerprint: signer.fingerprint, subject: 'C=EU, O=Test Operator, CN=Test List Signer' }],
  })
})

test('a VICAL is looked at every six hours and has 30 days of grace; without a next update it is due after 90 days', async () => {
  const { deps } = await openInstallation({ now: NOW })
  const vical = makeVical({ date: NOW, nextUpdate: null, entries: [{ certificate: issuers[0]!.der }] }, signer)
  const source = await addLote(deps, signer, vical, { kind: 'vical' })
  expect(source.dueAt - NOW).toBeWithin(5.4 * HOUR_MS, 6.6 * HOUR_MS)
  expect(presentSource(source, NOW)).toMatchObject({
    next_update: '2027-02-13T00:00:00.000Z',
    ends_at: '2027-03-15T00:00:00.000Z',
  })
})

test('a VICAL counts by a pinned authority that is in its chain', async () => {
  const root = await issueAuthority({ name: 'C=US, CN=VICAL Root' })
  const below = await makeSigner({ issuer: root, above: [root] })
  const { deps } = await openInstallation({ now: NOW })
  const vical = makeVical({ entries: [{ certificate: issuers[0]!.der }] }, below)
  const add = (kind: 'vical' | 'lote', bytes: Uint8Array, pin: string) => addLote(deps, { fingerprint: pin }, bytes, { kind })
  const alone = makeVical({ entries: [{ certificate: issuers[0]!.der }] }, { ...below, chain: [below.der] })
  await expect(add('vical', alone, fingerprintOf(root.der))).rejects.toThrow(
    /which you have not pinned.*pinned by its certificate, as a file$/,
  )
  expect((await add('vical', vical, pemOf(root.der))).signer).toBe(below.fingerprint)
  await expect(add('lote', pidList(below, issuers), pemOf(root.der))).rejects.toThrow(/this certificate is a CA/)
})

test('a list of the same signer that is not the one of the preset is refused', async () => {
  const { deps } = await openInstallation({ now: NOW })
  const wallets = makeLote({ type: LOTE.wallets, entities: [{ services: [{ certificates: [issuers[0]!.der] }] }] }, signer)
  const asked = { environment: 'live', preset: 'eu-pid', signers: [signer.fingerprint] } as const
  await expect(addSource(deps, { ...asked, bytes: wallets }, 'test')).rejects.toMatchObject({ code: 'wrong_list' })
  expect(await addSource(deps, { ...asked, bytes: list }, 'test')).toMatchObject({
    preset: 'eu-pid',
    label: 'EU PID providers',
    location: PRESETS['eu-pid'].location,
    kind: 'lote',
  })
})

test('a source for the own papers has entries, and none of them vouches for a document', async () => {
  const { deps } = await openInstallation({ now: NOW })
  const entities = [{ services: [{ type: SERVICE.wrpacIssuance, certificates: [issuers[0]!.der] }] }]
  const bytes = makeLote({ type: LOTE.wrpac, entities }, signer)
  const source = await addSource(deps, { environment: 'live', preset: 'eu-wrpac', signers: [signer.fingerprint], bytes }, 'test')
  expect(source).toMatchObject({ use: 'relying_party', entries: 1, withdrawn: 0 })
  expect((await readAnchors(deps)).map(({ use }) => use)).toEqual(['relying_party'])
})

test('a removed source leaves no anchor, pin or list, and one record', async () => {
  const app = await openInstallation({ now: NOW })
  const { id } = await addLote(app.deps, signer, list)
  await removeSource(app.deps, id, 'test')
  for (const table of ['trust_sources', 'trust_source_pins', 'trust_lists', 'trust_anchors'])
    expect([table, rowsOf(app, `SELECT 1 FROM ${table}`)]).toEqual([table, []])
  expect((await trustRecords(app.deps)).at(-1)).toMatchObject({
    action: 'trust.source_removed',
    details: { id, label: 'PID list' },
  })
  await expect(removeSource(app.deps, id, 'test')).rejects.toThrow(`there is no source ${id}`)
})

test('a source has at most eight pins and at least one', async () => {
  const { deps } = await openInstallation({ now: NOW })
  const { id } = await addLote(deps, signer, list)
  const others = Array.from({ length: 7 }, (_, i) => String(i + 1).repeat(64))
  for (const other of others) await pinSigner(deps, id, other, 'test')
  await expect(pinSigner(deps, id, 'a'.repeat(64), 'test')).rejects.toThrow(/at most 8 signers/)
  await expect(pinSigner(deps, id, others[0]!, 'test')).rejects.toThrow(/pinned already/)
  for (const other of others) await unpinSigner(deps, id, other, 'test')
  await expect(unpinSigner(deps, id, signer.fingerprint, 'test')).rejects.toThrow(/the only signer/)
  expect((await readSource(deps, id)).pins.map(({ fingerprint }) => fingerprint)).toEqual([signer.fingerprint])
})

test('a 33rd source is refused, even when two are added at once', async () => {
  const { deps } = await openInstallation({ now: NOW })
  const add = (territory: string) => addLote(deps, signer, pidList(signer, issuers, { territory }), { label: territory })
  const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZABCDE']
  for (const [i, letter] of letters.entries()) await add(`${i < 26 ? 'X' : 'Z'}${letter}`)
  const both = await Promise.allSettled([add('FI'), add('SE')])
  expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  expect(both.find(({ status }) => status === 'rejected')).toMatchObject({
    reason: { message: 'there are 32 sources already; remove one first' },
  })
  expect(await readSources(deps)).toHaveLength(32)
})

test('a list that is here is not added again, even at once; in the other environment and for the own papers it may be', async () => {
  const { deps } = await openInstallation({ now: NOW })
  const both = await Promise.allSettled([addLote(deps, signer, list), addLote(deps, signer, list, { label: 'Again' })])
  const sources = await readSources(deps)
  expect(sources).toHaveLength(1)
  const { id, label } = sources[0]!
  expect(both.find(({ status }) => status === 'rejected')).toMatchObject({
    reason: {
      message: `this list is here already, as ${label} (${id}): for another signer, "vidimus trust source pin ${id} FINGERPRINT"; for other rules, "vidimus trust source remove ${id}" first`,
    },
  })
  const stranger = await makeSigner({ name: 'C=EU, CN=Stranger' })
  await expect(addLote(deps, stranger, pidList(stranger, issuers))).rejects.toThrow(/this list is here already/)
  await addLote(deps, signer, list, { environment: 'test' })
  await addLote(deps, signer, list, { use: 'relying_party' })
  await removeSource(deps, id, 'test')
  expect((await addLote(deps, signer, list)).entries).toBe(issuers.length)
})

test('blocks are kept for each environment, and on the chain', async () => {
  const { deps } = await openInstallation({ now: NOW })
  const fingerprint = signer.fingerprint.toUpperCase().replace(/..(?=.)/g, '$&:')
  await block(deps, { environment: 'live', fingerprint, reason: 'stolen' }, 'test')
  await expect(block(deps, { environment: 'live', fingerprint, reason: 'again' }, 'test')).rejects.toBeInstanceOf(TrustProblem)
  await block(deps, { environment: 'test', fingerprint, reason: 'stolen' }, 'test')
  expect((await readBlocks(deps)).map(row => [row.environment, row.fingerprint])).toEqual([
    ['live', signer.fingerprint],
    ['test', signer.fingerprint],
  ])
  await unblock(deps, { environment: 'live', fingerprint }, 'test')
  await expect(unblock(deps, { environment: 'live', fingerprint }, 'test')).rejects.toThrow(/is not blocked in live/)
  expect((await trustRecords(deps)).map(({ action }) => action)).toEqual(['trust.blocked', 'trust.blocked', 'trust.unblocked'])
})

test('only the acceptance list of the EU comes with a pin, and every preset says where to compare', () => {
  expect(PRESET_NAMES.filter(name => PRESETS[name].pins.length > 0)).toEqual(['eu-av-acceptance'])
  for (const name of PRESET_NAMES) expect(PRESETS[name].compareAt.length).toBeGreaterThan(10)
  for (const name of PRESET_NAMES) expect(PRESETS[name].location).toStartWith('https://')
  expect(presetFor('live', 'eu.europa.ec.av.1')).toBe('eu-av')
  expect(presetFor('test', 'urn:eudi:pid:1')).toBe('eu-pid-acceptance')
  expect(presetFor('live', 'urn:example:other')).toBeUndefined()
})

withVector('trust-lists/eu-age-acceptance-17.xml', bytes => {
  test('the real list of EU age issuers is added by its preset', async () => {
    const { deps } = await openInstallation({ now: NOW })
    const source = await addSource(deps, { environment: 'test', preset: 'eu-av-acceptance', signers: [], bytes }, 'test')
    expect(source).toMatchObject({ sequence: 17, entries: 7, withdrawn: 1, skipped: { expired: 4 } })
    const checked = await checkList(deps, { bytes })
    expect(checked.types).toEqual([{ type: 'eu.europa.ec.av.1', entries: 7 }])
    expect(checked.signer.notAfter).toBeGreaterThan(NOW + 365 * DAY_MS)
  })
})
