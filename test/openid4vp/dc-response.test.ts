import { beforeAll, describe, expect, test } from 'bun:test'
import { CompactEncrypt } from 'jose'
import type { DcqlQuery } from '../../src/openid4vp/dcql/dcql.ts'
import { encryptionInfo } from '../../src/openid4vp/exchange/dc-request.ts'
import { readIsoAnswer, readOpenIdAnswer } from '../../src/openid4vp/exchange/dc-response.ts'
import type { HpkeKey } from '../../src/openid4vp/exchange/hpke.ts'
import { UnreadableResponse } from '../../src/openid4vp/exchange/response.ts'
import { isoDcApiTranscript } from '../../src/openid4vp/exchange/session-transcript.ts'
import { Findings } from '../../src/openid4vp/finding.ts'
import { MdocReader } from '../../src/openid4vp/mdoc/mdoc.ts'
import { longerSuite, makeHpkeKey, type Sealing, seal } from '../helpers/hpke.ts'
import { type Change, cbor, DOC_TYPE, item, makeResponse, NAME_SPACE, NOW, Tagged } from '../helpers/mdoc.ts'

const ORIGIN = 'https://shop.example'
const mdl = (id: string, elements: string[], more: object = {}) => ({
  id,
  format: 'mso_mdoc' as const,
  meta: { doctype_value: DOC_TYPE },
  claims: elements.map(element => ({ id: element, path: [NAME_SPACE, element] })),
  ...more,
})
const QUERY: DcqlQuery = { credentials: [mdl('mdl', ['age_over_18'])] }

let key: HpkeKey & { x: string; y: string }
let info: string
beforeAll(async () => {
  key = await makeHpkeKey()
  info = encryptionInfo(new Uint8Array(32), key)
})

const sealedText = ({ enc, cipherText }: { enc: unknown; cipherText: unknown }) =>
  cbor(['dcapi', { enc, cipherText }]).toString('base64url')

async function annexC(
  plaintext: Uint8Array,
  { origin = ORIGIN, ...sealing }: Sealing & { origin?: string } = {},
): Promise<string> {
  return sealedText(await seal(key.point, plaintext, { info: isoDcApiTranscript(info, origin), ...sealing }))
}

const readIso = (response: unknown, query = QUERY) =>
  readIsoAnswer({ response }, { query, key, encryptionInfo: info, origin: ORIGIN, nextTurn: async () => {} })

/** What the wallet of a good holder signs: the transcript of this request. */
const signed = (change: Change = {}) => makeResponse({ transcript: isoDcApiTranscript(info, ORIGIN), ...change })

describe('Annex C', () => {
  test('a good answer becomes a presentation that mdoc.ts accepts for this origin only', async () => {
    const read = await readIso(await annexC(await signed()))
    expect(read).toMatchObject({ kind: 'presentations', encrypted: true, presentations: [{ query: { id: 'mdl' } }] })
    const presentation = read.kind === 'presentations' ? read.presentations[0]!.presentation : ''
    const failuresFor = async (origin: string) => {
      const findings = new Findings(() => NOW)
      const transcript = () => isoDcApiTranscript(info, origin)
      const expected = { now: NOW, createdAt: NOW, nonce: '', audience: '', transcript }
      await new MdocReader().read(findings, presentation, expected, true)
      return findings.failures
    }
    expect(await failuresFor(ORIGIN)).toEqual([])
    expect(await failuresFor(`${ORIGIN}/`)).toEqual(['holder_binding_invalid'])
  })

  const sealings: [string, () => Promise<string>][] = [
    ['for another origin', async () => annexC(await signed(), { origin: 'https://other.example' })],
    ['for the origin with a slash', async () => annexC(await signed(), { origin: `${ORIGIN}/` })],
    ['with additional data', async () => annexC(await signed(), { aad: Buffer.from('x') })],
    [
      'for another encryption info',
      async () => annexC(await signed(), { info: isoDcApiTranscript(encryptionInfo(Buffer.alloc(32, 1), key), ORIGIN) }),
    ],
    ['for a transcript in tag 24', async () => annexC(await signed(), { info: tagged(isoDcApiTranscript(info, ORIGIN)) })],
    [
      'with AES-256',
      async () => sealedText(await seal(key.point, await signed(), { info: isoDcApiTranscript(info, ORIGIN) }, longerSuite)),
    ],
    ['for a padded encryption info', async () => annexC(await signed(), { info: isoDcApiTranscript(`${info}=`, ORIGIN) })],
    [
      'to another key',
      async () => sealedText(await seal((await makeHpkeKey()).point, await signed(), { info: isoDcApiTranscript(info, ORIGIN) })),
    ],
  ]
  const tagged = (bytes: Uint8Array): Uint8Array => cbor(new Tagged(24, bytes))

  test.each(sealings)('an answer sealed %s is refused', async (_, make) => {
    await expect(readIso(await make())).rejects.toThrow('not encrypted for this request')
  })

  const spoilt = (change: (parts: { enc: Uint8Array; cipherText: Uint8Array }) => unknown) => async () => {
    const parts = await seal(key.point, await signed(), { info: isoDcApiTranscript(info, ORIGIN) })
    const changed = change(parts)
    return typeof changed === 'string' ? changed : cbor(changed).toString('base64url')
  }
  const forms: [string, () => Promise<unknown>][] = [
    ['missing', async () => undefined],
    ['a number', async () => 1],
    ['too long', async () => 'A'.repeat(1_000_004)],
    ['padded', spoilt(parts => `${sealedText(parts)}=`)],
    ['of the other alphabet', async () => '+/+/'],
    ['not CBOR', async () => '____'],
    ['followed by bytes', spoilt(parts => Buffer.concat([cbor(['dcapi', parts]), Buffer.of(0)]).toString('base64url'))],
    ['an array of three', spoilt(parts => ['dcapi', parts, 1])],
    ['an array of one', spoilt(() => ['dcapi'])],
    ['of another name', spoilt(parts => ['dcapi2', parts])],
    ['without enc', spoilt(({ cipherText }) => ['dcapi', { cipherText }])],
    ['without cipherText', spoilt(({ enc }) => ['dcapi', { enc }])],
    ['with text instead of bytes', spoilt(({ cipherText }) => ['dcapi', { enc: 'text', cipherText }])],
    [
      'with a member twice',
      spoilt(({ enc, cipherText }) => [
        'dcapi',
        new Map<unknown, unknown>([
          ['enc', enc],
          [new String('enc'), enc],
          ['cipherText', cipherText],
        ]),
      ]),
    ],
  ]
  test.each(forms)('a response that is %s is refused', async (_, make) => {
    await expect(readIso(await make())).rejects.toBeInstanceOf(UnreadableResponse)
  })

  const plain: [string, unknown, string][] = [
    ['no map', [1], 'a map was expected'],
    ['version 2.0', { version: '2.0', documents: [], status: 0 }, 'version is not supported'],
    ['without a version', { documents: [], status: 0 }, 'version is missing'],
    ['21 documents', { version: '1.0', documents: Array(21).fill({}), status: 0 }, 'too many documents'],
    ['documents of a kind that nobody asked for', { version: '1.0', zkDocuments: [1], status: 0 }, 'no document of the kind'],
  ]
  test.each(plain)('a decrypted answer that is %s is malformed', async (_, content, detail) => {
    const read = await readIso(await annexC(cbor(content)))
    expect(read).toMatchObject({ kind: 'malformed', detail: expect.stringContaining(detail), encrypted: true })
  })

  test('a decrypted answer that is no CBOR is malformed', async () => {
    expect(await readIso(await annexC(Buffer.from('ff', 'hex')))).toMatchObject({ kind: 'malformed' })
  })

  const errors: [unknown, string][] = [
    [{ version: '1.0', status: 10 }, 'general_error'],
    [{ version: '1.0', status: 11 }, 'decoding_error'],
    [{ version: '1.0', status: 12 }, 'validation_error'],
    [{ version: '1.0', status: 99 }, 'unknown_error'],
    [{ version: '1.0', status: 0 }, 'no_documents'],
    [{ version: '1.0', status: 0, documentErrors: [{ [DOC_TYPE]: 0 }] }, 'no_documents'],
  ]
  test.each(errors)('%j is an error of the wallet: %s', async (content, code) => {
    expect(await readIso(await annexC(cbor(content)))).toEqual({ kind: 'error', code, encrypted: true })
  })

  const idsOf = async (response: Uint8Array, query: DcqlQuery) => {
    const read = await readIso(await annexC(response), query)
    return read.kind === 'presentations' ? read.presentations.map(({ query: { id } }) => id) : read
  }
  const presenting = (...elements: string[]) =>
    signed({ nameSpaces: { [NAME_SPACE]: elements.map((element, i) => item(i, element, true)) } })

  test('a document answers every query whose claims it has', async () => {
    const query = {
      credentials: [mdl('photo', ['portrait']), mdl('age', ['age_over_18']), mdl('both', ['age_over_18', 'portrait'])],
    }
    expect(await idsOf(await presenting('age_over_18'), query)).toEqual(['age'])
    expect(await idsOf(await presenting('age_over_18', 'portrait'), query)).toEqual(['photo', 'age', 'both'])
  })

  test('one of its claim sets is enough', async () => {
    const sets = { claim_sets: [['age_over_18', 'portrait'], ['birth_date']] }
    const query = { credentials: [mdl('first', ['sex']), mdl('sets', ['age_over_18', 'portrait', 'birth_date'], sets)] }
    expect(await idsOf(await presenting('birth_date'), query)).toEqual(['sets'])
    expect(await idsOf(await presenting('age_over_18'), query)).toEqual(['first'])
  })

  test('a higher age that is true answers a query for a lower one, before the first query of its type', async () => {
    const query = { credentials: [mdl('photo', ['portrait']), mdl('age', ['age_over_16'])] }
    expect(await idsOf(await presenting('age_over_18'), query)).toEqual(['age'])
    const young = await signed({ nameSpaces: { [NAME_SPACE]: [item(0, 'age_over_18', false)] } })
    expect(await idsOf(young, query)).toEqual(['photo'])
  })

  test('of two queries for the same claims, a document answers the one whose values it has, or both if it has neither', async () => {
    const from = (id: string, country: string) => ({
      ...mdl(id, []),
      claims: [{ path: [NAME_SPACE, 'issuing_country'], values: [country] }],
    })
    const query = { credentials: [from('de', 'DE'), from('at', 'AT')] }
    const issuedIn = (country: string) => signed({ nameSpaces: { [NAME_SPACE]: [item(0, 'issuing_country', country)] } })
    expect(await idsOf(await issuedIn('AT'), query)).toEqual(['at'])
    expect(await idsOf(await issuedIn('FR'), query)).toEqual(['de', 'at'])
  })

  test('a document without the claims answers the first query of its type, so that the failure is told', async () => {
    expect(await idsOf(await presenting('sex'), { credentials: [mdl('a', ['x']), mdl('b', ['y'])] })).toEqual(['a'])
    expect(await idsOf(await signed({ issuerSigned: signedPart => delete signedPart.nameSpaces }), QUERY)).toEqual(['mdl'])
  })

  test('a document of a type that nobody asked for is refused, beside a good one too', async () => {
    const other = { credentials: [{ ...mdl('mdl', ['age_over_18']), meta: { doctype_value: 'other' } }] }
    await expect(readIso(await annexC(await signed()), other)).rejects.toThrow('was not asked for')
    const two = await signed({
      response: response => (response.documents = [...(response.documents as unknown[]), { docType: 'other', issuerSigned: {} }]),
    })
    await expect(readIso(await annexC(two))).rejects.toThrow('was not asked for')
  })

  const presentingEach = async (...each: string[][]) => {
    const documents: unknown[] = []
    const keep = (response: Record<string, unknown>) => documents.push(...(response.documents as unknown[]))
    for (const elements of each)
      await signed({
        nameSpaces: { [NAME_SPACE]: elements.map((element, i) => item(i, element, true)) },
        response: keep,
      })
    return cbor({ version: '1.0', documents, status: 0 })
  }

  test('documents that satisfy the same queries are shared out, so that each query has one and each document counts', async () => {
    const same = { credentials: [mdl('a', ['sex']), mdl('b', ['sex'])] }
    expect(await idsOf(await presentingEach(['sex'], ['sex']), same)).toEqual(['a', 'b'])
    expect(await idsOf(await presentingEach(['sex'], ['sex'], ['sex']), same)).toMatchObject({ kind: 'malformed' })

    const wider = { credentials: [mdl('sex', ['sex']), mdl('both', ['sex', 'portrait']), mdl('all', ['sex', 'portrait', 'x'])] }
    expect(await idsOf(await presentingEach(['sex'], ['sex', 'portrait']), wider)).toEqual(['sex', 'both'])
    expect(await idsOf(await presentingEach(['sex', 'portrait', 'x'], ['sex', 'portrait'], ['sex']), wider)).toEqual([
      'all',
      'both',
      'sex',
    ])
    expect(await idsOf(await presentingEach(['sex', 'portrait', 'x'], ['sex']), wider)).toEqual(['both', 'all', 'sex'])

    const several = { credentials: [mdl('one', ['sex']), mdl('any', ['sex'], { multiple: true })] }
    expect(await idsOf(await presentingEach(['sex'], ['sex']), several)).toEqual(['one', 'any', 'any'])
  })

  test('twenty documents for twenty queries that all of them satisfy are shared out', async () => {
    const names = Array.from({ length: 20 }, (_, i) => `q${i}`)
    const query = { credentials: names.map(name => mdl(name, ['sex'])) }
    expect(await idsOf(await presentingEach(...names.map(() => ['sex'])), query)).toEqual(names)
  })

  test('two documents for one query are malformed, unless it allows several', async () => {
    const two = await signed({
      response: response => (response.documents = [...(response.documents as unknown[]), ...(response.documents as unknown[])]),
    })
    expect(await idsOf(two, QUERY)).toMatchObject({ kind: 'malformed' })
    expect(await idsOf(two, { credentials: [mdl('mdl', ['age_over_18'], { multiple: true })] })).toEqual(['mdl', 'mdl'])
  })
})

describe('OpenID4VP', () => {
  const encrypted = async (payload: unknown, header: object = {}) => {
    const { x, y } = key
    const publicKey = await crypto.subtle.importKey(
      'jwk',
      { kty: 'EC', crv: 'P-256', x, y },
      { name: 'ECDH', namedCurve: 'P-256' },
      true,
      [],
    )
    return await new CompactEncrypt(Buffer.from(JSON.stringify(payload)))
      .setProtectedHeader({ alg: 'ECDH-ES', enc: 'A128GCM', kid: 'k', ...header })
      .encrypt(publicKey)
  }
  const read = (data: Record<string, unknown>) =>
    readOpenIdAnswer(data, { query: QUERY, key: { kid: 'k', privateKey: key.privateKey } })

  test('an encrypted answer is read, whatever its state', async () => {
    for (const more of [{}, { state: 'of the QR flow' }, { state: 1 }]) {
      const response = await encrypted({ vp_token: { mdl: ['AA'] }, ...more })
      expect(await read({ response })).toMatchObject({ kind: 'presentations', presentations: [{ presentation: 'AA' }] })
    }
  })

  test('an error is told, in the clear and encrypted', async () => {
    expect(await read({ error: 'access_denied' })).toEqual({ kind: 'error', code: 'access_denied', encrypted: false })
    expect(await read({ error: { no: 'text' } })).toEqual({ kind: 'error', code: 'unknown_error', encrypted: false })
    const response = await encrypted({ error: 'access_denied' })
    expect(await read({ response })).toEqual({ kind: 'error', code: 'access_denied', encrypted: true })
  })

  test('a vp_token in the clear is refused', async () => {
    await expect(read({ vp_token: { mdl: ['AA'] } })).rejects.toThrow('must be encrypted')
  })

  const refused: [string, () => Promise<Record<string, unknown>>][] = [
    ['without a response', async () => ({})],
    ['with a list as response', async () => ({ response: [await encrypted({ vp_token: {} })] })],
    ['for another kid', async () => ({ response: await encrypted({ vp_token: {} }, { kid: 'other' }) })],
    ['without a kid', async () => ({ response: await encrypted({ vp_token: {} }, { kid: undefined }) })],
    ['with another content encryption', async () => ({ response: await encrypted({ vp_token: {} }, { enc: 'A192GCM' }) })],
    ['with a list inside', async () => ({ response: await encrypted([]) })],
    ['with neither token nor error', async () => ({ response: await encrypted({}) })],
    ['with an id that was not asked for', async () => ({ response: await encrypted({ vp_token: { other: ['AA'] } }) })],
    ['cut short', async () => ({ response: (await encrypted({ vp_token: {} })).slice(0, -4) })],
  ]
  test.each(refused)('an answer %s is refused', async (_, make) => {
    await expect(read(await make())).rejects.toBeInstanceOf(UnreadableResponse)
  })

  test('a bare string, and two presentations for one query, are malformed', async () => {
    for (const vp_token of [{ mdl: 'AA' }, { mdl: [] }, { mdl: ['AA', 'BB'] }])
      expect(await read({ response: await encrypted({ vp_token }) })).toMatchObject({ kind: 'malformed' })
  })
})
