// Who signs what phones and browsers' wallets are asked: VIDIMUS_READER_AUTH.
import { afterAll, describe, expect, test } from 'bun:test'
import { X509Certificate } from 'node:crypto'
import type { Config } from '../../src/config.ts'
import type { Reader } from '../../src/openid4vp/exchange/reader-auth.ts'
import { fromBase64 } from '../../src/sandbox/bytes.ts'
import { type Cbor, decodeCbor } from '../../src/sandbox/cbor.ts'
import { createPhone } from '../../src/sandbox/phone/phone.ts'
import { importReader } from '../../src/signing/import-reader.ts'
import { readReaders, removeReader } from '../../src/signing/readers.ts'
import { signatoriesOf } from '../../src/signing/signatories.ts'
import { BUILTIN_TEMPLATES } from '../../src/templates/builtin.ts'
import { getCertificate, newAuthority } from '../helpers/access.ts'
import { cleanUp, createVerification, startWithTenant, type TestApp } from '../helpers/app.ts'
import { DAY_MS, isNoAuthority, issue, pemOf, purposes, Usage, usages } from '../helpers/certificates.ts'
import { ask, listOrigin, presentThrough } from '../helpers/dc.ts'
import { bytesOf, scan } from '../helpers/in-person.ts'
import { holderOf } from '../helpers/wallet.ts'

afterAll(cleanUp)

type Mode = Config['readerAuth']
/** Who signs each document, and who the whole. */
type Names = (string | string[] | undefined)[]
type Installed = { access?: boolean; readers?: number }

const READER = [purposes(['1.0.18013.5.1.6']), usages(Usage.digitalSignature), isNoAuthority()]
const protocol = 'org-iso-mdoc'

async function start(readerAuth: Mode, { access = false, readers = 0 }: Installed) {
  const { app, key, id: tenantId } = await startWithTenant({ config: { readerAuth } })
  await listOrigin(app, tenantId)
  if (access) await getCertificate(app)
  let installed = 0
  const install = async () => {
    const at = ++installed
    app.clock.advance(1000)
    const life = { notBefore: app.clock.now() - DAY_MS, notAfter: app.clock.now() + 90 * DAY_MS }
    const authority = { ...(await newAuthority(app)), name: `CN=Root ${at}` }
    const { der, keys } = await issue({ issuer: authority, name: `CN=Reader ${at}`, ...life, extensions: READER })
    const pkcs8 = Buffer.from(await crypto.subtle.exportKey('pkcs8', keys.privateKey)).toString('base64')
    const keyPem = `-----BEGIN PRIVATE KEY-----\n${pkcs8}\n-----END PRIVATE KEY-----\n`
    await importReader(app.deps, { chainPem: pemOf(der), keyPem, owner: null }, 'boss')
  }
  while (installed < readers) await install()
  const create = (template: string) => createVerification(app, key, { template })
  const signatories = async (template: string, channel: 'browser' | 'in_person') => {
    const { signingKeyId } = await app.deps.identity(tenantId)
    const { query, profile } = BUILTIN_TEMPLATES.get(template)!
    const { each, all } = await signatoriesOf(app.deps, { tenantId, signingKeyId, profile }, query, channel)
    return [each && nameOf(each), all.map(nameOf)]
  }
  return { app, key, install, create, signatories }
}

const nameIn = (der: Uint8Array): string => {
  const { subject } = new X509Certificate(der)
  return (
    /^CN=(Reader \d)$/.exec(subject)?.[1] ??
    (subject.includes('organizationIdentifier') || subject.includes('2.5.4.97') ? 'access' : subject)
  )
}
const nameOf = ({ chain }: Reader): string => nameIn(chain[0]!)

/** Of EU documents, and of none. */
const [EU, OTHER] = ['age_over_18', 'driving_licence']
const nobody: Names = [undefined, []]

const table: [Mode, Installed, { browser: Names; euBrowser?: Names; inPerson: Names; euInPerson?: Names }][] = [
  ['auto', {}, { browser: nobody, inPerson: nobody }],
  ['auto', { access: true }, { browser: ['access', []], inPerson: ['access', []] }],
  ['auto', { readers: 1 }, { browser: [undefined, ['Reader 1']], inPerson: ['Reader 1', []] }],
  ['auto', { readers: 2 }, { browser: [undefined, ['Reader 1', 'Reader 2']], inPerson: ['Reader 2', ['Reader 2', 'Reader 1']] }],
  [
    'auto',
    { access: true, readers: 2 },
    {
      browser: [undefined, ['Reader 1', 'Reader 2']],
      euBrowser: ['access', ['access', 'Reader 1', 'Reader 2']],
      inPerson: ['Reader 2', ['Reader 2', 'Reader 1']],
      euInPerson: ['access', ['access', 'Reader 1', 'Reader 2']],
    },
  ],
  ['access', { readers: 1 }, { browser: nobody, inPerson: nobody }],
  ['access', { access: true }, { browser: ['access', []], inPerson: ['access', []] }],
  [
    'access',
    { access: true, readers: 1 },
    { browser: ['access', ['access', 'Reader 1']], inPerson: ['access', ['access', 'Reader 1']] },
  ],
  ['reader', { access: true }, { browser: nobody, inPerson: nobody }],
  ['reader', { access: true, readers: 2 }, { browser: ['Reader 2', []], inPerson: ['Reader 2', []] }],
  ['none', { access: true, readers: 2 }, { browser: [undefined, ['Reader 1', 'Reader 2']], inPerson: nobody }],
]

test.each(table)('the setting %s chooses among the certificates %j', async (mode, installed, expected) => {
  const { signatories } = await start(mode, installed)
  const { browser, euBrowser = browser, inPerson, euInPerson = inPerson } = expected
  expect(await signatories(OTHER!, 'browser')).toEqual(browser)
  expect(await signatories(EU!, 'browser')).toEqual(euBrowser)
  expect(await signatories(OTHER!, 'in_person')).toEqual(inPerson)
  expect(await signatories(EU!, 'in_person')).toEqual(euInPerson)
  expect(await signatories('eu_av_age_18', 'browser')).toEqual(nobody)
  expect(await signatories('eu_av_age_18', 'in_person')).toEqual(nobody)
})

type Sign1 = [Uint8Array, Map<number, Cbor>, null, Uint8Array]

describe('the access certificate', () => {
  test('signs every document of a request through the browser, and the wallet verifies it and answers', async () => {
    const { app, create } = await start('auto', { access: true })
    const { body } = await ask(app, (await create(EU!)).id, { body: { protocols: [protocol] } })
    const { deviceRequest } = body.requests[0]!.data as { deviceRequest: string }
    const request = decodeCbor(fromBase64(deviceRequest)) as Map<string, Cbor>
    const docRequests = request.get('docRequests') as unknown as Map<string, Sign1>[]
    expect(docRequests.length).toBeGreaterThan(3)
    for (const each of docRequests) {
      expect([...each.keys()]).toEqual(['itemsRequest', 'readerAuth'])
      expect(nameIn([each.get('readerAuth')![1].get(33)].flat()[0] as Uint8Array)).toBe('access')
    }
    expect(request.has('readerAuthAll')).toBe(false)
    const holder = await holderOf(app)
    for (const template of [EU!, OTHER!])
      expect((await presentThrough(app, (await create(template)).id, holder, { protocol })).body.status).toBe('completed')
  })

  test('signs one document in version 1.0, and beside readers in 1.1, where the wallet verifies all of them', async () => {
    const versionOf = async (installed: Installed) => {
      const { app, create } = await start('access', installed)
      const { body } = await ask(app, (await create(OTHER!)).id, { body: { protocols: [protocol] } })
      const { deviceRequest } = body.requests[0]!.data as { deviceRequest: string }
      const told = await presentThrough(app, (await create(OTHER!)).id, await holderOf(app), { protocol })
      return [(decodeCbor(fromBase64(deviceRequest)) as Map<string, Cbor>).get('version'), told.body.status]
    }
    expect(await versionOf({ access: true })).toEqual(['1.0', 'completed'])
    expect(await versionOf({ access: true, readers: 1 })).toEqual(['1.1', 'completed'])
  })
})

describe('a phone in person', () => {
  const open = async (here: Awaited<ReturnType<typeof start>>, template: string) => {
    const phone = await createPhone({ version: '1.0' })
    const { id } = await here.create(template)
    const scanned = await scan(here, id, phone.code)
    const { version, documents, readerAuthAll, readers } = await phone.open(bytesOf(scanned.body.message))
    return {
      version,
      isEach: documents.every(({ readerAuth }) => readerAuth !== undefined),
      hasWhole: readerAuthAll !== undefined,
      readers: readers.length,
      again: () => scan(here, id, phone.code),
      scanned,
    }
  }

  test('is asked with a signature for every document, which it verifies', async () => {
    const signed = { version: '1.0', isEach: true, hasWhole: false, readers: 1 }
    for (const installed of [{ access: true }, { readers: 2 }, { access: true, readers: 1 }])
      expect(await open(await start('auto', installed), EU!)).toMatchObject(signed)
    expect(await open(await start('none', { access: true, readers: 1 }), EU!)).toMatchObject({ isEach: false, readers: 0 })
    expect(await open(await start('auto', { access: true }), 'eu_av_age_18')).toMatchObject({ isEach: false, readers: 0 })
  })

  test('gets the same bytes again, though reader certificates were added and removed in between', async () => {
    const here = await start('auto', { readers: 1 })
    const { scanned, again } = await open(here, OTHER!)
    await here.install()
    expect((await again()).body).toEqual(scanned.body)
    await removeAll(here.app)
    expect((await again()).body).toEqual(scanned.body)
  })
})

async function removeAll(app: TestApp): Promise<void> {
  for (const { owner, fingerprint } of await readReaders(app.deps)) await removeReader(app.deps, { owner, fingerprint }, 'boss')
}
