// What EU wallets want of requests. The good shop below passes every clause; each clause is then spoiled by itself.
import { afterAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { type CompactJWSHeaderParameters, CompactSign } from 'jose'
import { type Config, loadConfig } from '../../src/config.ts'
import { CLAUSES, type ClauseId, type Facts } from '../../src/doctor/eu/clauses.ts'
import { type ClauseRow, collect, examineProfile, judge } from '../../src/doctor/eu/examine.ts'
import type { Sample } from '../../src/doctor/eu/request.ts'
import type { DcqlQuery } from '../../src/openid4vp/dcql/dcql.ts'
import { isoDcApiTranscript } from '../../src/openid4vp/exchange/session-transcript.ts'
import { type Cbor, decodeCbor, embedded, encodeCbor, type Tag } from '../../src/sandbox/cbor.ts'
import { addRegistration } from '../../src/signing/registrations.ts'
import { saveTemplate } from '../../src/templates/save.ts'
import { getCertificate, loadAccessList, newAuthority, newRegistrar } from '../helpers/access.ts'
import { cleanUp, createVerification, startApp } from '../helpers/app.ts'
import {
  accessExtensions,
  authorityKey,
  DAY_MS,
  type Extension,
  isAuthority,
  isNoAuthority,
  issueAuthority,
  keyIdentifier,
  makeKeys,
  pemOf,
  signsCertificates,
} from '../helpers/certificates.ts'
import { rowsOf } from '../helpers/database.ts'
import { addLote, pidList } from '../helpers/trusted-lists.ts'
import { makeSigner } from '../trust-lists/make.ts'

afterAll(cleanUp)

const PID = 'eu.europa.ec.eudi.pid.1'
const QUERY = {
  credentials: [
    { id: 'sd', format: 'dc+sd-jwt', meta: { vct_values: ['urn:eudi:pid:1'] }, claims: [{ path: ['family_name'] }] },
    { id: 'mdoc', format: 'mso_mdoc', meta: { doctype_value: PID }, claims: [{ path: [PID, 'family_name'] }] },
  ],
  credential_sets: [{ options: [['sd'], ['mdoc']] }],
} satisfies DcqlQuery
const REGISTERED = QUERY.credentials.map(({ format, meta, claims }) => ({ format, meta, claim: claims }))

type Wanted = Parameters<typeof startApp>[0] & {
  paper?: object
  isUnlisted?: boolean
  /** Strict stacks want the key identifiers of RFC 5280 in both certificates. */
  authority?: Parameters<typeof issueAuthority>[0]
  leaf?: Extension[]
}

/** A shop with every paper; `paper` replaces members of its registration certificate. */
async function start({ paper = {}, isUnlisted = false, authority: made, leaf = [], ...options }: Wanted = {}) {
  const app = await startApp({ now: Date.now(), resolve: async () => ['127.0.0.1'], ...options })
  const { id: tenantId, liveKey } = await app.tenant()
  const { deps, clock } = app
  const authority = made
    ? await issueAuthority({ ...made, notBefore: clock.now() - DAY_MS, notAfter: clock.now() + 900 * DAY_MS })
    : await newAuthority(app)
  if (!isUnlisted) await loadAccessList(app, pemOf(authority.der))
  await getCertificate(app, { issuer: authority, extensions: [...accessExtensions(), ...leaf] })
  const register = await newRegistrar(app)
  const text = await register({ credentials: REGISTERED, ...paper })
  await addRegistration(deps, { text, owner: null, templates: [] }, 'test')
  const save = (key: string, query: DcqlQuery) => saveTemplate(deps, { tenantId, key, title: 'A name', query }, 'test')
  await save('names', QUERY)
  const signer = await makeSigner()
  const life = { issuedAt: clock.now(), nextUpdate: clock.now() + DAY_MS }
  const issuer = await issueAuthority({ notAfter: clock.now() + 900 * DAY_MS })
  await addLote(deps, signer, pidList(signer, [issuer], life))
  const owner = { tenantId, environment: 'live' as const }
  const rows = (...templates: string[]) => examineProfile(deps, owner, templates)
  const collected = async (...templates: string[]) => structuredClone(await collect(deps, owner, templates))
  /** Signs a changed request object with the key of the shop. */
  const sign = async (jws: string, change: (parts: Parts) => unknown) => {
    const [header, claims] = jws.split('.', 2).map(part => JSON.parse(Buffer.from(part, 'base64url').toString()))
    const parts = { header, claims }
    change(parts)
    const { privateKey } = await deps.requestSigner((await deps.identity(tenantId)).signingKeyId)
    return await new CompactSign(Buffer.from(JSON.stringify(parts.claims))).setProtectedHeader(parts.header).sign(privateKey)
  }
  return { app, tenantId, liveKey, authority, owner, register, save, rows, collected, sign }
}

type Shop = Awaited<ReturnType<typeof start>>
// biome-ignore lint/suspicious/noExplicitAny: claims of any shape are set below.
type Parts = { header: CompactJWSHeaderParameters & Record<string, any>; claims: Record<string, any> }

const idsOf = (rows: readonly ClauseRow[], status: ClauseRow['status']) => [
  ...new Set(rows.filter(row => row.status === status).map(({ id }) => id)),
]

test('a shop with every paper passes each clause that applies, and what it does not use does not apply', async () => {
  const { rows } = await start()
  const all = await rows()
  expect(idsOf(all, 'fail')).toEqual([])
  expect(idsOf(all, 'unknown')).toEqual([])
  expect(idsOf(all, 'not_applicable')).toEqual(['eu.same-device', 'eu.trust.mdl'])
  expect(all.map(({ id }) => id)).toEqual(Object.keys(CLAUSES) as ClauseId[])
  expect(all.find(({ id }) => id === 'eu.registration.data-form')).toMatchObject({
    level: 'should',
    sure: 'second_hand',
    found: ['jwt'],
  })
})

type Spoil = (samples: Sample[], facts: Facts, shop: Shop) => unknown

/** Changes every signed request alike. */
const resigned =
  (change: (parts: Parts) => unknown): Spoil =>
  async (samples, _, { sign }) => {
    for (const sample of samples) {
      sample.redirect = await sign(sample.redirect, change)
      sample.browser = await sign(sample.browser!, change)
    }
  }

/** Changes each DocRequest; signatures stay as they are. */
const documents =
  (change: (document: Map<string, Cbor>) => unknown): Spoil =>
  samples => {
    for (const { annexC } of samples) {
      const request = decodeCbor(Buffer.from(annexC!.deviceRequest, 'base64url')) as Map<string, Cbor>
      for (const document of request.get('docRequests') as unknown as Map<string, Cbor>[]) change(document)
      annexC!.deviceRequest = Buffer.from(encodeCbor(request)).toString('base64url')
    }
  }

const changeItems = (document: Map<string, Cbor>, change: (items: Map<string, Cbor>) => void): void => {
  const items = decodeCbor((document.get('itemsRequest') as Tag).value) as Map<string, Cbor>
  change(items)
  document.set('itemsRequest', embedded(items))
}

const eachSample =
  (change: (sample: Sample) => unknown): Spoil =>
  samples =>
    samples.forEach(change)

const metadata = (change: (metadata: Parts['claims']) => unknown): Spoil =>
  resigned(({ claims }) => change(claims.client_metadata))
const info = (change: (info: Parts['claims'][]) => unknown): Spoil => resigned(({ claims }) => change(claims.verifier_info))
const facts =
  (changed: Partial<Facts>): Spoil =>
  (_, facts) =>
    Object.assign(facts, changed)

const flipped = (text: string) => text.slice(0, -4) + (text.endsWith('AAAA') ? 'BBBB' : 'AAAA')

const SPOILS: [what: string, Spoil, ...failing: ClauseId[]][] = [
  ['a signature', eachSample(sample => Object.assign(sample, { redirect: flipped(sample.redirect) })), 'eu.redirect.signed'],
  ['the type', resigned(({ header }) => Object.assign(header, { typ: 'jwt' })), 'eu.redirect.signed'],
  ['a request by value', eachSample(({ links }) => links.splice(0, 1, 'openid4vp://?request=ey')), 'eu.redirect.signed'],
  ['another iat', resigned(({ header }) => void header.iat--), 'eu.redirect.header-iat'],
  ['no iat', resigned(({ header }) => void delete header.iat), 'eu.redirect.header-iat'],
  [
    'the root in the chain',
    async (samples, facts, shop) =>
      await resigned(({ header }) => void header.x5c!.push(Buffer.from(shop.authority.der).toString('base64')))(
        samples,
        facts,
        shop,
      ),
    'eu.redirect.x5c',
  ],
  [
    'another client_id',
    resigned(({ claims }) => Object.assign(claims, { client_id: 'x509_san_dns:verify.example' })),
    'eu.client-id',
  ],
  [
    'another list',
    async (_, facts, { app }) => Object.assign(facts, { authorities: [pemOf((await newAuthority(app)).der)] }),
    'eu.access-certificate',
  ],
  ['a self-made certificate', facts({ isImported: false }), 'eu.access-certificate', 'eu.iso.reader-auth'],
  [
    'the end of the certificate',
    (_, facts) => Object.assign(facts, { at: facts.at + 91 * DAY_MS }),
    'eu.access-certificate',
    'eu.expiry',
  ],
  ['two certificates', info(all => void all.push(all[0]!)), 'eu.registration'],
  ['credential_ids', info(([first]) => Object.assign(first!, { credential_ids: ['sd'] })), 'eu.registration'],
  ['another format', info(([first]) => Object.assign(first!, { format: 'jwt' })), 'eu.registration'],
  ['another form', facts({ form: 'base64url' }), 'eu.registration', 'eu.registration.data-form'],
  [
    'a registration of another organisation',
    async (samples, facts, shop) => {
      const data = await shop.register({ credentials: REGISTERED, sub: 'VATDE-2' })
      Object.assign(facts, { statuses: new Map([[data, 'valid']]) })
      await info(([first]) => Object.assign(first!, { data }))(samples, facts, shop)
    },
    'eu.iso.wrprc',
    'eu.registration.same-party',
  ],
  [
    'a revocation',
    (_, { statuses }) => [...statuses.keys()].forEach(jwt => void (statuses as Map<string, string>).set(jwt, 'revoked')),
    'eu.registration.current',
  ],
  ['one encoding', metadata(all => void all.encrypted_response_enc_values_supported.pop()), 'eu.metadata.keys'],
  ['a key that signs', metadata(({ jwks }) => Object.assign(jwks.keys[0], { use: 'sig' })), 'eu.metadata.keys'],
  ['a private key', metadata(({ jwks }) => Object.assign(jwks.keys[0], { d: 'AA' })), 'eu.metadata.keys'],
  [
    'two keys of one name',
    metadata(({ jwks }) => void jwks.keys.push({ ...jwks.keys[0], x: 'AA' })),
    'eu.metadata.keys',
    'eu.unlinkable-key',
  ],
  ['a plain answer', resigned(({ claims }) => Object.assign(claims, { response_mode: 'direct_post' })), 'eu.response.encrypted'],
  ['another audience', resigned(({ claims }) => Object.assign(claims, { aud: 'https://wallet.example' })), 'eu.aud'],
  ['a long life', resigned(({ claims }) => Object.assign(claims, { exp: claims.exp + 3600 })), 'eu.expiry'],
  ['one link', eachSample(({ links }) => void links.splice(1)), 'eu.link'],
  ['a loose session', facts({ returning: 3, loose: 1 }), 'eu.same-device'],
  ['plain http', facts({ publicUrl: 'http://verify.example' }), 'eu.cross-device'],
  [
    'no signed request',
    eachSample(sample => Object.assign(sample, { browser: undefined })),
    'eu.cross-device',
    'eu.dc-api.signed',
  ],
  ['no reader', documents(document => void document.delete('readerAuth')), 'eu.iso.reader-auth'],
  [
    'another origin',
    eachSample(({ annexC }) => Object.assign(annexC!, { origin: 'https://other.example' })),
    'eu.iso.reader-auth',
  ],
  [
    'no euWrprc',
    documents(document => changeItems(document, items => void items.delete('requestInfo'))),
    'eu.iso.reader-auth',
    'eu.iso.wrprc',
  ],
  ['no issuer', facts({ anchors: [] }), 'eu.trust.pid'],
  ['an issuer by hand', facts({ anchors: [{ source: null, trusted_for: 'urn:eudi:pid:1' }] }), 'eu.trust.pid'],
  ['an issuer for all', facts({ anchors: [{ source: 'src_1', trusted_for: null }] }), 'eu.trust.pid'],
  ['no list of revoked documents', facts({ hasLists: false }), 'eu.revocation'],
  [
    'one key',
    (samples: Sample[]) =>
      eachSample(sample => Object.assign(sample, { redirect: samples[0]!.redirect }))(samples, {} as Facts, {} as Shop),
    'eu.unlinkable-key',
  ],
]

describe('a request or shop that is spoiled by', () => {
  const good = start()

  test.each(SPOILS.map(([what, spoil, ...failing]) => ({ what, spoil, failing })))(
    '$what fails $failing',
    async ({ spoil, failing }) => {
      const shop = await good
      const { samples, facts } = await shop.collected()
      await spoil(samples as Sample[], facts, shop)
      expect(idsOf(await judge(shop.app.deps, { samples, facts }), 'fail').toSorted()).toEqual(failing.toSorted())
    },
  )
})

describe('a shop', () => {
  test.each([
    [{ wallet: { profile: 'plain' } }, ['eu.metadata.keys', 'eu.response.encrypted']],
    [{ wallet: { clientIdPrefix: 'x509_san_dns' } }, ['eu.client-id']],
    [{ wallet: { verifierInfoData: 'base64url' } }, []],
    [{ dcApi: { mode: 'off' } }, ['eu.cross-device']],
    [{ dcApi: { mode: 'unsigned' } }, ['eu.cross-device', 'eu.dc-api.signed']],
    [{ readerAuth: 'none' }, ['eu.iso.reader-auth']],
    [{ trustRefresh: false }, ['eu.revocation']],
    [{ publicUrl: 'http://verify.example' }, ['eu.cross-device']],
  ])('that is set up as %j fails %j', async (config, failing) => {
    const defaults = loadConfig({})
    const { wallet, dcApi, ...rest } = config as Partial<Config>
    const { rows } = await start({
      config: { ...rest, wallet: { ...defaults.wallet, ...wallet }, dcApi: { ...defaults.dcApi, ...dcApi } },
    })
    expect(idsOf(await rows(), 'fail').toSorted()).toEqual(failing as ClauseId[])
  })

  test.each([
    ['of another organisation', { sub: 'VATDE-2' }, 'eu.registration'],
    ['carried by an intermediary', { act: { sub: 'VATDE-2' } }, 'eu.registration'],
    ['for one form only', { credentials: REGISTERED.slice(1) }, 'eu.registration.scope'],
    ['without an end', { exp: undefined }, 'eu.registration.current'],
    ['for more than a year', { exp: Math.floor(Date.now() / 1000) + 400 * 86_400 }, 'eu.registration.current'],
  ] as const)('whose registration certificate is %s fails the clause about it', async (_, paper, failing) => {
    const { rows } = await start({ paper })
    expect(idsOf(await rows(), 'fail')).toEqual([failing])
  })

  test('that asks on behalf of another passes with the certificate of that one, which names it as intermediary', async () => {
    for (const member of ['act', 'intermediary']) {
      const { rows } = await start({ paper: { sub: 'VATDE-2', [member]: { sub: 'VATDE-123456789' } } })
      expect(idsOf(await rows(), 'fail')).toEqual([])
    }
  })

  test('whose access certificate misses a rule of the profile, or has its issuer in no list, is told which', async () => {
    const { app, authority, rows } = await start()
    app.clock.advance(1000)
    await getCertificate(app, { issuer: authority, extensions: [isAuthority()] })
    const all = await rows()
    expect(all.find(({ id }) => id === 'eu.access-profile')).toMatchObject({
      status: 'fail',
      level: 'should',
      found: ['no_contact', 'no_policy', 'is_authority', 'no_revocation'],
    })
    const bare = await start({ isUnlisted: true })
    expect((await bare.rows()).filter(({ status }) => status === 'unknown')).toMatchObject([
      { id: 'eu.access-certificate', found: ['no_list'] },
    ])
  })

  test('that asks for a PID in one form only is told by which template, unless its name says the form', async () => {
    const { rows, save } = await start()
    await save('one_form', { credentials: [QUERY.credentials[0]!] })
    const formats = async (...templates: string[]) => (await rows(...templates)).find(({ id }) => id === 'eu.formats')
    expect(await formats()).toMatchObject({ status: 'fail', subject: 'one_form', found: ['dc+sd-jwt'] })
    expect(await formats('age_over_18_sd_jwt', 'driving_licence')).toMatchObject({ status: 'pass' })
  })

  test('that asks for driving licences needs a list of their issuers', async () => {
    const { rows } = await start()
    const row = async (template: string) => (await rows(template)).find(({ id }) => id === 'eu.trust.mdl')
    expect(await row('driving_licence')).toMatchObject({ status: 'fail', found: ['nobody'] })
    // A PID is enough there.
    expect(await row('age_over_18')).toMatchObject({ status: 'not_applicable' })
  })

  test('that uses the EU age app only is asked for nothing about requests', async () => {
    const { rows } = await start()
    const all = await rows('eu_av_age_18')
    expect(idsOf(all, 'not_applicable')).toEqual(all.map(({ id }) => id))
  })

  test('with sessions that their answer alone releases is told how many', async () => {
    const { app, liveKey, rows } = await start()
    const row = async () => (await rows()).find(({ id }) => id === 'eu.same-device')
    const body = { template: 'names', redirect_url: 'https://shop.example/back' }
    await createVerification(app, liveKey, { template: 'names' })
    expect(await row()).toMatchObject({ status: 'not_applicable' })
    await createVerification(app, liveKey, { ...body, release: 'on_redeem' })
    expect(await row()).toMatchObject({ status: 'pass' })
    await createVerification(app, liveKey, body)
    expect(await row()).toMatchObject({ status: 'fail', level: 'should', found: ['1/2'] })
  })

  test('whose registration certificate is long passes with a copy in the first document request alone', async () => {
    const { app, rows, save } = await start({ paper: { long: 'x'.repeat(19_000) } })
    const licence = {
      id: 'a',
      format: 'mso_mdoc',
      meta: { doctype_value: PID },
      claims: [{ path: [PID, 'family_name'] }],
    } as const
    await save('two', { credentials: [licence, { ...licence, id: 'b' }] })
    expect((await rows('two')).find(({ id }) => id === 'eu.iso.wrprc')).toMatchObject({ status: 'pass', found: ['first_only'] })
    expect(app.logs.filter(line => line.includes('error'))).toEqual([])
  })

  test('is examined without a new row, and without asking another host', async () => {
    const asked: string[] = []
    const resolve = async (host: string) => {
      asked.push(host)
      return ['127.0.0.1']
    }
    const { app, rows, liveKey } = await start({ resolve })
    await createVerification(app, liveKey, { template: 'age_over_18' })
    const known = () =>
      ['verification_sessions', 'verification_events', 'template_versions'].map(table => rowsOf(app, `SELECT * FROM ${table}`))
    const before = known()
    asked.length = 0
    expect((await rows()).length).toBeGreaterThan(20)
    expect([known(), asked]).toEqual([before, []])
  })
})

const python = Bun.which('python3') ?? 'python3'
const hasPython = Bun.spawnSync([python, '-c', 'import openvc.rp_registration, pycose.messages, jwcrypto.jws']).success
const titled = (title: string) =>
  hasPython ? title : `SKIPPED, as Python has no openvc-core, pycose and jwcrypto here (pycose needs cbor2<5.7): ${title}`

test.skipIf(!hasPython)(titled('stacks in Python read the papers and the request, and find both within each other'), async () => {
  const keys = await makeKeys()
  const extensions = [isAuthority(), signsCertificates(), await keyIdentifier(keys)]
  const { authority, collected } = await start({
    authority: { keys, extensions },
    leaf: [isNoAuthority(), await authorityKey(keys)],
  })
  const { samples } = await collected()
  const { redirect, annexC } = samples[0]!
  const { deviceRequest, encryptionInfo, origin } = annexC!
  const judged = async (seenAt: string) => {
    const transcript = Buffer.from(isoDcApiTranscript(encryptionInfo, seenAt)).toString('hex')
    const given = { redirect, deviceRequest, transcript, authority: pemOf(authority.der) }
    const { stdout, stderr } = Bun.spawnSync([python, join(import.meta.dir, 'judge.py')], {
      stdin: Buffer.from(JSON.stringify(given)),
    })
    expect(stderr.toString()).toBe('')
    return JSON.parse(stdout.toString())
  }
  expect(await judged(origin)).toEqual({
    organization: 'VATDE-123456789',
    intended_use: 'age-check',
    header_iat: true,
    reader: true,
    reader_is_access: true,
    wrprc: true,
  })
  expect((await judged('https://other.example')).reader).toBe(false)
})
