// Reader certificates: who signs requests by ISO/IEC 18013-7 Annex C, and what a wallet makes of it.
import { afterAll, describe, expect, test } from 'bun:test'
import { X509Certificate } from 'node:crypto'
import { DeviceRequest } from '@owf/mdoc'
import { decodeProtectedHeader } from 'jose'
import { browseAudit } from '../../src/audit/browse.ts'
import { flipLastBit, fromBase64, toBase64Url } from '../../src/sandbox/bytes.ts'
import { type Cbor, decodeCbor, embedded, encodeCbor } from '../../src/sandbox/cbor.ts'
import { answerPage } from '../../src/sandbox/wallet/dc-wallet.ts'
import { importSigningKey } from '../../src/signing/import.ts'
import { importReader } from '../../src/signing/import-reader.ts'
import { readReaders, removeReader } from '../../src/signing/readers.ts'
import { removeSigningKeys } from '../../src/signing/remove.ts'
import { requestNewKey } from '../../src/signing/request.ts'
import { retireSigningKeys } from '../../src/signing/retire.ts'
import { getCertificate, newAuthority, signRequest } from '../helpers/access.ts'
import { cleanUp, createVerification, startWithTenant } from '../helpers/app.ts'
import {
  DAY_MS,
  isNoAuthority,
  issue,
  issueAuthority,
  makeKeys,
  pemOf,
  purposes,
  Usage,
  usages,
  type Wanted,
} from '../helpers/certificates.ts'
import { editSettings, rowsOf } from '../helpers/database.ts'
import { ask, listOrigin, ORIGIN, presentThrough } from '../helpers/dc.ts'
import { examine } from '../helpers/doctor.ts'
import { holderOf } from '../helpers/wallet.ts'

afterAll(cleanUp)

const PURPOSE = '1.0.18013.5.1.6'
const READER = [purposes([PURPOSE]), usages(Usage.digitalSignature), isNoAuthority()]
const protocol = 'org-iso-mdoc'

async function start() {
  const { app, key, id: tenantId } = await startWithTenant()
  await listOrigin(app, tenantId)
  const authority = await newAuthority(app)
  /** With the root, as authorities send it, and the key. */
  const readerOf = async (name: string, wanted: Wanted = {}) => {
    const life = { notBefore: app.clock.now() - DAY_MS, notAfter: app.clock.now() + 90 * DAY_MS }
    const issued = await issue({ issuer: authority, name: `CN=${name}`, ...life, extensions: READER, ...wanted })
    const pkcs8 = Buffer.from(await crypto.subtle.exportKey('pkcs8', issued.keys.privateKey)).toString('base64')
    return {
      chainPem: pemOf(issued.der) + (wanted.issuer ? '' : pemOf(authority.der)),
      keyPem: `-----BEGIN PRIVATE KEY-----\n${pkcs8}\n-----END PRIVATE KEY-----\n`,
      owner: null as string | null,
    }
  }
  const install = async (name: string, owner: string | null = null, wanted: Wanted = {}) => {
    // Those that were installed first come first.
    app.clock.advance(1000)
    return await importReader(app.deps, { ...(await readerOf(name, wanted)), owner }, 'boss')
  }
  const create = (template = 'driving_licence') => createVerification(app, key, { template })
  const requestFor = async (template?: string, origin = ORIGIN) => {
    const { body } = await ask(app, (await create(template)).id, { origin, body: { protocols: [protocol] } })
    return body.requests[0]!.data as { deviceRequest: string; encryptionInfo: string }
  }
  const readersOf = async (template?: string) => subjectsIn((await requestFor(template)).deviceRequest)
  return { app, key, tenantId, readerOf, install, create, requestFor, readersOf }
}

type Members = Map<string, Cbor>
type Sign1 = [Uint8Array, Map<number, Cbor>, null, Uint8Array]

const read = (text: string) => decodeCbor(fromBase64(text)) as Members

/** Of each chain in `readerAuthAll`, the subjects. */
const subjectsIn = (deviceRequest: string): string[][] =>
  ((read(deviceRequest).get('readerAuthAll') ?? []) as unknown as Sign1[]).map(([, unprotected]) =>
    ([unprotected.get(33)].flat() as Uint8Array[]).map(der => new X509Certificate(der).subject),
  )

describe('a reader certificate', () => {
  test('signs what is asked, without its root: the wallet verifies it and answers, and @owf/mdoc reads the request', async () => {
    const { app, install, create, requestFor } = await start()
    const holder = await holderOf(app)
    expect(read((await requestFor()).deviceRequest).get('version')).toBe('1.0')
    await install('Shop Reader')
    const { deviceRequest } = await requestFor()
    expect(subjectsIn(deviceRequest)).toEqual([['CN=Shop Reader']])
    expect(read(deviceRequest).get('version')).toBe('1.1')
    const { docRequests } = DeviceRequest.decode(new Uint8Array(Buffer.from(deviceRequest, 'base64url')))
    expect(docRequests.map(({ itemsRequest }) => itemsRequest.docType)).toEqual(['org.iso.18013.5.1.mDL'])
    for (const template of ['driving_licence', 'age_over_18']) {
      const { id } = await create(template)
      expect((await presentThrough(app, id, holder, { protocol })).body.status).toBe('completed')
    }
  })

  test('that does not hold makes the wallet refuse', async () => {
    const { app, install, requestFor, readerOf } = await start()
    await install('Shop Reader')
    const holder = await holderOf(app)
    const data = await requestFor()
    const withAuth = (change: (sign1: Sign1) => Cbor) => {
      const request = read(data.deviceRequest)
      const [sign1] = request.get('readerAuthAll') as unknown as [Sign1]
      return toBase64Url(encodeCbor(request.set('readerAuthAll', [change(sign1)])))
    }
    const answer = (changed: Partial<typeof data>, origin = ORIGIN) =>
      answerPage({ requests: [{ protocol, data: { ...data, ...changed } }], origin }, holder, { now: app.clock.now() })
    await answer({})
    const wrong = 'the signature of a reader is wrong'
    await expect(answer({}, 'https://other.example')).rejects.toThrow(wrong)
    const flipped = withAuth(([header, certificates, payload, signature]) => [
      header,
      certificates,
      payload,
      flipLastBit(signature),
    ])
    await expect(answer({ deviceRequest: flipped })).rejects.toThrow(wrong)
    const more = read(data.deviceRequest)
    const asked = new Map<string, Cbor>([
      ['docType', 'org.iso.18013.5.1.mDL'],
      ['nameSpaces', new Map([['org.iso.18013.5.1', new Map([['portrait', true]])]])],
    ])
    more.set('docRequests', [new Map([['itemsRequest', embedded(asked)]])])
    await expect(answer({ deviceRequest: toBase64Url(encodeCbor(more)) })).rejects.toThrow(wrong)
    const { chainPem } = await readerOf('Other', { extensions: [purposes(['1.3.6.1.5.5.7.3.2'])] })
    const other = new X509Certificate(chainPem).raw
    const forClients = withAuth(([header, , payload, signature]) => [
      header,
      new Map([[33, Uint8Array.from(other)]]),
      payload,
      signature,
    ])
    await expect(answer({ deviceRequest: forClients })).rejects.toThrow('the certificate of a reader has another purpose')
  })

  test('of a tenant is used instead of those of the installation, and another one of the same issuer replaces it', async () => {
    const { app, tenantId, install, readersOf } = await start()
    await install('One')
    const second = await newAuthority(app)
    await install('Two', null, { issuer: { ...second, name: 'CN=Second Root' } })
    expect(await readersOf()).toEqual([['CN=One'], ['CN=Two']])
    await install('One again')
    expect(await readersOf()).toEqual([['CN=Two'], ['CN=One again']])
    await install('Own', tenantId)
    expect(await readersOf()).toEqual([['CN=Own']])
    await removeSigningKeys(app.deps, tenantId, 'boss')
    expect(await readersOf()).toEqual([['CN=Two'], ['CN=One again']])
  })

  test('signs nothing for the EU age app, before it is valid, after its end, or once it is removed; then its key is erased', async () => {
    const { app, install, readersOf } = await start()
    const begins = app.clock.now() + DAY_MS
    const { fingerprint } = await install('Shop Reader', null, { notBefore: begins, notAfter: begins + 40 * DAY_MS })
    expect(await readersOf()).toEqual([])
    app.clock.set(begins)
    expect(await readersOf()).toEqual([['CN=Shop Reader']])
    expect(await readersOf('eu_av_age_18')).toEqual([])
    app.clock.set(begins + 40 * DAY_MS)
    expect(await readersOf()).toEqual([])
    await removeReader(app.deps, { owner: null, fingerprint }, 'boss')
    expect(await readReaders(app.deps)).toEqual([])
    const gone = removeReader(app.deps, { owner: null, fingerprint }, 'boss')
    await expect(gone).rejects.toThrow('there is no such reader certificate')
    const { records } = await browseAudit(app.deps, { tenantId: '', limit: 2 })
    expect(records).toMatchObject([
      { action: 'signing.reader_removed', actor: 'boss', details: { fingerprint, subject: 'CN=Shop Reader' } },
      { action: 'signing.reader_imported', actor: 'boss', details: { fingerprint, replaced: 0 } },
    ])
    app.clock.advance(2 * DAY_MS)
    await retireSigningKeys(app.deps)
    expect(rowsOf(app, "SELECT length(sealed) AS size FROM signing_keys WHERE role = 'reader'")).toEqual([{ size: 0 }])
  })

  test('signs nothing after the first end in its chain, though an older import stored that of its leaf', async () => {
    const { app, readerOf, readersOf } = await start()
    const now = app.clock.now()
    const root = await newAuthority(app)
    const issuer = await issueAuthority({
      name: 'CN=Middle',
      issuer: root,
      notBefore: now - DAY_MS,
      notAfter: now + 20 * DAY_MS,
    })
    const { chainPem, ...reader } = await readerOf('Shop Reader', { issuer })
    await importReader(app.deps, { ...reader, chainPem: chainPem + pemOf(issuer.der) }, 'boss')
    editSettings(app, "UPDATE signing_keys SET not_after = ? WHERE role = 'reader'", now + 90 * DAY_MS)
    expect(await readersOf()).toEqual([['CN=Shop Reader', 'CN=Middle']])
    app.clock.set(now + 20 * DAY_MS)
    expect(await readersOf()).toEqual([])
  })

  test('signs no request of OpenID4VP, shares its key with none, and is imported as what it is', async () => {
    const { app, tenantId, readerOf, install, create } = await start()
    await getCertificate(app)
    const reader = await readerOf('Shop Reader')
    const take = (given: Partial<typeof reader>) => importReader(app.deps, { ...reader, ...given }, 'boss')
    const asLeaf = importSigningKey(app.deps, { ...reader, authorities: [] }, 'boss')
    await expect(asLeaf).rejects.toThrow('this is a reader certificate, which signs no other requests; import it with --reader')
    await expect(take(await readerOf('Plain', { extensions: [] }))).rejects.toThrow('this is no reader certificate')
    await expect(take(await readerOf('Other', { extensions: [purposes(['1.0.18013.5.1.2'])] }))).rejects.toThrow('no reader')
    const past = { notBefore: app.clock.now() - 9 * DAY_MS, notAfter: app.clock.now() - DAY_MS }
    await expect(take(await readerOf('Past', past))).rejects.toThrow('the certificate has expired')
    const csr = await requestNewKey(app.deps, { owner: tenantId, host: 'verify.example' }, 'boss')
    const authority = await newAuthority(app)
    const chainPem = await signRequest(app, csr, { issuer: authority })
    await importSigningKey(app.deps, { chainPem, owner: tenantId, authorities: [] }, 'boss')
    const same = await signRequest(app, csr, { issuer: authority, extensions: READER })
    const shared = importReader(app.deps, { chainPem: same, owner: tenantId }, 'boss')
    await expect(shared).rejects.toThrow('this key signs other requests')
    const pending = await requestNewKey(app.deps, { owner: tenantId, host: 'verify.example' }, 'boss')
    const own = await signRequest(app, pending, { issuer: authority, extensions: READER })
    await importReader(app.deps, { chainPem: own, owner: tenantId }, 'boss')
    const keys = await makeKeys()
    await take(await readerOf('Free', { keys }))
    const plain = await readerOf('Plain', { keys, extensions: [] })
    const asBoth = importSigningKey(app.deps, { ...plain, authorities: [] }, 'boss')
    await expect(asBoth).rejects.toThrow('this key signs as a reader, and nothing else')
    const { x5c } = decodeProtectedHeader((await app.call('GET', `/wallet/request/${(await create()).id}`)).text)
    expect(x5c![0]).toBe(new X509Certificate(chainPem).raw.toString('base64'))
    for (const name of ['A', 'B', 'C']) await install(name, null, { issuer: { ...authority, name: `CN=Root ${name}` } })
    await expect(install('E', null, { issuer: { ...authority, name: 'CN=Root E' } })).rejects.toThrow(
      'there are 4 reader certificates',
    )
  })

  test('is named by doctor, which warns before its end', async () => {
    const { app, install } = await start()
    const found = async () => (await examine(app.deps, true, ['dc_api']))[0]
    expect((await found())?.detail).toContain('there is no reader certificate, so org-iso-mdoc requests are not signed')
    await install('Shop Reader')
    expect(await found()).toMatchObject({
      status: 'ok',
      detail: expect.stringContaining('org-iso-mdoc requests are signed by CN=Shop Reader'),
    })
    app.clock.advance(85 * DAY_MS)
    expect(await found()).toMatchObject({
      status: 'warning',
      detail: expect.stringMatching(/^The reader certificate CN=Shop Reader ends on 2026-/),
      remedy: expect.stringContaining('vidimus signing import --reader'),
    })
  })
})
