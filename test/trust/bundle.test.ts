// What a stick may bring: lists by the pins of this machine, new things from an accepted installation only.
import { afterAll, describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { block, readBlocks } from '../../src/trust/blocks.ts'
import { exportBundle } from '../../src/trust/bundle/export.ts'
import { type BundleContent, bundleSignerOf, openBundle, signBundle } from '../../src/trust/bundle/form.ts'
import { type BundleItem, importBundle } from '../../src/trust/bundle/import.ts'
import { inspectBundle } from '../../src/trust/bundle/inspect.ts'
import { pinSigner } from '../../src/trust/lists/pins.ts'
import { readSource, readSources } from '../../src/trust/lists/sources.ts'
import { addAnchors, readAnchors, TrustProblem } from '../../src/trust/settings.ts'
import { cleanUp, type Installation, openInstallation } from '../helpers/app.ts'
import { DAY_MS, NOW, pemOf } from '../helpers/certificates.ts'
import { addLote, makeIssuers, pidList, trustRecords } from '../helpers/trusted-lists.ts'
import { fingerprintOf, LOTE, makeIssuer, makeLote, makeSigner, SERVICE } from '../trust-lists/make.ts'

afterAll(cleanUp)

const signer = await makeSigner()
const other = await makeSigner({ name: 'C=EU, CN=Other Signer' })
const issuers = await makeIssuers(3)
const own = await makeIssuer()
const first = pidList(signer, issuers.slice(0, 2), { issuedAt: NOW - 2 * DAY_MS, sequence: 1 })
const newer = pidList(signer, issuers.slice(1), { issuedAt: NOW - DAY_MS, sequence: 2 })

const start = () => openInstallation({ now: NOW })
const exported = async ({ deps }: Installation, environment?: 'test' | 'live') =>
  (await exportBundle(deps, { environment }, 'test')).bytes
const signerOf = ({ deps }: Installation): string => bundleSignerOf(deps.sealer.key('trust bundle'))
const imported = ({ deps }: Installation, bytes: Uint8Array, options: Parameters<typeof importBundle>[2] = {}) =>
  importBundle(deps, bytes, options, 'test')
const outcomes = (items: readonly BundleItem[]): string[] => items.map(({ what, name, outcome }) => `${what} ${name} ${outcome}`)
const refusal = async (importing: Promise<unknown>): Promise<string> =>
  await importing.then(
    () => 'not refused',
    error => (error instanceof TrustProblem ? error.message : Promise.reject(error)),
  )

/** The same file with other content, under its old signature. */
function altered(bytes: Uint8Array, change: (content: BundleContent) => void): Uint8Array {
  const [header, payload, signature] = Buffer.from(bytes).toString().trim().split('.')
  const content: BundleContent = JSON.parse(Buffer.from(payload!, 'base64url').toString())
  change(content)
  return Buffer.from([header, Buffer.from(JSON.stringify(content)).toString('base64url'), signature].join('.'))
}

/** The same with a good signature of its own installation. */
function resigned({ deps }: Installation, bytes: Uint8Array, change: (content: BundleContent) => void): Uint8Array {
  return signBundle(deps.sealer.key('trust bundle'), openBundle(altered(bytes, change)).content)
}

/** What is trusted here, without times and ids. */
async function trusted({ deps }: Installation) {
  const sources = (await readSources(deps)).map(({ environment, label, types, sequence, pins, graceMs }) => ({
    ...{ environment, label, types, sequence, graceMs },
    pins: pins.map(({ fingerprint }) => fingerprint),
  }))
  const anchors = (await readAnchors(deps)).map(({ environment, label, trustedFor, mode, crl, use, certificate }) => ({
    ...{ environment, label, trustedFor, mode, crl, use, certificate },
  }))
  const blocks = (await readBlocks(deps)).map(({ environment, fingerprint, reason }) => ({ environment, fingerprint, reason }))
  return { sources, anchors: anchors.toSorted((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b))), blocks }
}

/** Home with the newer list, an issuer of its own and a block. */
async function startHome() {
  const home = await start()
  await addLote(home.deps, signer, newer, {
    location: 'https://lists.example/pid',
    graceMs: 3 * DAY_MS,
    types: ['urn:eudi:pid:1'],
  })
  await addAnchors(
    home.deps,
    { pem: pemOf(own.der), environment: 'live', label: 'Own', mode: 'pkix', crl: 'off', use: 'documents' },
    'test',
  )
  await block(home.deps, { environment: 'live', fingerprint: 'ab'.repeat(32), reason: 'stolen key' }, 'test')
  return home
}

/** For all tests that change nothing of it. */
const home = await startHome()

describe('a bundle', () => {
  test('of an accepted installation brings everything: lists with their rules, issuers and blocks', async () => {
    const venue = await start()
    const { items, isAccepted } = await imported(venue, await exported(home), { from: signerOf(home) })
    expect([isAccepted, outcomes(items)]).toEqual([
      true,
      ['list PID list added', 'anchor Own added', `block ${'ab'.repeat(32)} added`],
    ])
    expect(await trusted(venue)).toEqual(await trusted(home))
    expect((await readAnchors(venue.deps)).find(({ label }) => label === 'Own')?.use).toBe('documents')
    const [source] = await readSources(venue.deps)
    expect(source).toMatchObject({ location: 'https://lists.example/pid', kind: 'lote', use: 'issuers' })
  })

  test('of an unknown installation updates the lists that are here, and brings nothing new', async () => {
    const venue = await start()
    await addLote(venue.deps, signer, first)
    const { items, isAccepted } = await imported(venue, await exported(home))
    expect([isAccepted, outcomes(items)]).toEqual([
      false,
      ['list PID list accepted', 'anchor Own not_taken', `block ${'ab'.repeat(32)} not_taken`],
    ])
    expect(await trusted(venue)).toMatchObject({ sources: [{ sequence: 2, types: null }], blocks: [] })
    expect((await readAnchors(venue.deps)).some(({ label }) => label === 'Own')).toBe(false)
  })

  test('of an unknown installation with a new list brings nothing', async () => {
    const venue = await start()
    const { items } = await imported(venue, await exported(home))
    expect(items.map(({ outcome }) => outcome)).toEqual(['not_taken', 'not_taken', 'not_taken'])
    expect(await trusted(venue)).toEqual({ sources: [], anchors: [], blocks: [] })
  })

  test('is accepted by its fingerprint once, and without it from then on', async () => {
    const [home, venue] = [await startHome(), await start()]
    await imported(venue, await exported(home), { from: signerOf(home).toUpperCase() })
    await addAnchors(home.deps, { pem: pemOf(issuers[0]!.der), environment: 'live', label: 'Second' }, 'test')
    const { items, isAccepted } = await imported(venue, await exported(home))
    expect([isAccepted, outcomes(items)]).toEqual([
      true,
      ['list PID list unchanged', 'anchor Own known', 'anchor Second added', `block ${'ab'.repeat(32)} known`],
    ])
  })

  test('of another installation than the one named is refused whole', async () => {
    const venue = await start()
    await addLote(venue.deps, signer, first)
    const before = await trusted(venue)
    expect(await refusal(imported(venue, await exported(home), { from: 'cd'.repeat(32) }))).toContain(`made by ${signerOf(home)}`)
    expect(await trusted(venue)).toEqual(before)
  })

  test('that was changed still brings lists by the pins of this machine, and nothing else', async () => {
    const venue = await start()
    await imported(venue, await exported(home), { from: signerOf(home) })
    const latest = pidList(signer, issuers, { issuedAt: NOW, sequence: 3 })
    const changed = altered(await exported(home), content => {
      content.sources[0]!.list = Buffer.from(latest).toString('base64')
      content.sources[0]!.types = ['urn:eudi:pid:1', 'eu.europa.ec.eudi.pid.1']
      content.anchors.push({ ...content.anchors[0]!, pem: pemOf(issuers[0]!.der), label: 'Smuggled' })
    })
    const { items, isSigned, isAccepted } = await imported(venue, changed)
    expect([isSigned, isAccepted, outcomes(items)]).toEqual([
      false,
      false,
      ['list PID list accepted', 'anchor Own known', 'anchor Smuggled not_taken', `block ${'ab'.repeat(32)} known`],
    ])
    expect((await trusted(venue)).sources).toMatchObject([{ sequence: 3, types: ['urn:eudi:pid:1'] }])
    expect(await refusal(imported(venue, changed, { from: signerOf(home) }))).toContain('signature of the bundle does not hold')
  })

  test('with any byte changed brings nothing new', async () => {
    const bytes = Buffer.from(await exported(home))
    const dots = [bytes.indexOf('.'), bytes.lastIndexOf('.')]
    for (const at of [
      5,
      dots[0]! - 5,
      dots[0]! + 40,
      Math.floor(bytes.length / 2),
      dots[1]! - 3,
      dots[1]! + 3,
      bytes.length - 4,
    ]) {
      const changed = Buffer.from(bytes)
      changed[at] = changed[at] === 65 ? 66 : 65
      let isSigned = false
      try {
        isSigned = openBundle(changed).isSigned
      } catch (error) {
        expect(error).toBeInstanceOf(TrustProblem)
      }
      expect({ at, isSigned }).toEqual({ at, isSigned: false })
    }
  })

  test('whose list was changed is refused for that list', async () => {
    const venue = await start()
    await addLote(venue.deps, signer, first)
    const changed = altered(await exported(home), content => {
      const list = Buffer.from(content.sources[0]!.list, 'base64')
      list[list.length - 10]! ^= 1
      content.sources[0]!.list = list.toString('base64')
    })
    const [item] = (await imported(venue, changed)).items
    expect(item).toMatchObject({ what: 'list', outcome: 'refused' })
    expect((await trusted(venue)).sources).toMatchObject([{ sequence: 1 }])
  })

  test('with an earlier issue of a list is refused as going back, even when older bundles are taken', async () => {
    const [home, venue] = [await start(), await start()]
    const old = await exported(home)
    await addLote(home.deps, signer, first)
    const withFirst = await exported(home)
    await addLote(venue.deps, signer, newer)
    for (const isOlderTaken of [false, true]) {
      const { items } = await imported(venue, withFirst, { from: signerOf(home), isOlderTaken })
      expect(items).toMatchObject([
        { outcome: 'refused', detail: expect.stringContaining('which is not after the accepted one') },
      ])
    }
    expect((await trusted(venue)).sources).toMatchObject([{ sequence: 2 }])
    expect((await imported(venue, old, { from: signerOf(home) })).items).toEqual([])
  })

  test('made before the last one of its signer is refused, unless older ones are taken', async () => {
    const [home, venue] = [await startHome(), await start()]
    const old = await exported(home)
    home.clock.advance(1000)
    venue.clock.advance(1000)
    await imported(venue, await exported(home), { from: signerOf(home) })
    expect(await refusal(imported(venue, old))).toContain('--older')
    expect((await imported(venue, old, { isOlderTaken: true })).isAccepted).toBe(true)
    expect(await refusal(imported(venue, old))).toContain('--older')
  })

  test('dated more than a day ahead is refused', async () => {
    const [home, venue] = [await startHome(), await start()]
    home.clock.advance(25 * 3_600_000)
    expect(await refusal(imported(venue, await exported(home), { from: signerOf(home) }))).toContain('in the future')
  })

  test('never removes a pin or a block, and never changes what a source grants', async () => {
    const venue = await start()
    await imported(venue, await exported(home), { from: signerOf(home) })
    const [source] = await readSources(venue.deps)
    await pinSigner(venue.deps, source!.id, other.fingerprint, 'test')
    await block(venue.deps, { environment: 'live', fingerprint: 'ef'.repeat(32), reason: 'here only' }, 'test')
    const before = await trusted(venue)
    const changed = resigned(home, await exported(home), content => {
      content.sources[0]!.types = undefined
      content.sources[0]!.grace_seconds = 90 * 86_400
      content.blocks = []
      content.anchors = []
    })
    await imported(venue, changed)
    expect(await trusted(venue)).toEqual(before)
  })

  test('of an accepted installation with other signers for a list that is here does not bring it again', async () => {
    const [home, venue] = [await start(), await start()]
    await addLote(home.deps, other, pidList(other, issuers, { issuedAt: NOW }))
    await addLote(venue.deps, signer, first, { types: ['urn:eudi:pid:1'] })
    const { items } = await imported(venue, await exported(home), { from: signerOf(home) })
    expect(items).toMatchObject([{ outcome: 'not_taken', detail: expect.stringContaining('other signers') }])
    expect(await readSources(venue.deps)).toHaveLength(1)
  })

  test('gives one of two lists by the same signer to the source that it is for', async () => {
    const [home, venue] = [await start(), await start()]
    const wallets = makeLote(
      { type: LOTE.mdl, entities: [{ services: [{ type: SERVICE.mdlIssuance, certificates: [own.der] }] }] },
      signer,
    )
    await addLote(home.deps, signer, newer)
    for (const [bytes, label] of [
      [wallets, 'mDL list'],
      [first, 'PID list'],
    ] as const)
      await addLote(venue.deps, signer, bytes, { label })
    expect(outcomes((await imported(venue, await exported(home))).items)).toEqual(['list PID list accepted'])
  })
})

describe('test and live', () => {
  test('are exported apart when one of them is named', async () => {
    const home = await startHome()
    await addLote(home.deps, signer, first, { environment: 'test', label: 'Test list' })
    const labels = async (environment?: 'test' | 'live') =>
      (await inspectBundle(await exported(home, environment))).sources.map(({ label }) => label)
    expect(await labels('test')).toEqual(['Test list'])
    expect(await labels('live')).toEqual(['PID list'])
    expect((await labels()).toSorted()).toEqual(['PID list', 'Test list'])
  })

  test('stay apart: what is a test list or a test issuer here does not come into live', async () => {
    const venue = await start()
    await addLote(venue.deps, signer, first, { environment: 'test' })
    await addAnchors(venue.deps, { pem: pemOf(own.der), environment: 'test' }, 'test')
    const { items } = await imported(venue, await exported(home), { from: signerOf(home) })
    expect(outcomes(items).slice(0, 2)).toEqual(['list PID list refused', 'anchor Own refused'])
    expect((await readSources(venue.deps)).map(({ environment, sequence }) => [environment, sequence])).toEqual([['test', 1]])
    expect((await readAnchors(venue.deps)).filter(({ environment }) => environment === 'live')).toEqual([])
  })

  test.each([
    'https://acceptance.trust.tech.ec.europa.eu/lists/eudiw/pid-providers.json',
    'https://Acceptance.Trust.tech.ec.europa.eu:443/lists/./eudiw/pid-providers.json',
  ])('stay apart: a list at the address of a shipped test list does not come into live, written %s', async location => {
    const [home, venue] = [await start(), await start()]
    await addLote(home.deps, signer, newer, { location })
    const { items } = await imported(venue, await exported(home), { from: signerOf(home) })
    expect(items).toMatchObject([{ outcome: 'refused', detail: expect.stringContaining('test list') }])
  })

  test.each([
    ['behind another one', (pem: string, first: string) => first + pem],
    [
      'behind another one of another name',
      (pem: string, first: string) => first.replaceAll('CERTIFICATE', 'X509 CERTIFICATE') + pem,
    ],
    ['before another one', (pem: string, first: string) => pem + first],
  ])('stay apart: a test issuer %s in an anchor of a bundle does not come into live', async (_, join) => {
    const venue = await start()
    await addAnchors(venue.deps, { pem: pemOf(own.der), environment: 'test' }, 'test')
    const bundle = resigned(home, await exported(home), ({ anchors }) => {
      anchors[0]!.pem = join(pemOf(own.der), pemOf(issuers[0]!.der))
    })
    const { items } = await imported(venue, bundle, { from: signerOf(home) })
    expect(items.find(({ what }) => what === 'anchor')).toMatchObject({ outcome: 'refused' })
    expect((await readAnchors(venue.deps)).filter(row => row.environment === 'live' && row.sourceId === null)).toEqual([])
  })
})

describe('the file of a bundle', () => {
  test('names no file of the machine that made it, and no key', async () => {
    const home = await start()
    await addLote(home.deps, signer, newer)
    const content = openBundle(await exported(home)).content
    expect(Object.keys(content).toSorted()).toEqual([
      'anchors',
      'blocks',
      'made_at',
      'made_by',
      'revocation',
      'sources',
      'version',
    ])
    expect(content.sources[0]).not.toHaveProperty('location')
    const smuggled = resigned(home, await exported(home), ({ sources }) => {
      sources[0]!.location = 'file:///etc/passwd'
    })
    const venue = await start()
    await imported(venue, smuggled, { from: signerOf(home) })
    expect(await readSources(venue.deps)).toMatchObject([{ location: null }])
  })

  test('of more than 16 MiB is refused', async () => {
    const venue = await start()
    expect(await refusal(imported(venue, Buffer.alloc(17 * 1024 * 1024, 'A')))).toContain('larger than 16 MiB')
  })

  test('that is no bundle, or of an unknown version, is refused', async () => {
    const venue = await start()
    const bytes = await exported(home)
    expect(await refusal(imported(venue, first))).toContain('no trust bundle')
    expect(await refusal(imported(venue, Buffer.from('')))).toContain('no trust bundle')
    const version = altered(bytes, content => Object.assign(content, { version: 2 }))
    expect(await refusal(imported(venue, version))).toContain('version')
  })

  test('signed by a key that it does not name is not signed', async () => {
    const { content } = openBundle(await exported(home))
    const [, payload] = Buffer.from(await exported(home))
      .toString()
      .split('.')
    const [foreignHeader, , foreignSignature] = Buffer.from(signBundle(randomBytes(32), content))
      .toString()
      .trim()
      .split('.')
    const [header] = Buffer.from(await exported(home))
      .toString()
      .split('.')
    expect(openBundle(Buffer.from([header, payload, foreignSignature].join('.'))).isSigned).toBe(false)
    const named = JSON.parse(Buffer.from(foreignHeader!, 'base64url').toString())
    const lying = Buffer.from(JSON.stringify({ ...named, kid: signerOf(home) })).toString('base64url')
    expect(openBundle(Buffer.from([lying, payload, foreignSignature].join('.')))).toMatchObject({ isSigned: false, signer: '' })
  })

  test('is shown with its lists, and with what cannot be read', async () => {
    const bytes = altered(await exported(home), ({ sources }) => {
      sources.push({ ...sources[0]!, label: 'Broken', list: 'AAAA' })
    })
    const { sources, isSigned, madeBy } = await inspectBundle(bytes)
    expect([isSigned, madeBy]).toEqual([false, 'verify.example'])
    expect(sources).toMatchObject([
      { label: 'PID list', listSigner: signer.fingerprint, list: { sequence: 2 } },
      { label: 'Broken', problem: expect.any(String) },
    ])
  })
})

test('export and import are on the audit chain, with the signer and every outcome', async () => {
  const venue = await start()
  await imported(venue, await exported(home, 'live'), { from: signerOf(home) })
  expect((await trustRecords(home.deps)).at(-1)).toMatchObject({
    action: 'trust.bundle_exported',
    actor: 'test',
    details: { environment: 'live', sources: 1, anchors: 1, blocks: 1 },
  })
  const records = await trustRecords(venue.deps)
  expect(records.map(({ action }) => action)).toEqual([
    'trust.source_added',
    'trust.list_accepted',
    'trust.added',
    'trust.blocked',
    'trust.bundle_imported',
  ])
  expect(records.at(-1)).toMatchObject({
    actor: 'test',
    details: { made_by: 'verify.example', is_signed: true, is_accepted: true, count: 3, items: [{ outcome: 'added' }, {}, {}] },
  })
})

test('a bundle of an installation without an address yet names its machine', async () => {
  const { deps } = await start()
  const { bytes } = await exportBundle({ ...deps, config: { ...deps.config, publicUrl: '' } }, {}, 'test')
  expect(openBundle(bytes).content.made_by).toBe(hostname())
})

test('a pin that was given by its fingerprint is exported with its certificate', async () => {
  const [source] = openBundle(await exported(home)).content.sources
  expect(source?.pins.map(({ fingerprint }) => fingerprint)).toEqual([fingerprintOf(signer.der)])
  const { id } = (await readSources(home.deps))[0]!
  expect((await readSource(home.deps, id)).pins[0]?.certificate).toBe(source!.pins[0]!.certificate!)
})
