// Every check of doctor against a real service, good and bad.
import { Database } from 'bun:sqlite'
import { afterAll, describe, expect, test } from 'bun:test'
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { secondOf } from '../../src/db/check.ts'
import type { CheckName } from '../../src/doctor/check.ts'
import { CHECKS } from '../../src/doctor/check.ts'
import { issueAuthority, issueLeaf } from '../../src/signing/authority.ts'
import { saveTemplate } from '../../src/templates/save.ts'
import { addAnchors } from '../../src/trust/settings.ts'
import { noticeClockStep } from '../../src/upkeep/clock.ts'
import { createBackups } from '../../src/upkeep/schedule.ts'
import { setEndpoint } from '../../src/webhooks/endpoint.ts'
import { getCertificate, loadAccessList, newAuthority } from '../helpers/access.ts'
import { cleanUp, createVerification, startApp, type TestApp, temporaryDir } from '../helpers/app.ts'
import { pemOf } from '../helpers/certificates.ts'
import { setUpOwner } from '../helpers/dashboard.ts'
import { isOnPostgres } from '../helpers/database.ts'
import { listOrigin } from '../helpers/dc.ts'
import { type Check, examine } from '../helpers/doctor.ts'
import { sqliteOnly } from '../helpers/engines.ts'
import { declined, receive, startAppFor, stopReceiving, untilAttempted } from '../helpers/receiver.ts'
import { verifyWith } from '../helpers/wallet.ts'

afterAll(async () => {
  stopReceiving()
  await cleanUp()
})

/** The disk of PostgreSQL is its server's, and so are its backups. */
const CHECKED = CHECKS.filter(name => !isOnPostgres || name !== 'disk')
const onFile = sqliteOnly('disk, backups and damage of PostgreSQL are its server’s')

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
const random = (count: number) => crypto.getRandomValues(new Uint8Array(count))

/** Every name resolves to this machine, so that no test leaves it. */
const NEARBY = { resolve: async () => ['127.0.0.1'] }

/** A service whose public name resolves to it, and to a public address as well. */
async function startPublic(options: Parameters<typeof startApp>[0] = {}, scheme = 'http'): Promise<TestApp> {
  const app = await startApp({ now: Date.now(), resolve: async () => ['127.0.0.1', '93.184.215.14'], ...options })
  app.deps.config.publicUrl = `${scheme}://verify.example:${new URL(app.url).port}`
  return app
}

async function found(app: TestApp, name: CheckName, isServer = true): Promise<Check> {
  const checks = await examine(app.deps, isServer)
  for (const check of checks) expectBothLanguages(check)
  return checks.find(check => check.name === name)!
}

/** Every finding and every remedy is there in German too. */
function expectBothLanguages({ name, detail, remedy, de }: Check): void {
  const english = /\b(the|is|are|this|there|with|was|and|your)\b/i
  expect([name, de.detail]).not.toEqual([name, detail])
  // Names of things, and causes that only the log has, may be English.
  expect(`${name}: ${de.detail.replaceAll(/\(.*?\)|\S*[./:_]\S*/g, '')}`).not.toMatch(english)
  expect([name, de.remedy === undefined]).toEqual([name, remedy === undefined])
  if (remedy !== undefined) expect([name, de.remedy]).not.toEqual([name, remedy])
}

async function pairFor(host: string, { days = 90, at = Date.now() } = {}) {
  const folder = temporaryDir()
  const authority = await issueAuthority({ name: 'Test', at, random })
  const leaf = await issueLeaf({ authority, name: host, hosts: [host], days, forServers: true, at, random })
  const tls = { certFile: join(folder, 'c.pem'), keyFile: join(folder, 'k.pem') }
  writeFileSync(tls.certFile, leaf.chain)
  writeFileSync(tls.keyFile, leaf.privateKey.export({ format: 'pem', type: 'pkcs8' }))
  return { tls, authority }
}

describe('examine', () => {
  test('a healthy service has every check in order, and no problem', async () => {
    const app = await startPublic()
    await createBackups(app.deps).runWhenDue()
    const checks = await examine(app.deps, true)
    expect(checks.map(({ name }) => name)).toEqual(CHECKED)
    const mayWarn = ['public_url', 'dc_api', ...(isOnPostgres ? ['backups'] : [])]
    const sound = ['ok', 'not_set_up']
    expect(checks.filter(({ status, name }) => !sound.includes(status) && !mayWarn.includes(name))).toEqual([])
    expect(checks.flatMap(({ name, status }) => (status === 'not_set_up' ? [name] : []))).toEqual([
      'tls',
      'signing_certificate',
      'in_person',
      'openid_provider',
      'trust_anchors',
      'trust_lists',
      'webhooks',
      'mail',
    ])
    // Without live keys plain http is only a warning.
    expect(checks.find(({ name }) => name === 'public_url')).toMatchObject({
      status: 'warning',
      remedy: expect.stringMatching(/TLS/),
    })
  })

  onFile('a check that fails is reported as a problem, and the others still run', async () => {
    const app = await startPublic()
    app.deps.space.free = () => {
      throw new Error('secret value')
    }
    const checks = await examine(app.deps, true)
    expect(checks.map(({ name }) => name)).toEqual(CHECKED)
    expect(checks.find(({ name }) => name === 'disk')).toMatchObject({
      status: 'problem',
      detail: expect.stringMatching(/^The check itself failed/),
    })
    expect(JSON.stringify(checks)).not.toContain('secret value')
    expect(checks.find(({ name }) => name === 'database')).toMatchObject({ status: 'ok' })
  })
})

describe('public_url', () => {
  test('an address of this machine is not set up, neither in order nor wrong, with and without a live key', async () => {
    const app = await startApp({ now: Date.now(), resolve: async () => ['127.0.0.1'] })
    app.deps.config.publicUrl = app.url.replace('127.0.0.1', 'localhost')
    const local = { status: 'not_set_up', detail: expect.stringMatching(/a phone cannot reach it/) }
    expect(await found(app, 'public_url')).toMatchObject(local)
    await app.tenant()
    expect(await found(app, 'public_url')).toMatchObject(local)
  })

  test('a name that is not in the DNS is a problem', async () => {
    const app = await startPublic({ resolve: async () => Promise.reject(new Error('ENOTFOUND')) })
    expect(await found(app, 'public_url')).toMatchObject({
      status: 'problem',
      detail: 'verify.example was not found in the DNS.',
    })
  })

  test('an address where nothing answers is a problem', async () => {
    const app = await startPublic()
    const closed = Bun.serve({ port: 0, fetch: () => new Response() })
    app.deps.config.publicUrl = `http://verify.example:${closed.port}`
    await closed.stop(true)
    expect(await found(app, 'public_url')).toMatchObject({
      status: 'problem',
      detail: expect.stringMatching(/^Nothing answers at/),
    })
  })

  test('another installation of the same program at the address is a problem', async () => {
    const [app, other] = [await startPublic(), await startPublic()]
    app.deps.config.publicUrl = other.deps.config.publicUrl
    expect(await found(app, 'public_url')).toMatchObject({
      status: 'problem',
      detail: expect.stringMatching(/^Something else answers/),
    })
    expect(await found(other, 'public_url')).toMatchObject({ status: 'warning' })
  })

  test('a recorded response of this installation is a problem', async () => {
    const app = await startPublic()
    const kept = await fetch(`${app.url}/healthz`, { headers: { 'x-vidimus-probe': 'A'.repeat(32) } })
    const proof = kept.headers.get('x-vidimus-proof') ?? ''
    expect(proof).toHaveLength(43)
    const cache = Bun.serve({ port: 0, fetch: () => Response.json({ status: 'ok' }, { headers: { 'x-vidimus-proof': proof } }) })
    app.deps.config.publicUrl = `http://verify.example:${cache.port}`
    expect(await found(app, 'public_url')).toMatchObject({ status: 'problem' })
    await cache.stop(true)
  })

  test('a name with private addresses only is a warning', async () => {
    const { tls } = await pairFor('verify.example')
    const app = await startPublic({ config: { tls }, resolve: async () => ['127.0.0.1', '192.168.1.5'] }, 'https')
    expect(await found(app, 'public_url')).toMatchObject({
      status: 'warning',
      detail: expect.stringMatching(/only inside that network/),
    })
  })

  test('https at a public address is ok', async () => {
    const { tls } = await pairFor('verify.example')
    const app = await startPublic({ config: { tls } }, 'https')
    expect(await found(app, 'public_url')).toMatchObject({ status: 'ok' })
  })
})

describe('GET /healthz', () => {
  test('a well-formed probe gets a proof; any other request gets only the status', async () => {
    const app = await startApp(NEARBY)
    for (const number of [undefined, 'short', 'a'.repeat(65), 'with space and more than 22']) {
      const headers = number === undefined ? undefined : { 'x-vidimus-probe': number }
      const answer = await app.call('GET', '/healthz', { headers })
      expect([answer.status, answer.text, answer.headers.get('x-vidimus-proof')]).toEqual([200, '{"status":"ok"}', null])
    }
    const [one, other] = await Promise.all(
      ['1', '2'].map(
        async digit => (await app.call('GET', '/healthz', { headers: { 'x-vidimus-probe': digit.repeat(32) } })).headers,
      ),
    )
    expect(one!.get('x-vidimus-proof')).not.toBe(other!.get('x-vidimus-proof'))
  })
})

describe('tls', () => {
  test.each([
    ['for another name', 'other.example', {}, /^The certificate is not for verify\.example/],
    ['that has expired', 'verify.example', { days: 1, at: Date.now() - 10 * DAY_MS }, /has expired/],
    ['that is not valid yet', 'verify.example', { days: 90, at: Date.now() + 10 * DAY_MS }, /is not valid before 20/],
    ['from an unknown authority', 'verify.example', {}, /leads to no authority/],
  ] as const)('a certificate %s is a problem', async (_, host, life, detail) => {
    const { tls } = await pairFor(host, life)
    const app = await startPublic({ config: { tls } }, 'https')
    expect(await found(app, 'tls')).toMatchObject({ status: 'problem', detail: expect.stringMatching(detail) })
  })

  test('a certificate of the local authority is a warning that phones will not trust it', async () => {
    const { tls, authority } = await pairFor('verify.example')
    const app = await startPublic({ config: { tls } }, 'https')
    mkdirSync(join(app.dir, 'tls'))
    writeFileSync(join(app.dir, 'tls', 'ca.pem'), authority.chain)
    expect(await found(app, 'tls')).toMatchObject({ status: 'warning', detail: expect.stringMatching(/phones do not/) })
  })

  test.each([
    ['that is gone', undefined, /^VIDIMUS_TLS_CERT: cannot read \S+c\.pem \(ENOENT\).*\.$/, /lässt sich nicht lesen/],
    ['without a certificate', 'none', /holds no readable certificate/, /enthält kein lesbares Zertifikat/],
    ['of another key', 'other', /is not the key of the first certificate/, /ist nicht der Schlüssel/],
  ] as const)('a file %s is a problem of the running service: its next start would fail', async (_, kind, en, de) => {
    const { tls } = await pairFor('verify.example')
    const app = await startPublic({ config: { tls } }, 'https')
    const other = (await pairFor('verify.example')).tls
    if (kind === undefined) rmSync(tls.certFile)
    else writeFileSync(tls.certFile, kind === 'other' ? readFileSync(other.certFile) : kind)
    expect(await found(app, 'tls')).toMatchObject({
      status: 'problem',
      detail: expect.stringMatching(en),
      remedy: expect.stringMatching(/the next start of the service fails/),
      de: { detail: expect.stringMatching(de) },
    })
  })
})

describe('checks of what wallets see', () => {
  test('x509_san_dns needs the public host in the signing certificate', async () => {
    const wallet = {
      profile: 'haip',
      linkStart: 'openid4vp',
      clientIdPrefix: 'x509_san_dns',
      registrationCertFile: '',
      requestUriMethod: 'get',
      verifierInfoData: 'jwt',
    } as const
    const app = await startApp({ ...NEARBY, config: { wallet } })
    expect(await found(app, 'client_id')).toMatchObject({ status: 'ok', detail: expect.stringMatching(/verify\.example/) })
    app.deps.config.publicUrl = 'https://moved.example'
    expect(await found(app, 'client_id')).toMatchObject({ status: 'problem', remedy: expect.stringMatching(/signing csr/) })
    app.deps.config.wallet = { ...wallet, clientIdPrefix: 'x509_hash' }
    expect(await found(app, 'client_id')).toMatchObject({ status: 'ok' })
  })

  test('a signing certificate near its end is a warning, and past it a problem', async () => {
    const app = await startApp(NEARBY)
    expect(await found(app, 'signing_certificate')).toMatchObject({ status: 'not_set_up' })
    app.clock.advance(710 * DAY_MS)
    expect(await found(app, 'signing_certificate')).toMatchObject({ status: 'warning', detail: expect.stringMatching(/20 days/) })
    app.clock.advance(12 * DAY_MS)
    expect(await found(app, 'signing_certificate')).toMatchObject({ status: 'problem', detail: expect.stringMatching(/8 days/) })
    app.clock.advance(9 * DAY_MS)
    expect(await found(app, 'signing_certificate')).toMatchObject({
      status: 'problem',
      detail: expect.stringMatching(/has expired/),
    })
  })

  test('a certificate of a week warns when a third of it is left, and is a problem when a tenth is', async () => {
    const app = await startApp(NEARBY)
    const now = app.clock.now()
    await getCertificate(app, { notAfter: now + 7 * DAY_MS })
    const at = async (days: number) => {
      app.clock.set(now + days * DAY_MS)
      const { status, detail } = await found(app, 'signing_certificate')
      return [status, detail]
    }
    expect(await at(4.6)).toEqual(['ok', 'The certificate that wallets see is valid for 2 days.'])
    expect(await at(4.7)).toEqual(['warning', 'The certificate that wallets see expires in 2 days.'])
    expect(await at(6.25)).toEqual(['warning', 'The certificate that wallets see expires in 18 hours.'])
    expect(await at(6.5)).toEqual(['problem', 'The certificate that wallets see expires in 12 hours.'])
    // The next one is there in time.
    await getCertificate(app, { notBefore: now + 6.8 * DAY_MS, notAfter: now + 30 * DAY_MS })
    expect((await at(6.6))[0]).toBe('ok')
  })

  test('an imported certificate outside the profile, or of a tenant and about to end, is named', async () => {
    const app = await startApp(NEARBY)
    const { id } = await app.tenant()
    const now = app.clock.now()
    const life = { notBefore: now - DAY_MS, notAfter: now + 300 * DAY_MS }
    await getCertificate(app, { ...life, name: 'CN=Shop', extensions: [] })
    expect(await found(app, 'signing_certificate')).toMatchObject({
      status: 'warning',
      detail:
        'EU wallets may refuse the certificate that they see: no organisation identifier in the subject, no contact in the alternative names, no policy 0.4.0.194118.1.x, no address of a revocation list.',
    })
    await getCertificate(app, life)
    expect(await found(app, 'signing_certificate')).toMatchObject({ status: 'ok' })
    await getCertificate(app, { owner: id, notBefore: now - 80 * DAY_MS, notAfter: now + 20 * DAY_MS })
    expect(await found(app, 'signing_certificate')).toMatchObject({
      status: 'warning',
      detail: `The certificate that wallets see of tenant ${id} expires in 20 days.`,
    })
  })

  test('an imported certificate must lead to an access authority of the list that is loaded', async () => {
    const app = await startApp(NEARBY)
    const issuer = await newAuthority(app)
    await getCertificate(app, { issuer })
    await loadAccessList(app, pemOf((await newAuthority(app)).der))
    expect(await found(app, 'signing_certificate')).toMatchObject({
      status: 'warning',
      detail: expect.stringContaining('no path to an access authority on the loaded list'),
    })
    await loadAccessList(app, pemOf(issuer.der))
    expect(await found(app, 'signing_certificate')).toMatchObject({ status: 'ok' })
  })

  test('live keys without trusted issuers are a problem; then each template in use needs one', async () => {
    const app = await startApp({ ...NEARBY, now: Date.now() })
    expect(await found(app, 'trust_anchors')).toMatchObject({ status: 'not_set_up' })
    const { id: tenantId, liveKey } = await app.tenant()
    expect(await found(app, 'trust_anchors')).toMatchObject({
      status: 'problem',
      remedy: expect.stringMatching(/trust add FILE\.pem --env live$/),
    })
    const { chain: pem } = await issueAuthority({ name: 'Issuer', at: Date.now(), random })
    await addAnchors(app.deps, { pem, environment: 'live', trustedFor: 'urn:example:other' }, 'test')
    // No live session was created yet.
    expect(await found(app, 'trust_anchors')).toMatchObject({ status: 'ok' })
    await createVerification(app, liveKey, { template: 'eu_av_age_18' })
    expect(await found(app, 'trust_anchors')).toMatchObject({
      status: 'problem',
      detail: 'No issuer is trusted in live for what eu_av_age_18 asks for.',
      remedy:
        'Add its list: vidimus trust source add --preset eu-av --env live; or one issuer: vidimus trust add FILE.pem --env live --for eu.europa.ec.av.1',
    })
    const query = { credentials: [{ id: 'other', format: 'dc+sd-jwt', meta: { vct_values: ['urn:example:other'] } }] } as const
    await saveTemplate(app.deps, { tenantId, key: 'other', title: 'Other', query }, 'test')
    expect(await found(app, 'trust_anchors')).toMatchObject({ status: 'warning' })
    await addAnchors(app.deps, { pem, environment: 'live', trustedFor: 'eu.europa.ec.av.1' }, 'test')
    expect(await found(app, 'trust_anchors')).toMatchObject({ status: 'ok' })
    await createVerification(app, liveKey, { template: 'photo_id_sd_jwt' })
    expect(await found(app, 'trust_anchors')).toMatchObject({
      status: 'warning',
      detail: 'No issuer is trusted in live for what photo_id_sd_jwt asks for.',
    })
  })

  test('status_lists names hosts that cannot be reached under the egress rules', async () => {
    const app = await startApp({ resolve: async host => (host === 'gone.example' ? [] : ['10.0.0.1']) })
    const { key } = await app.tenant()
    await verifyWith(app, key, 'adult')
    // The sandbox issuer's own list is read without a network.
    expect(app.deps.status.known()).toEqual([expect.stringMatching(/^https:\/\/verify\.example\//)])
    expect(await found(app, 'status_lists')).toMatchObject({
      status: 'ok',
      detail: expect.stringMatching(/: 2 of its own sandbox or this machine, none of other issuers/),
    })
    app.deps.status.known = () => [
      'https://verify.example/own',
      'https://gone.example/1',
      'https://gone.example/2',
      'https://in.example/x',
    ]
    const check = await found(app, 'status_lists')
    expect(check.status).toBe('problem')
    expect(check.detail).toContain(
      'https://gone.example (its name was not found), https://in.example (its address is not allowed)',
    )
    expect(check.detail).not.toContain('verify.example')
    expect(await found(app, 'status_lists', false)).toMatchObject({ status: 'ok', detail: expect.stringMatching(/dashboard/) })
  })
})

describe('dc_api', () => {
  test('names protocols, certificate and live origins, signed once a certificate was imported', async () => {
    const app = await startApp({ now: Date.now(), ...NEARBY })
    app.deps.config.publicUrl = app.url.replace('127.0.0.1', 'localhost')
    expect(await found(app, 'dc_api')).toMatchObject({
      name: 'dc_api',
      status: 'ok',
      detail:
        'Browsers are offered openid4vp-v1-unsigned and org-iso-mdoc; the certificate was made by this service; there is no reader certificate, so org-iso-mdoc requests are not signed; in live sessions only pages of this service may ask.',
    })
    const { id } = await app.tenant()
    await listOrigin(app, id, 'https://shop.example', 'live')
    await listOrigin(app, id, 'https://shop.example', 'test')
    await getCertificate(app)
    expect((await found(app, 'dc_api')).detail).toBe(
      'Browsers are offered openid4vp-v1-signed and org-iso-mdoc; the certificate was imported; org-iso-mdoc requests are signed by it; one more origin may ask in live sessions.',
    )
    app.deps.config.readerAuth = 'reader'
    expect((await found(app, 'dc_api')).detail).toContain('there is no reader certificate')
    app.deps.config.dcApi.mode = 'iso'
    await listOrigin(app, id, 'https://two.example', 'live')
    expect((await found(app, 'dc_api')).detail).toMatch(/^Browsers are offered org-iso-mdoc; .* 2 more origins may ask/)
  })

  test('warns of plain http, and of signatures by a certificate that no wallet knows', async () => {
    const app = await startPublic()
    expect(await found(app, 'dc_api')).toMatchObject({ status: 'warning', detail: expect.stringMatching(/plain http/) })
    app.deps.config.publicUrl = 'https://verify.example'
    expect(await found(app, 'dc_api')).toMatchObject({ status: 'ok' })
    app.deps.config.dcApi.mode = 'signed'
    expect(await found(app, 'dc_api')).toMatchObject({ status: 'warning', remedy: expect.stringMatching(/signing csr/) })
  })

  test('is in order while nobody asks through the browser', async () => {
    const app = await startPublic()
    app.deps.config.dcApi.mode = 'off'
    expect(await found(app, 'dc_api')).toMatchObject({ status: 'ok', detail: expect.stringMatching(/VIDIMUS_DC_API is off/) })
  })
})

describe('webhooks', () => {
  test('receivers get a connection but no message; path and query of their address are not shown', async () => {
    const receiver = receive()
    const app = await startAppFor([receiver])
    const { key } = await app.tenant()
    await untilAttempted(app, await declined({ app, key }, receiver.url('/hook/secret-path?secret=query')), 1)
    const before = receiver.received.length
    expect(before).toBe(1)
    const check = await found(app, 'webhooks')
    expect(check).toMatchObject({ status: 'ok', detail: expect.stringContaining(`http://shop.example:${receiver.port}`) })
    expect(JSON.stringify(check)).not.toMatch(/secret-path|query/)
    expect(receiver.received).toHaveLength(before)
    receiver.answer(() => new Response(null, { status: 500 }))
    app.clock.advance(1000)
    await untilAttempted(app, await declined({ app, key }, receiver.url()), 1)
    expect(await found(app, 'webhooks')).toMatchObject({
      status: 'warning',
      detail: expect.stringMatching(/last 24 hours failed/),
    })
    receiver.stop()
    expect(await found(app, 'webhooks')).toMatchObject({
      status: 'problem',
      detail: expect.stringMatching(/refuses the connection/),
    })
  })
})

test('webhooks: an endpoint that is set is checked before anything was sent to it', async () => {
  const receiver = receive()
  const app = await startAppFor([receiver])
  const { id } = await app.tenant()
  await setEndpoint(app.deps, { tenantId: id, environment: 'test' }, receiver.url('/hook/secret-path'), 'test')
  const detail = expect.stringContaining(`can be reached: http://shop.example:${receiver.port}. This check sent them nothing.`)
  expect(await found(app, 'webhooks')).toMatchObject({ status: 'ok', detail })
  receiver.stop()
  expect(await found(app, 'webhooks')).toMatchObject({
    status: 'problem',
    detail: expect.stringMatching(/refuses the connection/),
  })
  expect(receiver.received).toEqual([])
})

test('webhooks: attempts to an endpoint that was removed since are counted, not denied', async () => {
  const receiver = receive(() => new Response(null, { status: 500 }))
  const app = await startAppFor([receiver])
  const { id, key } = await app.tenant()
  const owner = { tenantId: id, environment: 'test' } as const
  expect(await found(app, 'webhooks')).toMatchObject({
    status: 'not_set_up',
    detail: expect.stringMatching(/^No webhook was sent/),
  })
  await setEndpoint(app.deps, owner, receiver.url('/hook'), 'test')
  const { verification } = await verifyWith(app, key, 'declines')
  await untilAttempted(app, verification.id, 1)
  await setEndpoint(app.deps, owner, null, 'test')
  expect(await found(app, 'webhooks')).toMatchObject({
    status: 'not_set_up',
    detail: 'No endpoint is set now. Attempts of the latest deliveries (1): 1.',
  })
})

test('webhooks: an endpoint that is set is checked however many other receivers there are', async () => {
  const others = Array.from({ length: 5 }, () => receive())
  const fresh = receive()
  const app = await startAppFor([...others, fresh])
  const { id, key } = await app.tenant()
  for (const other of others) {
    app.clock.advance(1000)
    await untilAttempted(app, await declined({ app, key }, other.url()), 1)
  }
  await setEndpoint(app.deps, { tenantId: id, environment: 'test' }, fresh.url(), 'test')
  fresh.stop()
  expect(await found(app, 'webhooks')).toMatchObject({
    status: 'problem',
    detail: expect.stringContaining(`http://shop.example:${fresh.port}`),
  })
})

test('second_factor: an owner without one is not set up before the first live key, and a warning after it', async () => {
  const app = await startApp({ now: Date.now(), ...NEARBY })
  expect(await found(app, 'second_factor')).toMatchObject({ status: 'ok' })
  await setUpOwner(app, 'mara')
  const named = expect.stringMatching(/^Owners without a second factor: mara\./)
  expect(await found(app, 'second_factor')).toMatchObject({ status: 'not_set_up', detail: named })
  await app.tenant()
  expect(await found(app, 'second_factor')).toMatchObject({ status: 'warning', detail: named })
})

describe('checks of the machine', () => {
  test('a clock behind the newest record is a problem; a clock that was set lately is a warning', async () => {
    const app = await startPublic()
    await app.tenant()
    app.deps.clockStep = () => 3_600_000
    await noticeClockStep(app.deps)
    expect(await found(app, 'clock')).toMatchObject({ status: 'warning', detail: expect.stringMatching(/was set/) })
    app.clock.advance(-HOUR_MS)
    expect(await found(app, 'clock')).toMatchObject({ status: 'problem', remedy: expect.stringMatching(/set-ntp/) })
  })

  test('a clock of the machine behind what the service has shown is a problem, though time does not go back here', async () => {
    const app = await startPublic()
    const behind = app.clock.now() - HOUR_MS
    app.deps.wall = () => behind
    const detail = `The clock says ${secondOf(behind)}, but here it was ${secondOf(app.clock.now())} already.`
    expect(await found(app, 'clock')).toMatchObject({ status: 'problem', detail, remedy: expect.stringMatching(/set-ntp/) })
  })

  test('a clock that differs from the one at the public address is a warning', async () => {
    const app = await startPublic({ now: Date.now() + 10 * 60_000 })
    expect(await found(app, 'clock')).toMatchObject({
      status: 'warning',
      detail: expect.stringMatching(/differs by \d+ seconds/),
    })
  })

  test('a master key that others can read, or that is gone, is a problem', async () => {
    const app = await startApp(NEARBY)
    chmodSync(join(app.dir, 'master.key'), 0o640)
    expect(await found(app, 'master_key')).toMatchObject({
      status: 'problem',
      remedy: `Run: chmod 600 ${join(app.dir, 'master.key')}`,
    })
    rmSync(join(app.dir, 'master.key'))
    expect(await found(app, 'master_key')).toMatchObject({ status: 'problem', detail: expect.stringMatching(/missing/) })
  })

  onFile('a nearly full disk is a warning while the reserve exists, and a problem without it', async () => {
    const app = await startApp(NEARBY)
    await app.deps.space.look()
    expect(await found(app, 'disk')).toMatchObject({ status: 'ok', detail: expect.stringMatching(/32 MiB are held back/) })
    app.deps.space.free = () => 100 * 1024 * 1024
    expect(await found(app, 'disk')).toMatchObject({ status: 'warning', detail: expect.stringMatching(/100 MiB free/) })
    rmSync(join(app.dir, 'ballast'))
    expect(await found(app, 'disk')).toMatchObject({ status: 'problem' })
  })

  onFile('backups reports none, a fresh one, an old one, a failure, and that they are off', async () => {
    const app = await startApp(NEARBY)
    expect(await found(app, 'backups')).toMatchObject({ status: 'warning', detail: 'There is no backup yet.' })
    const backups = createBackups(app.deps)
    await backups.runWhenDue()
    expect(await found(app, 'backups')).toMatchObject({ status: 'ok' })
    app.clock.advance(5 * HOUR_MS)
    expect(await found(app, 'backups')).toMatchObject({ status: 'warning', detail: 'The newest backup is 5 hours old.' })
    app.deps.space.free = () => 0
    await backups.runWhenDue()
    expect(await found(app, 'backups')).toMatchObject({ status: 'problem', detail: expect.stringMatching(/too little room/) })
    app.deps.space.free = () => 2 ** 40
    app.clock.advance(HOUR_MS)
    await backups.runWhenDue()
    expect(await found(app, 'backups')).toMatchObject({ status: 'ok' })
    app.deps.config.backups = undefined
    expect(await found(app, 'backups')).toMatchObject({ status: 'warning', remedy: expect.stringMatching(/VIDIMUS_BACKUPS/) })
  })

  onFile('a damaged database is a problem', async () => {
    const app = await startApp(NEARBY)
    await app.tenant()
    await app.deps.forgetDeleted()
    const file = join(app.dir, 'vidimus.db')
    expect(await found(app, 'database')).toMatchObject({ status: 'ok' })
    const sqlite = new Database(file, { readonly: true })
    const { rootpage } = sqlite
      .query<{ rootpage: number }, []>("SELECT rootpage FROM sqlite_schema WHERE name = 'tenants'")
      .get()!
    const { page_size } = sqlite.query<{ page_size: number }, []>('PRAGMA page_size').get()!
    sqlite.close()
    const bytes = readFileSync(file)
    bytes.fill(0xff, (rootpage - 1) * page_size, rootpage * page_size)
    writeFileSync(file, bytes)
    expect(await found(app, 'database')).toMatchObject({ status: 'problem', remedy: expect.stringMatching(/vidimus restore/) })
  })
})
