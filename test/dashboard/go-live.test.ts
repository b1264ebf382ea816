// The way to the first live verification: each step from facts.
import { afterAll, describe, expect, test } from 'bun:test'
import type { GoLive, Step } from '../../src/dashboard/go-live/schema.ts'
import { type Facts, stepsOf } from '../../src/dashboard/go-live/steps.ts'
import { ok, problem, warning } from '../../src/db/check.ts'
import { goLive } from '../../src/db/schema/tenants.ts'
import { trustSources } from '../../src/db/schema/trust.ts'
import type { Found } from '../../src/doctor/examine.ts'
import type { Session } from '../../src/people/schema.ts'
import { importSigningKey } from '../../src/signing/import.ts'
import { addRegistration } from '../../src/signing/registrations.ts'
import { requestNewKey } from '../../src/signing/request.ts'
import { chooseDocuments } from '../../src/tenants/go-live.ts'
import { block, unblock } from '../../src/trust/blocks.ts'
import { addSource } from '../../src/trust/lists/add-source.ts'
import { addAnchors } from '../../src/trust/settings.ts'
import { HELP } from '../../src/web/dashboard/go-live/help.ts'
import { newRegistrar } from '../helpers/access.ts'
import { cleanUp, startApp, type TestApp } from '../helpers/app.ts'
import { DAY_MS, issue, issueAuthority, pemOf } from '../helpers/certificates.ts'
import { type Browser, joinMember, outcome, startOwned } from '../helpers/dashboard.ts'
import { rowsOf } from '../helpers/database.ts'
import { pair } from '../helpers/devices.ts'
import { fingerprintOf, makeIssuer, makeSigner, makeVical } from '../trust-lists/make.ts'

afterAll(cleanUp)

/** Every name resolves to this machine, so that no test leaves it. */
const NEARBY = { now: Date.now(), resolve: async () => ['127.0.0.1'] }

const start = () => startOwned(NEARBY)

const pathOf = async (browser: Browser, tenant: string): Promise<GoLive> =>
  (await browser.get<GoLive>(`/tenants/${tenant}/go-live`)).body

const choose = (browser: Browser, tenant: string, ...documents: string[]) =>
  browser.put<GoLive>(`/tenants/${tenant}/go-live/path`, { documents })

const stepIn = ({ steps }: Pick<GoLive, 'steps'>, name: Step['step']): Step => steps.find(({ step }) => step === name)!

const statesOf = ({ steps }: GoLive) => Object.fromEntries(steps.map(({ step, state }) => [step, state]))

const trust = async (
  app: TestApp,
  environment: 'test' | 'live',
  trustedFor?: string,
  notAfter = app.clock.now() + 300 * DAY_MS,
) =>
  await addAnchors(
    app.deps,
    { pem: pemOf((await issueAuthority({ notAfter })).der), environment, trustedFor, label: 'Utopia' },
    'test',
  )

describe('the choice of documents', () => {
  test('without a choice there are no steps, and any member of the shop may choose', async () => {
    const { app, id, boss } = await start()
    expect(await pathOf(boss, id)).toEqual({ documents: [], steps: [], purposes: [], is_done: false })
    const mia = await joinMember(app, id, 'mia')
    const chosen = await choose(mia, id, 'us_licence', 'eu_age')
    expect(chosen.body.documents).toEqual(['eu_age', 'us_licence'])
    expect(chosen.body.steps).toHaveLength(11)
    expect(await pathOf(boss, id)).toEqual(chosen.body)
    const audit = await boss.get<{ data: { action: string; actor: string; details: object }[] }>(`/tenants/${id}/audit?limit=1`)
    expect(audit.body.data[0]).toMatchObject({
      action: 'tenant.changed',
      actor: 'dashboard:mia',
      details: { documents: ['us_licence', 'eu_age'] },
    })
  })

  test('unknown and doubled documents are refused', async () => {
    const { id, boss } = await start()
    expect(outcome(await choose(boss, id, 'swiyu'))).toBe('400 invalid_request')
    expect(outcome(await choose(boss, id, 'eu_age', 'eu_age'))).toBe('400 invalid_request')
    expect((await pathOf(boss, id)).documents).toEqual([])
  })

  test('a new choice keeps the times of the first verifications', async () => {
    const { app, id, boss } = await start()
    await choose(boss, id, 'eu_age')
    const at = app.clock.now()
    await app.deps.writeSettings(async tx => void (await tx.update(goLive).set({ firstTestAt: at, firstLiveAt: at + 1 })))
    const { body } = await choose(boss, id, 'other')
    expect(stepIn(body, 'first_test')).toMatchObject({ state: 'done', reason: 'tested', at: new Date(at).toISOString() })
    expect(stepIn(body, 'first_live')).toMatchObject({ state: 'done', reason: 'went_live' })
    expect(rowsOf(app, 'SELECT documents FROM go_live')).toHaveLength(1)
  })
})

describe('the steps', () => {
  test('for the EU age app no certificate or registration is needed, and each command names its preset', async () => {
    const { id, boss } = await start()
    await choose(boss, id, 'eu_age')
    const path = await pathOf(boss, id)
    expect(path.is_done).toBe(false)
    expect(statesOf(path)).toEqual({
      address: 'to_do',
      identity: 'not_needed',
      registration: 'not_needed',
      issuers_test: 'to_do',
      first_test: 'to_do',
      issuers_live: 'to_do',
      eu_profile: 'not_needed',
      keys: 'done',
      first_live: 'to_do',
      renewals: 'waiting',
      retention: 'to_do',
    })
    expect(stepIn(path, 'issuers_test').command).toBe('vidimus trust source add --preset eu-av-acceptance --env test')
    expect(stepIn(path, 'issuers_live').command).toBe('vidimus trust source add --preset eu-av --env live')
    expect([stepIn(path, 'issuers_test').preset, stepIn(path, 'issuers_live').preset]).toEqual(['eu-av-acceptance', 'eu-av'])
    expect(stepIn(path, 'first_test').command).toContain('{"template":"eu_av_age_18"}')
  })

  test('the retention is asked until somebody chooses days, or to keep results', async () => {
    const { app, id, boss } = await start()
    await choose(boss, id, 'eu_age')
    expect(stepIn(await pathOf(boss, id), 'retention')).toMatchObject({ state: 'to_do', reason: 'retention_open' })
    await boss.put(`/tenants/${id}`, { name: 'Renamed' })
    expect(stepIn(await pathOf(boss, id), 'retention').state).toBe('to_do')
    const isLive = async () => (await boss.get<Session>('/session')).body.tenants.find(each => each.id === id)?.is_live
    await app.deps.writeSettings(async tx => void (await tx.update(goLive).set({ firstLiveAt: 1 })))
    expect(await isLive()).toBe(false)
    await boss.put(`/tenants/${id}`, { retention_days: 14 })
    expect(stepIn(await pathOf(boss, id), 'retention')).toMatchObject({ state: 'done', reason: 'kept_days', names: ['14'] })
    expect(await isLive()).toBe(true)
    await boss.put(`/tenants/${id}`, { retention_days: null })
    expect(stepIn(await pathOf(boss, id), 'retention')).toMatchObject({ state: 'done', reason: 'kept_until_erased' })
    expect(await isLive()).toBe(true)
  })

  test('an issuer counts for the document and environment that it is trusted for', async () => {
    const { app, id, boss } = await start()
    await choose(boss, id, 'eu_age', 'us_licence')
    await trust(app, 'live', 'org.iso.18013.5.1.mDL')
    await trust(app, 'test', 'eu.europa.ec.av.1')
    const path = await pathOf(boss, id)
    expect(stepIn(path, 'issuers_live')).toMatchObject({ state: 'to_do', documents: ['eu_age'] })
    expect(stepIn(path, 'issuers_test')).toMatchObject({
      state: 'to_do',
      documents: ['us_licence'],
      command: 'vidimus trust add FILE.pem --env test --for org.iso.18013.5.1.mDL',
    })
    await trust(app, 'live')
    expect(stepIn(await pathOf(boss, id), 'issuers_live')).toMatchObject({ state: 'done', documents: ['eu_age', 'us_licence'] })
  })

  test('an expired issuer does not count', async () => {
    const { app, id, boss } = await start()
    await choose(boss, id, 'eu_age')
    await trust(app, 'live', 'eu.europa.ec.av.1', app.clock.now() + DAY_MS)
    expect(stepIn(await pathOf(boss, id), 'issuers_live').state).toBe('done')
    app.clock.advance(2 * DAY_MS)
    await boss.logIn('olivia')
    expect(stepIn(await pathOf(boss, id), 'issuers_live').state).toBe('to_do')
    expect(stepIn(await pathOf(boss, id), 'renewals')).toMatchObject({ state: 'problem', reason: 'has_ended', names: ['Utopia'] })
  })

  test('something else needs an issuer for each own template', async () => {
    const { app, id, boss } = await start()
    await choose(boss, id, 'other')
    const query = {
      credentials: [
        { id: 'm', format: 'dc+sd-jwt', meta: { vct_values: ['https://club.example/m'] }, claims: [{ path: ['level'] }] },
      ],
    }
    await boss.put(`/tenants/${id}/templates/membership`, { title: 'Member', query })
    await trust(app, 'live', 'urn:eudi:pid:1')
    expect(stepIn(await pathOf(boss, id), 'issuers_live')).toMatchObject({
      state: 'to_do',
      command: 'vidimus trust add FILE.pem --env live --for https://club.example/m',
    })
    await trust(app, 'live', 'https://club.example/m')
    expect(stepIn(await pathOf(boss, id), 'issuers_live').state).toBe('done')
  })

  test('a wallet asks for a certificate of an authority, and for a registration', async () => {
    const { app, id, boss } = await start()
    await choose(boss, id, 'eu_wallet')
    expect(statesOf(await pathOf(boss, id))).toMatchObject({ identity: 'to_do', registration: 'to_do' })
    const authority = await issueAuthority({ notAfter: app.clock.now() + 900 * DAY_MS })
    const { der, keys } = await issue({ issuer: authority, name: 'CN=Wine bar', notAfter: app.clock.now() + 300 * DAY_MS })
    const pkcs8 = Buffer.from(await crypto.subtle.exportKey('pkcs8', keys.privateKey)).toString('base64')
    const keyPem = `-----BEGIN PRIVATE KEY-----\n${pkcs8}\n-----END PRIVATE KEY-----\n`
    await requestNewKey(app.deps, { owner: null, host: 'verify.example' }, 'test')
    expect(stepIn(await pathOf(boss, id), 'identity')).toMatchObject({ state: 'waiting', reason: 'identity_requested' })
    const given = { chainPem: pemOf(der), keyPem, owner: null, authorities: [] }
    await importSigningKey(app.deps, { ...given, from: app.clock.now() + DAY_MS }, 'test')
    expect(stepIn(await pathOf(boss, id), 'identity')).toMatchObject({ state: 'waiting', reason: 'identity_scheduled' })
    await importSigningKey(app.deps, given, 'test')
    app.clock.advance(10_000)
    expect(stepIn(await pathOf(boss, id), 'identity')).toMatchObject({
      state: 'done',
      reason: 'identity_valid',
      names: ['C=NL, CN=Test Root'],
    })
  })

  test('claims that EU wallets are asked for must be registered, template by template', async () => {
    const { app, id, boss } = await start()
    await choose(boss, id, 'eu_wallet')
    const register = await newRegistrar(app)
    const pid = (...claims: string[]) => ({
      format: 'dc+sd-jwt',
      meta: { vct_values: ['urn:eudi:pid:1'] },
      claims: claims.map(name => ({ path: [name] })),
    })
    const query = { credentials: [{ id: 'pid', ...pid('family_name', 'birthdate') }] }
    await boss.put(`/tenants/${id}/templates/names`, { title: 'Names', query, purpose: 'To know who you are' })
    const add = async (...claims: string[]) =>
      await addRegistration(
        app.deps,
        { text: await register({ credentials: [pid(...claims)] }), owner: null, templates: [] },
        'test',
      )
    const step = async () => stepIn(await pathOf(boss, id), 'registration')
    expect(await step()).toMatchObject({ state: 'to_do', reason: 'registration_missing' })
    await add('family_name')
    expect(await step()).toMatchObject({ state: 'to_do', reason: 'registration_beyond', names: ['names'] })
    await add('family_name', 'birthdate')
    expect(await step()).toMatchObject({ state: 'done', reason: 'registered' })
    const purposes = async () => (await pathOf(boss, id)).purposes
    expect(await purposes()).toEqual([
      {
        template: 'names',
        purpose: { en: 'To know who you are', de: 'To know who you are' },
        registered: [{ lang: 'en', value: 'To check your age' }],
      },
    ])
    await choose(boss, id, 'us_licence')
    expect(await purposes()).toEqual([])
    await choose(boss, id, 'eu_wallet')
    app.clock.advance(301 * DAY_MS)
    await boss.logIn('olivia')
    expect(await step()).toMatchObject({ state: 'problem', reason: 'registration_unsound' })
  })

  test('requests that EU wallets would refuse are to do, by their clauses', async () => {
    const { id, boss } = await start()
    await choose(boss, id, 'eu_wallet')
    expect(stepIn(await pathOf(boss, id), 'eu_profile')).toMatchObject({
      state: 'to_do',
      reason: 'eu_profile_failing',
      names: expect.arrayContaining(['eu.access-certificate', 'eu.registration']),
      command: `vidimus doctor --profile eu --tenant ${id}`,
    })
  })

  test('a live key or a live till is enough to ask', async () => {
    const { app, boss } = await start()
    const shop = await boss.post<{ id: string }>('/tenants', { name: 'Empty' })
    const tenant = shop.body.id
    await choose(boss, tenant, 'eu_age')
    expect(stepIn(await pathOf(boss, tenant), 'keys')).toMatchObject({
      state: 'to_do',
      command: `vidimus key create --tenant ${tenant} --env live`,
    })
    await app.key(tenant, { environment: 'test' })
    expect(stepIn(await pathOf(boss, tenant), 'keys').state).toBe('to_do')
    const minted = await boss.post<{ key: string; api_key: { id: string } }>(`/tenants/${tenant}/keys`, {
      environment: 'live',
      scopes: ['devices:manage'],
      label: 'Web shop',
      expires_days: null,
    })
    expect(stepIn(await pathOf(boss, tenant), 'keys')).toMatchObject({ state: 'done', names: ['Web shop'] })
    await pair(app, minted.body.key, { name: 'Till 1' })
    await boss.delete(`/tenants/${tenant}/keys/${minted.body.api_key.id}`)
    expect(stepIn(await pathOf(boss, tenant), 'keys')).toMatchObject({ state: 'done', names: ['Till 1'] })
  })

  test('an issuer or certificate that ends within a month is a renewal to do', async () => {
    const { app, id, boss } = await start()
    await choose(boss, id, 'eu_age')
    await trust(app, 'live', undefined, app.clock.now() + 40 * DAY_MS)
    expect(stepIn(await pathOf(boss, id), 'renewals').state).toBe('done')
    app.clock.advance(11 * DAY_MS)
    await boss.logIn('olivia')
    expect(stepIn(await pathOf(boss, id), 'renewals')).toMatchObject({ state: 'to_do', reason: 'ends_soon', names: ['Utopia'] })
  })

  test('issuers of a list count until it ends, or until they are blocked; one brought by hand is to be renewed in time', async () => {
    const { app, id, boss } = await start()
    await choose(boss, id, 'us_licence')
    const signer = await makeSigner({ notAfter: app.clock.now() + 400 * DAY_MS })
    const { der } = await makeIssuer()
    const dates = { date: app.clock.now() - DAY_MS, nextUpdate: app.clock.now() + 30 * DAY_MS }
    const bytes = makeVical({ ...dates, entries: [{ certificate: der }] }, signer)
    const given = { environment: 'live', kind: 'vical', label: 'Utopia', signers: [signer.fingerprint], bytes } as const
    const source = await addSource(app.deps, given, 'test')
    expect(statesOf(await pathOf(boss, id))).toMatchObject({ issuers_live: 'done', renewals: 'done' })
    const blocked = { environment: 'live', fingerprint: fingerprintOf(der), reason: 'Lost' } as const
    await block(app.deps, blocked, 'test')
    expect(stepIn(await pathOf(boss, id), 'issuers_live')).toMatchObject({ state: 'to_do', reason: 'issuers_missing' })
    await unblock(app.deps, blocked, 'test')
    app.clock.advance(31 * DAY_MS)
    await boss.logIn('olivia')
    expect(stepIn(await pathOf(boss, id), 'issuers_live').state).toBe('done')
    expect(stepIn(await pathOf(boss, id), 'renewals')).toMatchObject({ state: 'to_do', reason: 'ends_soon', names: ['Utopia'] })
    app.clock.advance(30 * DAY_MS)
    await boss.logIn('olivia')
    expect(stepIn(await pathOf(boss, id), 'issuers_live')).toMatchObject({
      state: 'problem',
      reason: 'issuers_ended',
      names: ['Utopia'],
      command: `vidimus trust source refresh ${source.id}`,
    })
    expect(stepIn(await pathOf(boss, id), 'renewals')).toMatchObject({ state: 'problem', reason: 'has_ended' })
  })

  test('a list that has not been updated for a day is a problem of the renewals', async () => {
    const { app, id, boss } = await start()
    await choose(boss, id, 'us_licence')
    const signer = await makeSigner({ notAfter: app.clock.now() + 400 * DAY_MS })
    const dates = { date: app.clock.now() - DAY_MS, nextUpdate: app.clock.now() + 300 * DAY_MS }
    const bytes = makeVical({ ...dates, entries: [{ certificate: (await makeIssuer()).der }] }, signer)
    const given = { environment: 'live', kind: 'vical', label: 'Utopia', signers: [signer.fingerprint], bytes } as const
    await addSource(app.deps, { ...given, location: 'https://lists.example/vical' }, 'test')
    const changes = { failure: 'unreachable', failingSince: app.clock.now() }
    await app.deps.writeSettings(async tx => void (await tx.update(trustSources).set(changes)))
    expect(stepIn(await pathOf(boss, id), 'renewals').state).toBe('done')
    app.clock.advance(DAY_MS)
    await boss.logIn('olivia')
    expect(stepIn(await pathOf(boss, id), 'renewals')).toMatchObject({ state: 'problem', reason: 'list_failing' })
  })

  test('shops have paths of their own', async () => {
    const { app, id, boss } = await start()
    const other = await app.tenant({ name: 'Bakery' })
    await chooseDocuments(app.deps, id, ['eu_age'], 'test')
    expect((await pathOf(boss, other.id)).documents).toEqual([])
  })
})

const REACHED = ok('address_reached', { publicUrl: '' })
const PRIVATE = warning('address_private', { host: '' })
const SILENT = problem('address_silent', { publicUrl: '' })
const GOOD = ok('tls_good', { host: '', daysLeft: 90 })
const LOCAL = warning('tls_local', { host: '' })

describe('the address', () => {
  const facts = (changed: Partial<Facts>, url: Found = REACHED, tls: Found = GOOD): Facts => ({
    documents: ['eu_age'],
    firstTestAt: null,
    firstLiveAt: null,
    tenantId: 'ten_x',
    publicUrl: 'https://verify.example',
    isLocal: false,
    failing: [],
    now: 0,
    check: name => (name === 'tls' ? tls : url),
    anchors: [],
    sources: [],
    blocks: [],
    templates: [],
    signing: undefined,
    registration: { state: 'none', beyond: [], ending: null, purposes: [] },
    askers: [],
    retentionDays: null,
    retentionChosenAt: null,
    ...changed,
  })
  const address = (...given: Parameters<typeof facts>) => stepIn({ steps: stepsOf(facts(...given)) }, 'address')

  test.each([
    ['https that answers is done', {}, REACHED, GOOD, 'done', 'reached', null],
    ['a private network is done, with a note', {}, PRIVATE, GOOD, 'done', 'reached', 'address_private'],
    ['a name of this machine is to do', { isLocal: true }, PRIVATE, GOOD, 'to_do', 'address_local', null],
    [
      'a name of this machine where nothing answers is a problem',
      { isLocal: true },
      SILENT,
      GOOD,
      'problem',
      'address_local',
      null,
    ],
    ['plain http is to do', { publicUrl: 'http://verify.example' }, PRIVATE, GOOD, 'to_do', 'address_plain', null],
    ['a certificate that phones refuse is to do', {}, REACHED, LOCAL, 'to_do', 'address_unsound', 'tls_local'],
    ['an address where nothing answers is a problem', {}, SILENT, GOOD, 'problem', 'address_unsound', 'address_silent'],
  ] as const)('%s', (_, changed, url, tls, state, reason, code) => {
    expect(address(changed, url, tls)).toMatchObject({ state, reason, finding: code && { code } })
  })
})

test('the help of each step is a section of the handbook', async () => {
  const app = await startApp()
  for (const place of new Set(Object.values(HELP))) {
    const [page, anchor] = place.split('#')
    const { status, text } = await app.call('GET', `/docs/${page}`)
    expect([place, status, anchor === undefined || text.includes(`id="${anchor}"`)]).toEqual([place, 200, true])
  }
})
