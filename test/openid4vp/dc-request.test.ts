import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { DeviceRequest } from '@owf/mdoc'
import { encodeCbor } from '../../src/openid4vp/cbor/encode.ts'
import type { DcqlQuery } from '../../src/openid4vp/dcql/dcql.ts'
import { encryptionInfo, signedRequestClaims, unsignedRequest } from '../../src/openid4vp/exchange/dc-request.ts'
import { deviceRequestParts, encodeDeviceRequest, partsForBrowsers } from '../../src/openid4vp/exchange/device-request.ts'
import { openHpke } from '../../src/openid4vp/exchange/hpke.ts'
import { boundToOrigin, isoDcApiTranscript } from '../../src/openid4vp/exchange/session-transcript.ts'
import { BUILTIN_TEMPLATES } from '../../src/templates/builtin.ts'
import { hpkeKeyOf } from '../helpers/hpke.ts'
import { cbor, embedded, hex, Raw } from '../helpers/mdoc.ts'
import { vectorFile } from '../helpers/vectors.ts'

const MDL = 'org.iso.18013.5.1.mDL'
const NAME_SPACE = 'org.iso.18013.5.1'
const mdl = (id: string, elements: string[], more: object = {}) => ({
  id,
  format: 'mso_mdoc' as const,
  meta: { doctype_value: MDL },
  claims: elements.map(element => ({ id: element, path: [NAME_SPACE, element] })),
  ...more,
})
const pid = { id: 'pid', format: 'dc+sd-jwt' as const, meta: { vct_values: ['urn:eudi:pid:1'] }, claims: [{ path: ['age'] }] }

const requestFor = (query: DcqlQuery) => {
  const parts = partsForBrowsers(query)
  return parts && Buffer.from(encodeDeviceRequest(parts, parts.isSimple ? '1.0' : '1.1'))
}
const items = (elements: Record<string, boolean>, more: object = {}) =>
  embedded({ docType: MDL, nameSpaces: { [NAME_SPACE]: elements }, ...more })
/** Version 1.1, with the requests and use cases given. */
const several = (itemsRequests: unknown[], useCases: unknown[]) =>
  cbor({
    version: '1.1',
    docRequests: itemsRequests.map(itemsRequest => ({ itemsRequest })),
    deviceRequestInfo: embedded({ useCases }),
  })

const OPENID_REQUEST = {
  nonce: 'exc7gBkxjx1rdc9udRrveKvSsJIq80avlXeLHhGwqtA',
  query: { credentials: [mdl('mdl', ['age_over_18'])] } satisfies DcqlQuery,
  encryptionKey: { kty: 'EC', crv: 'P-256', x: 'x', y: 'y', kid: 'k' } as const,
}

describe('OpenID4VP', () => {
  test('an unsigned request has exactly five members, and no client_id', () => {
    const request = unsignedRequest(OPENID_REQUEST)
    expect(Object.keys(request)).toEqual(['response_type', 'response_mode', 'nonce', 'dcql_query', 'client_metadata'])
    expect(request).toMatchObject({ response_type: 'vp_token', response_mode: 'dc_api.jwt', nonce: OPENID_REQUEST.nonce })
    expect(request.client_metadata).toMatchObject({
      jwks: { keys: [{ kid: 'k', use: 'enc', alg: 'ECDH-ES' }] },
      encrypted_response_enc_values_supported: ['A128GCM', 'A256GCM'],
    })
  })

  test('a signed request adds who asks, the one origin, audience and times', () => {
    const origin = 'https://shop.example'
    const signed = {
      ...OPENID_REQUEST,
      clientId: 'x509_hash:abc',
      origin,
      issuedAt: 1500,
      expiresAt: 61_999,
      registrationForm: 'jwt',
    } as const
    const { response_type, response_mode, nonce, dcql_query, client_metadata, ...more } = signedRequestClaims(signed)
    expect({ response_type, response_mode, nonce, dcql_query, client_metadata }).toEqual(unsignedRequest(OPENID_REQUEST))
    const added = { client_id: 'x509_hash:abc', expected_origins: [origin], aud: 'https://self-issued.me/v2', iat: 1, exp: 61 }
    expect(more).toEqual(added)
    const { verifier_info } = signedRequestClaims({ ...signed, registrationCertificate: 'a.b.c' })
    expect(verifier_info).toEqual([{ format: 'registration_cert', data: 'a.b.c' }])
  })

  test('an answer is bound to the origin: the audience has its prefix, the transcript has none', () => {
    const thumbprint = hex('4283ec927ae0f208daaa2d026a814f2b22dca52cf85ffa8f3f8626c6bd669047')
    const request = { origin: 'https://example.com', nonce: OPENID_REQUEST.nonce, encryptionKeyThumbprint: thumbprint }
    const { nonce, audience, transcript } = boundToOrigin(request)
    expect([nonce, audience]).toEqual([OPENID_REQUEST.nonce, 'origin:https://example.com'])
    expect(Buffer.from(transcript()).toString('hex')).toBe(
      '83f6f682764f70656e4944345650444341504948616e646f7665725820fbece366f4212f9762c74cfdbf83b8c69e371d5d68cea09cb4c48ca6daab761a',
    )
  })
})

describe('Annex C: a query as a DeviceRequest', () => {
  test('one document is asked for in version 1.0, with what is retained', () => {
    const query = { credentials: [mdl('mdl', ['age_over_18', 'portrait'])] } satisfies DcqlQuery
    query.credentials[0]!.claims[1] = { ...query.credentials[0]!.claims[1]!, intent_to_retain: true } as never
    expect(requestFor(query)).toEqual(
      cbor({ version: '1.0', docRequests: [{ itemsRequest: items({ age_over_18: false, portrait: true }) }] }),
    )
  })

  test('two documents are asked for in version 1.1, as one mandatory use case', () => {
    const query = { credentials: [mdl('a', ['age_over_18']), mdl('b', ['portrait'])] }
    expect(requestFor(query)).toEqual(
      several([items({ age_over_18: false }), items({ portrait: false })], [{ mandatory: true, documentSets: [[0, 1]] }]),
    )
  })

  test('credential sets become use cases, and an optional one is not mandatory', () => {
    const query = {
      credentials: [mdl('a', ['age_over_18']), mdl('b', ['portrait']), mdl('c', ['sex'])],
      credential_sets: [{ options: [['a'], ['b']] }, { options: [['c']], required: false }],
    }
    expect(requestFor(query)).toEqual(
      several(
        [items({ age_over_18: false }), items({ portrait: false }), items({ sex: false })],
        [
          { mandatory: true, documentSets: [[0], [1]] },
          { mandatory: false, documentSets: [[2]] },
        ],
      ),
    )
  })

  test('each claim set is a request of its own, and every option that names its query has all of them', () => {
    const query = {
      credentials: [
        mdl('a', ['age_over_18', 'birth_date'], { claim_sets: [['age_over_18'], ['birth_date']] }),
        mdl('b', ['portrait']),
      ],
    }
    expect(requestFor(query)).toEqual(
      several(
        [items({ age_over_18: false }), items({ birth_date: false }), items({ portrait: false })],
        [
          {
            mandatory: true,
            documentSets: [
              [0, 2],
              [1, 2],
            ],
          },
        ],
      ),
    )
  })

  test('documents of the other format are left out where the query allows it', () => {
    const query = { credentials: [mdl('mdl', ['age_over_18']), pid], credential_sets: [{ options: [['pid'], ['mdl']] }] }
    expect(requestFor(query)).toEqual(cbor({ version: '1.0', docRequests: [{ itemsRequest: items({ age_over_18: false }) }] }))
  })

  test('key identifiers of authorities are passed on', () => {
    const query = {
      credentials: [mdl('mdl', ['age_over_18'], { trusted_authorities: [{ type: 'aki', values: ['AQID', 'BAUG'] }] })],
    } as DcqlQuery
    const requestInfo = { issuerIdentifiers: [hex('010203'), hex('040506')] }
    expect(requestFor(query)).toEqual(
      cbor({ version: '1.0', docRequests: [{ itemsRequest: items({ age_over_18: false }, { requestInfo }) }] }),
    )
  })

  const many = (count: number) => Array.from({ length: count }, (_, i) => `e${i}`)
  const inexpressible: [string, DcqlQuery][] = [
    ['an SD-JWT only', { credentials: [pid] }],
    ['an SD-JWT that is required', { credentials: [pid, mdl('mdl', ['age_over_18'])] }],
    ['a document without claims', { credentials: [{ id: 'mdl', format: 'mso_mdoc', meta: { doctype_value: MDL } }] }],
    ['oidc_info, which browsers refuse', { credentials: [mdl('mdl', ['oidc_info'])] }],
    ['webapi_info, which browsers refuse', { credentials: [mdl('mdl', ['age_over_18', 'webapi_info'])] }],
    ['21 requests', { credentials: [mdl('mdl', many(21), { claim_sets: many(21).map(id => [id]) })] }],
    [
      '64 document sets',
      { credentials: ['a', 'b', 'c'].map(id => mdl(id, many(4), { claim_sets: many(4).map(each => [each]) })) },
    ],
  ]
  test.each(inexpressible)('a query for %s is not asked this way', (_, query) => {
    expect(partsForBrowsers(query)).toBeUndefined()
  })

  test('20 requests and 49 document sets are asked for', () => {
    expect(deviceRequestParts({ credentials: [mdl('mdl', many(20), { claim_sets: many(20).map(id => [id]) })] })).toBeDefined()
    const sevens = ['a', 'b'].map(id => mdl(id, many(7), { claim_sets: many(7).map(each => [each]) }))
    expect(deviceRequestParts({ credentials: sevens })).toBeDefined()
  })

  test('@owf/mdoc reads the requests of all built-in templates that can be asked for', () => {
    const read = [...BUILTIN_TEMPLATES.values()].flatMap(({ key, query }) => {
      const bytes = requestFor(query)
      return bytes ? [[key, DeviceRequest.decode(bytes).docRequests.length] as const] : []
    })
    expect(read.map(([key]) => key)).toContain('eu_av_age_18')
    expect(Object.fromEntries(read).eu_av_age_18).toBe(1)
    expect(read.every(([, count]) => count > 0)).toBe(true)
  })

  test('what browsers refuse is asked of a phone in person', () => {
    const parts = deviceRequestParts({ credentials: [mdl('mdl', ['oidc_info'])] })!
    expect(encodeDeviceRequest(parts, '1.0') as Buffer).toEqual(
      cbor({ version: '1.0', docRequests: [{ itemsRequest: items({ oidc_info: false }) }] }),
    )
  })

  test('nothing is asked for an option that needs the other format too', () => {
    const query = {
      credentials: [mdl('a', ['age_over_18']), mdl('b', ['portrait']), pid],
      credential_sets: [{ options: [['pid', 'b'], ['a']] }],
    }
    expect(requestFor(query)).toEqual(cbor({ version: '1.0', docRequests: [{ itemsRequest: items({ age_over_18: false }) }] }))
  })

  test('version 1.0 leaves out the use cases, and asks for all documents at once', () => {
    const parts = deviceRequestParts({ credentials: [mdl('a', ['age_over_18']), mdl('b', ['portrait'])] })!
    expect(encodeDeviceRequest(parts, '1.0') as Buffer).toEqual(
      cbor({
        version: '1.0',
        docRequests: [{ itemsRequest: items({ age_over_18: false }) }, { itemsRequest: items({ portrait: false }) }],
      }),
    )
  })
})

type AnnexC = {
  origin: string
  deviceRequestB64: string
  encryptionInfoB64: string
  encryptedResponseB64: string
  recipientPrivateKeyHex: string
  expected: { sessionTranscriptCborSha256Hex: string }
}
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

describe('the registration certificate in a device request (ETSI TS 119 472-2, REQ-04 to 07)', () => {
  const JWT = 'eyJhbGciOiJFUzI1NiIsInR5cCI6InJjLXdycCtqd3QifQ.e30.AA'
  const query = { credentials: [mdl('a', ['age_over_18']), mdl('b', ['portrait'])] }
  const sent = (jwt: string | undefined) =>
    deviceRequestParts(query, jwt)!.itemsRequests.map(each => Buffer.from(encodeCbor(each)))
  const expected = (...certificates: (string | undefined)[]) =>
    ['age_over_18', 'portrait'].map((element, i) => {
      const euWrprc = certificates[i] === undefined ? undefined : new Uint8Array(Buffer.from(certificates[i]))
      return Buffer.from(cbor(items({ [element]: false }, euWrprc && { requestInfo: { euWrprc } })))
    })

  test('the request of a PID with a certificate and an authority has the bytes of the vector Eu-1', () => {
    const asked = {
      id: 'pid',
      format: 'mso_mdoc' as const,
      meta: { doctype_value: 'eu.europa.ec.eudi.pid.1' },
      claims: [{ path: ['eu.europa.ec.eudi.pid.1', 'family_name'] }],
      trusted_authorities: [{ type: 'aki' as const, values: ['qrs'] }],
    }
    const [bytes] = deviceRequestParts({ credentials: [asked] }, JWT)!.itemsRequests.map(encodeCbor)
    expect(bytes).toHaveLength(185)
    expect(sha256(bytes!)).toBe('b2bce25fc9d4fe58467bd309ebec8a479f1d35ef7eb38208d30834bf64b59e73')
  })

  test('every document request has the same copy; without certificate and authority there is no requestInfo', () => {
    expect(sent(JWT)).toEqual(expected(JWT, JWT))
    expect(sent(undefined)).toEqual(expected(undefined, undefined))
  })

  test('copies of more than 48 KiB together are sent with the first document only', () => {
    const [fits, long] = ['x'.repeat(24 * 1024), 'x'.repeat(24 * 1024 + 1)]
    expect(sent(fits)).toEqual(expected(fits, fits))
    expect(sent(long)).toEqual(expected(long, undefined))
  })
})

describe('Annex C: public vectors', () => {
  const deterministic = vectorFile<AnnexC>('dc-api/ANNEXC-DETERMINISTIC-001.json')
  const captured = vectorFile<AnnexC>('dc-api/ANNEXC-REAL-001.json')

  test.if(deterministic !== undefined)('walt.id: request, encryption info, transcript and answer are recomputed', async () => {
    const { origin, deviceRequestB64, encryptionInfoB64, encryptedResponseB64, recipientPrivateKeyHex, expected } = deterministic!
    const key = await hpkeKeyOf(hex(recipientPrivateKeyHex))
    expect(requestFor({ credentials: [mdl('mdl', ['age_over_18'])] })?.toString('base64url')).toBe(deviceRequestB64)
    const [x, y] = [key.point.slice(1, 33), key.point.slice(33)].map(half => Buffer.from(half).toString('base64url'))
    expect(encryptionInfo(hex('000102030405060708090a0b0c0d0e0f'), { x: x!, y: y! })).toBe(encryptionInfoB64)
    const transcript = isoDcApiTranscript(encryptionInfoB64, origin)
    expect(sha256(transcript)).toBe(expected.sessionTranscriptCborSha256Hex)
    const answer = Buffer.from(encryptedResponseB64, 'base64url')
    // ["dcapi", {"enc": 65 bytes, "cipherText": 37 bytes}]
    const [enc, cipherText] = [answer.subarray(14, 79), answer.subarray(-37)]
    expect(Buffer.from((await openHpke(key, { enc, cipherText, info: transcript }))!).toString('hex')).toBe(
      'a26776657273696f6e63312e306673746174757300',
    )
  })

  test.if(captured !== undefined)('multipaz: the transcript of a captured request is recomputed', () => {
    const { origin, encryptionInfoB64, expected } = captured!
    expect(sha256(isoDcApiTranscript(encryptionInfoB64, origin))).toBe(expected.sessionTranscriptCborSha256Hex)
    expect(sha256(isoDcApiTranscript(encryptionInfoB64, `${origin}/`))).not.toBe(expected.sessionTranscriptCborSha256Hex)
  })

  test('the EU age verifier: the digest of its handover is recomputed', () => {
    const info =
      'gmVkY2FwaaJlbm9uY2VQtJvGiCZ0egQII8fQgu960HJyZWNpcGllbnRQdWJsaWNLZXmkAQIgASFYIMmliVBWgs8KKpAychO3py0Eqagows-CrraFX1rVOniXIlggIMvYr_x55AY4LKiWZLHBlQJmX1R9Y5BkUfnuSddAmyE'
    const digest = hex('4a292708fcf38ad55a7969f1c97ead9decf7756b7e9d8cfee942fe9f31b8db0a')
    const transcript = cbor([null, null, ['dcapi', new Raw(cbor(digest))]])
    expect(Buffer.from(isoDcApiTranscript(info, 'https://verifier.ageverification.dev'))).toEqual(transcript)
  })
})
