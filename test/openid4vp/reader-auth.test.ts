// Readers' signatures: what they are over, and in which version of a request they go.
import { describe, expect, test } from 'bun:test'
import { DeviceRequest } from '@owf/mdoc'
import { CompactSign, compactVerify } from 'jose'
import type { DcqlQuery } from '../../src/openid4vp/dcql/dcql.ts'
import { deviceRequestParts } from '../../src/openid4vp/exchange/device-request.ts'
import { type Reader, requestForBrowsers, requestInPerson } from '../../src/openid4vp/exchange/reader-auth.ts'
import { type Cbor, decodeCbor, embedded, encodeCbor, type Tag } from '../../src/sandbox/cbor.ts'
import { type Keys, makeCertificate, makeKeys, TRANSCRIPT } from '../helpers/mdoc.ts'

type Sign1 = [Uint8Array, Map<number, Cbor>, null, Uint8Array]
type DocRequest = Map<string, Tag> & { get(name: 'readerAuth'): Sign1 | undefined }
type Members = { version: string; docRequests: DocRequest[]; deviceRequestInfo?: Tag; readerAuthAll?: Sign1[] }

const mdl = (id: string, element: string) => ({
  id,
  format: 'mso_mdoc' as const,
  meta: { doctype_value: 'org.iso.18013.5.1.mDL' },
  claims: [{ path: ['org.iso.18013.5.1', element] }],
})
const ONE: DcqlQuery = { credentials: [mdl('a', 'age_over_18')] }
const TWO: DcqlQuery = { credentials: [mdl('a', 'age_over_18'), mdl('b', 'portrait')] }
const PLAIN = { takesUseCases: false, takesReaderAuthAll: false }

const makeReader = async (): Promise<{ keys: Keys; reader: Reader }> => {
  const keys = await makeKeys('P-256')
  const chain = [await makeCertificate(keys, '2026-01-01T00:00:00Z', '2027-01-01T00:00:00Z')]
  return { keys, reader: { privateKey: keys.privateKey, chain } }
}
const [first, second] = [await makeReader(), await makeReader()]

const membersOf = (bytes: Uint8Array) => Object.fromEntries(decodeCbor(bytes) as Map<string, never>) as unknown as Members
const inPerson = async (query: DcqlQuery, signatories: Parameters<typeof requestInPerson>[2], phone = PLAIN) => {
  const { request, version } = await requestInPerson(deviceRequestParts(query)!, TRANSCRIPT, signatories, phone)
  const members = membersOf(request)
  expect(members.version).toBe(version)
  return { ...members, request }
}

async function holds({ keys }: { keys: Keys }, sign1: Sign1 | undefined, signed: Cbor): Promise<boolean> {
  const [header, , payload, signature] = sign1!
  expect(payload).toBeNull()
  const bytes = encodeCbor(['Signature1', header, new Uint8Array(), encodeCbor(embedded(signed))])
  return await crypto.subtle.verify({ name: 'ECDSA', hash: 'SHA-256' }, keys.publicKey, Uint8Array.from(signature), bytes)
}
const transcript = decodeCbor(TRANSCRIPT)

describe('a request in person', () => {
  test('is version 1.0, with all documents, to a phone that knows no use cases', async () => {
    const { version, docRequests, ...more } = await inPerson(TWO, { all: [first.reader, second.reader] })
    expect([version, docRequests.map(each => [...each.keys()])]).toEqual(['1.0', [['itemsRequest'], ['itemsRequest']]])
    expect(Object.keys(more)).toEqual(['request'])
  })

  test('is version 1.1, with use cases, to a phone that knows them, if there is more than one document', async () => {
    const phone = { takesUseCases: true, takesReaderAuthAll: true }
    expect(await inPerson(ONE, { all: [first.reader] }, phone)).toMatchObject({ version: '1.0' })
    const { version, deviceRequestInfo, readerAuthAll } = await inPerson(TWO, { all: [] }, phone)
    expect([version, readerAuthAll]).toEqual(['1.1', undefined])
    expect(decodeCbor(deviceRequestInfo!.value as Uint8Array)).toEqual(
      new Map([
        [
          'useCases',
          [
            new Map<string, unknown>([
              ['mandatory', true],
              ['documentSets', [[0, 1]]],
            ]),
          ],
        ],
      ]) as never,
    )
  })

  test('asks for all sets of claims, in version 1.0 as a list and with use cases as a choice', async () => {
    const claims = ['age_over_18', 'birth_date'].map(id => ({ id, path: ['org.iso.18013.5.1', id] }))
    const query = { credentials: [{ ...mdl('a', ''), claims, claim_sets: [['age_over_18'], ['birth_date']] }] } as DcqlQuery
    const elementsIn = ({ docRequests }: Members) =>
      docRequests.map(each => {
        const { nameSpaces } = Object.fromEntries(decodeCbor(each.get('itemsRequest')!.value as Uint8Array) as never) as never
        return [...(nameSpaces as Map<string, Map<string, boolean>>).values()].flatMap(elements => [...elements.keys()])
      })
    const list = await inPerson(query, { each: first.reader, all: [] })
    const choice = await inPerson(query, { all: [] }, { takesUseCases: true, takesReaderAuthAll: false })
    for (const asked of [list, choice]) expect(elementsIn(asked)).toEqual([['age_over_18'], ['birth_date']])
    expect([list.version, choice.version]).toEqual(['1.0', '1.1'])
  })

  test('is signed for each document by one reader, over that document and the transcript', async () => {
    const { docRequests, request } = await inPerson(TWO, { each: first.reader, all: [] })
    const [one, two] = docRequests
    expect([...one!.keys()]).toEqual(['itemsRequest', 'readerAuth'])
    const [header, unprotected] = one!.get('readerAuth')!
    expect(decodeCbor(header)).toEqual(new Map([[1, -7]]))
    expect([...unprotected]).toEqual([[33, first.reader.chain[0]!]] as never)
    const authentication = (of: DocRequest) => ['ReaderAuthentication', transcript, of.get('itemsRequest')!]
    expect(await holds(first, one!.get('readerAuth'), authentication(one!))).toBe(true)
    expect(await holds(first, two!.get('readerAuth'), authentication(two!))).toBe(true)
    expect(await holds(first, one!.get('readerAuth'), authentication(two!))).toBe(false)
    expect(await holds(second, one!.get('readerAuth'), authentication(one!))).toBe(false)
    expect(await holds(first, one!.get('readerAuth'), ['ReaderAuthentication', null, one!.get('itemsRequest')!])).toBe(false)
    expect(DeviceRequest.decode(request).docRequests.map(({ readerAuth }) => readerAuth !== undefined)).toEqual([true, true])
  })

  test('and a request object that one key signed lend each other no signature', async () => {
    const { docRequests } = await inPerson(ONE, { each: first.reader, all: [] })
    const { privateKey, publicKey } = first.keys
    const readerAuth = docRequests[0]!.get('readerAuth')!
    const signed: Cbor = ['ReaderAuthentication', transcript, docRequests[0]!.get('itemsRequest')!]
    expect(await holds(first, readerAuth, signed)).toBe(true)
    const jws = await new CompactSign(encodeCbor(signed)).setProtectedHeader({ alg: 'ES256' }).sign(privateKey)
    const [header, payload, signature = ''] = jws.split('.')
    expect((await compactVerify(jws, publicKey)).payload.length).toBeGreaterThan(0)
    const lent = readerAuth.with(3, Buffer.from(signature, 'base64url')) as Sign1
    expect(await holds(first, lent, signed)).toBe(false)
    const borrowed = `${header}.${payload}.${Buffer.from(readerAuth[3]).toString('base64url')}`
    expect(await compactVerify(borrowed, publicKey).catch((error: Error) => error.name)).toBe('JWSSignatureVerificationFailed')
  })

  test('is signed as a whole too, for a phone that takes that, in version 1.1 only', async () => {
    const signatories = { each: first.reader, all: [first.reader, second.reader] }
    const signedBy = async (query: DcqlQuery, takesUseCases: boolean, takesReaderAuthAll: boolean) =>
      (await inPerson(query, signatories, { takesUseCases, takesReaderAuthAll })).readerAuthAll?.length
    expect(await signedBy(TWO, true, true)).toBe(2)
    expect(await signedBy(TWO, true, false)).toBeUndefined()
    expect(await signedBy(TWO, false, true)).toBeUndefined()
    expect(await signedBy(ONE, true, true)).toBeUndefined()
    const { docRequests, deviceRequestInfo, readerAuthAll } = await inPerson(TWO, signatories, {
      takesUseCases: true,
      takesReaderAuthAll: true,
    })
    const asked = docRequests.map(each => each.get('itemsRequest')!)
    const whole = ['ReaderAuthenticationAll', transcript, asked, deviceRequestInfo!]
    expect([await holds(first, readerAuthAll![0], whole), await holds(second, readerAuthAll![1], whole)]).toEqual([true, true])
    expect(await holds(first, docRequests[0]!.get('readerAuth'), whole)).toBe(false)
  })
})

describe('a request for browsers', () => {
  const forBrowsers = async (query: DcqlQuery, signatories: Parameters<typeof requestForBrowsers>[2]) =>
    membersOf(await requestForBrowsers(deviceRequestParts(query)!, TRANSCRIPT, signatories))

  test('of one document is version 1.0, signed for it too; a signature over the whole makes it 1.1', async () => {
    expect(Object.keys(await forBrowsers(ONE, { all: [] }))).toEqual(['version', 'docRequests'])
    const each = await forBrowsers(ONE, { each: first.reader, all: [] })
    expect([each.version, [...each.docRequests[0]!.keys()]]).toEqual(['1.0', ['itemsRequest', 'readerAuth']])
    const whole = await forBrowsers(ONE, { all: [first.reader] })
    expect(Object.keys(whole)).toEqual(['version', 'docRequests', 'deviceRequestInfo', 'readerAuthAll'])
    expect([whole.version, [...whole.docRequests[0]!.keys()]]).toEqual(['1.1', ['itemsRequest']])
    expect((await forBrowsers(TWO, { all: [] })).version).toBe('1.1')
  })
})
