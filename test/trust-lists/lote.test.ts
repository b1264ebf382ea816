import { describe, expect, test } from 'bun:test'
import { createHash, createHmac } from 'node:crypto'
import type { RefusalCode } from '../../src/trust-lists/list.ts'
import { readLote } from '../../src/trust-lists/lote.ts'
import { DAY_MS, NOW } from '../helpers/certificates.ts'
import { LOTE, type LoteSpoilt, makeIssuer, makeLote, makeSigner, SERVICE, STATUS, type WantedLote } from './make.ts'
import { accepted, expectRefused } from './outcome.ts'

const signer = await makeSigner()
const [p384, p521, rsa, edwards, weak] = await Promise.all(
  (['P-384', 'P-521', 'RSA', 'Ed25519', 'RSA-1024'] as const).map(kind => makeSigner({ kind })),
)
const issuer = await makeIssuer()
const other = await makeIssuer()
const third = await makeIssuer()

const entity = { name: 'Registry of Utopia', role: 'UT', services: [{ certificates: [issuer.der] }] }
const list = (wanted: WantedLote = {}, spoilt: LoteSpoilt = {}, by = signer) =>
  readLote(makeLote({ entities: [entity], ...wanted }, by, spoilt))

const digest = (algorithm: string, bytes: Uint8Array): string => createHash(algorithm).update(bytes).digest('base64url')

describe('a LoTE', () => {
  test('is read with its scheme, its dates, its signer and its entries', () => {
    const since = NOW - 20 * DAY_MS
    const services = [{ certificates: [issuer.der], status: STATUS.notified, since }]
    const read = accepted(list({ sequence: 7, entities: [{ ...entity, services }] }))
    expect(read).toEqual({
      kind: 'lote',
      type: LOTE.pid,
      territory: 'EU',
      name: 'Test List',
      identity: 'uri.etsi.org/19602/LoTEType/EUPIDProvidersList EU',
      sequence: 7,
      issuedAt: NOW - DAY_MS,
      nextUpdate: NOW + 90 * DAY_MS,
      chain: [signer.der],
      announced: [],
      entries: [
        {
          certificate: issuer.der,
          entity: 'Registry of Utopia',
          country: 'UT',
          serviceType: SERVICE.pidIssuance,
          serviceStatus: STATUS.notified,
          since,
          docTypes: [],
        },
      ],
      skipped: {},
    })
  })

  test.each([
    ['without the member around it', { isBare: true }, {}],
    ['in the flattened form', {}, { form: 'flattened' }],
    ['in the general form', {}, { form: 'general' }],
    ['in the general form with etsiU', {}, { form: 'general', unprotected: { etsiU: ['x'] } }],
    ['with fractions of a second', { members: { ListIssueDateTime: '2026-11-14T00:00:00.395Z' } }, {}],
    ['with the offset of UTC in its date', { members: { ListIssueDateTime: '2026-11-14T00:00:00+00:00' } }, {}],
    [
      'with the other spelling of its date',
      { members: { ListIssueDateTime: undefined, ListIssueDatetime: '2026-11-14T00:00:00Z' } },
      {},
    ],
    ['with extensions that are not critical', { members: { SchemeExtensions: [{ critical: false }] } }, {}],
    ['with unknown members', { members: { Unknown: { deep: [1] } } }, {}],
    ['without typ', {}, { header: { typ: undefined } }],
    [
      'with kid, jku, x5u and jwk of somebody else',
      {},
      { header: { kid: 'x', jku: 'https://x.example', x5u: 'https://x.example', jwk: {} } },
    ],
    ['with crit that is present', {}, { header: { crit: ['sigT'], sigT: '2026-11-14T00:00:00Z' } }],
  ] as [string, WantedLote, LoteSpoilt][])('%s is accepted', (_, wanted, spoilt) => {
    expect(accepted(list(wanted, spoilt)).entries).toHaveLength(1)
  })

  test.each(['compact', 'general'] as const)('in the %s form with a byte order mark and white space is accepted', form => {
    const bytes = Buffer.concat([
      Buffer.from('\ufeff \n'),
      makeLote({ entities: [entity] }, signer, { form }),
      Buffer.from('\r\n'),
    ])
    expect(accepted(readLote(bytes)).entries).toHaveLength(1)
    expectRefused(readLote(Buffer.concat([Buffer.from('\ufeff'), bytes])), 'malformed')
  })

  test.each([
    ['ES256', signer],
    ['ES384', p384],
    ['ES512', p521],
    ['RS256', rsa],
    ['RS384', rsa],
    ['RS512', rsa],
    ['PS256', rsa],
    ['PS384', rsa],
    ['PS512', rsa],
  ] as const)('signed with %s is accepted', (alg, by) => {
    expect(list({}, { alg }, by).ok).toBe(true)
  })

  test('signed by a key that is for RSA-PSS only is accepted with PS256, and refused with RS256', () => {
    // rsaEncryption becomes id-RSASSA-PSS (RFC 4055); nobody looks at who issued the certificate of a pinned signer.
    const der = Buffer.from(rsa!.der)
    der[der.indexOf('2a864886f70d010101', 'hex') + 8] = 10
    const by = { ...rsa!, der, chain: [der] }
    expect(list({}, { alg: 'PS256' }, by).ok).toBe(true)
    expectRefused(list({}, { alg: 'RS256' }, by), 'algorithm_refused')
  })
})

describe('the signature of a LoTE', () => {
  const hmac = (key: Uint8Array | string): Uint8Array => {
    const text = Buffer.from(makeLote({ entities: [entity] }, signer, { alg: 'HS256', signedBy: { hash: 'sha256' } })).toString()
    const signed = text.slice(0, text.lastIndexOf('.'))
    return Buffer.from(`${signed}.${createHmac('sha256', key).update(signed).digest('base64url')}`)
  }

  test('with alg none is refused, with and without a signature', () => {
    for (const signature of [(made: Uint8Array) => made, () => new Uint8Array()]) {
      expectRefused(list({}, { alg: 'none', signedBy: { hash: 'sha256' }, signature }), 'algorithm_refused')
    }
  })

  test('with HS256 keyed with the certificate is refused', () => {
    for (const key of [signer.der, signer.pem]) expectRefused(readLote(hmac(key)), 'algorithm_refused')
  })

  test.each([
    [
      'RS512 in the header of a PSS signature',
      rsa,
      { alg: 'RS512', signedBy: { hash: 'sha512', pss: true } },
      'signature_invalid',
    ],
    ['PS512 in the header of a PKCS #1 signature', rsa, { alg: 'PS512', signedBy: { hash: 'sha512' } }, 'signature_invalid'],
    ['ES256 with a P-384 key', p384, { alg: 'ES256' }, 'algorithm_refused'],
    ['ES384 with a P-256 key', signer, { alg: 'ES384' }, 'algorithm_refused'],
    ['RS256 with a P-256 key', signer, { alg: 'RS256' }, 'algorithm_refused'],
    ['EdDSA', edwards, {}, 'algorithm_refused'],
    ['an RSA key of 1024 bits', weak, {}, 'algorithm_refused'],
    ['a name of Object.prototype as alg', signer, { alg: 'constructor', signedBy: { hash: 'sha256' } }, 'algorithm_refused'],
    ['no signature', signer, { signature: () => new Uint8Array() }, 'unsigned'],
    ['one bit changed', signer, { signature: flipped }, 'signature_invalid'],
    [
      'one letter changed in the payload',
      signer,
      { payload: (text: string) => text.replace('Utopia', 'Utopie') },
      'signature_invalid',
    ],
    [
      'the DER form of an ECDSA value',
      signer,
      { signature: (made: Uint8Array) => Buffer.concat([made, Buffer.of(0)]) },
      'signature_invalid',
    ],
    ['the certificate of somebody else', signer, { chain: [issuer.der] }, 'signature_invalid'],
  ] as [string, typeof signer, LoteSpoilt, RefusalCode][])('with %s is refused', (_, by, spoilt, code) => {
    expectRefused(list({}, spoilt, by), code)
  })

  test.each([
    ['an unknown critical header', { crit: ['exp'], exp: 1 }],
    ['a critical header that is missing', { crit: ['sigT'] }],
    ['an empty crit', { crit: [] }],
    ['crit that is no array', { crit: 'sigT', sigT: 'x' }],
    ['b64 false', { b64: false, crit: ['b64'] }],
    ['b64 true', { b64: true }],
    ['sigD', { sigD: { mId: 'http://uri.etsi.org/19182/HttpHeaders' } }],
    ['no certificate', { x5c: undefined }],
    ['an empty x5c', { x5c: [] }],
    ['six certificates', { x5c: Array(6).fill(Buffer.from(signer.der).toString('base64')) }],
    ['a certificate that is not base64', { x5c: [Buffer.from(signer.der).toString('base64url')] }],
    ['a certificate that is none', { x5c: ['AAAA'] }],
  ] as [string, Record<string, unknown>][])('with %s is refused as malformed', (_, header) => {
    expectRefused(list({}, { header }), 'malformed')
  })

  test.each([
    ['x5t#S256', digest('sha256', signer.der), digest('sha256', issuer.der)],
    ['x5t#o', { digAlg: 'S512', digVal: digest('sha512', signer.der) }, { digAlg: 'S512', digVal: digest('sha512', issuer.der) }],
    [
      'x5t#o',
      { digAlg: 'sha-384', digVal: digest('sha384', signer.der) },
      { digAlg: 'sha-384', digVal: digest('sha384', issuer.der) },
    ],
    [
      'x5t#o',
      { digAlg: 'http://www.w3.org/2001/04/xmlenc#sha512', digVal: digest('sha512', signer.der) },
      { digAlg: 'S512', digVal: 'AA' },
    ],
  ])('must match the certificate in %s when it names one (%j)', (name, own, foreign) => {
    expect(list({}, { header: { [name]: own } }).ok).toBe(true)
    expectRefused(list({}, { header: { [name]: foreign } }), 'signature_invalid')
  })

  test('with SHA-1 in x5t#o is refused', () => {
    const header = { 'x5t#o': { digAlg: 'http://www.w3.org/2000/09/xmldsig#sha1', digVal: digest('sha1', signer.der) } }
    expectRefused(list({}, { header }), 'algorithm_refused')
  })

  test('in the JSON form stands alone and has nothing unprotected but etsiU', () => {
    expectRefused(list({}, { form: 'general', isSignedTwice: true }), 'malformed')
    for (const form of ['general', 'flattened'] as const) {
      expectRefused(list({}, { form, unprotected: { alg: 'none' } }), 'malformed')
    }
    const flattened = JSON.parse(Buffer.from(makeLote({}, signer, { form: 'flattened' })).toString())
    const both = { ...flattened, signatures: [{ protected: flattened.protected, signature: flattened.signature }] }
    expectRefused(readLote(Buffer.from(JSON.stringify(both))), 'malformed')
  })

  test('cannot be left away: a bare list is refused as unsigned', () => {
    const [, payload] = Buffer.from(makeLote({}, signer)).toString().split('.')
    expectRefused(readLote(Buffer.from(payload!, 'base64url')), 'unsigned')
  })
})

function flipped(bytes: Uint8Array): Uint8Array {
  return Buffer.from(bytes.map((byte, at) => (at === bytes.length - 1 ? byte ^ 1 : byte)))
}

describe('the payload of a LoTE', () => {
  const twice = (text: string) => text.replace('"LoTESequenceNumber":1', '"LoTESequenceNumber":1,"LoTESequenceNumber":2')

  test('with a name twice is refused', () => {
    expectRefused(list({}, { text: twice }), 'malformed')
  })

  test.each([
    ['a sequence number that is true', { LoTESequenceNumber: true }],
    ['a sequence number that is a text', { LoTESequenceNumber: '1' }],
    ['a sequence number with a fraction', { LoTESequenceNumber: 1.5 }],
    ['a negative sequence number', { LoTESequenceNumber: -1 }],
    ['version 2', { LoTEVersionIdentifier: 2 }],
    ['a date without a zone', { ListIssueDateTime: '2026-11-14T00:00:00' }],
    ['a date of another zone', { ListIssueDateTime: '2026-11-14T00:00:00+02:00' }],
    ['a day that does not exist', { ListIssueDateTime: '2026-02-30T00:00:00Z' }],
    ['no date', { ListIssueDateTime: undefined }],
    ['a next update that is no date', { NextUpdate: 'soon' }],
    ['a critical extension', { SchemeExtensions: [{ critical: true }] }],
    ['a type that is no text', { LoTEType: 5 }],
    ['depth 17', { Unknown: JSON.parse(`${'['.repeat(14)}${']'.repeat(14)}`) }],
  ] as [string, Record<string, unknown>][])('with %s is refused as malformed', (_, members) => {
    expectRefused(list({ members }), 'malformed')
  })

  test('with depth 16 is accepted', () => {
    expect(list({ members: { Unknown: JSON.parse(`${'['.repeat(13)}${']'.repeat(13)}`) } }).ok).toBe(true)
  })

  test('with more than 200,000 values is refused', () => {
    expectRefused(list({ members: { Unknown: Array(200_001).fill(0) } }), 'malformed', 'more than 200000 values')
  })

  test('with a critical extension at an entity or a service is refused', () => {
    const extension = [{ critical: true }]
    const atEntity = { ...entity, members: { TEInformationExtensions: extension } }
    const atService = {
      ...entity,
      services: [{ certificates: [issuer.der], members: { ServiceInformationExtensions: extension } }],
    }
    for (const spoilt of [atEntity, atService]) expectRefused(list({ entities: [spoilt] }), 'malformed', 'critical extension')
  })

  test.each([[undefined], [null], ['']])('without a next update (%p) is a closed list', NextUpdate => {
    expectRefused(list({ members: { NextUpdate } }), 'closed')
  })

  test('names the country by territory, then by role, then by postal address', () => {
    const country = (wanted: WantedLote) => accepted(list(wanted)).entries[0]?.country
    expect(country({ territory: 'DE', entities: [{ ...entity, role: 'NO', country: 'FR' }] })).toBe('DE')
    expect(country({ entities: [{ ...entity, role: 'NO', country: 'FR' }] })).toBe('NO')
    expect(country({ entities: [{ services: entity.services, country: 'FR' }] })).toBe('FR')
    expect(country({ entities: [{ services: entity.services }] })).toBeNull()
  })

  test('announces the signers of the pointer to itself, and no others', () => {
    const pointers = [
      { certificates: [issuer.der] },
      { type: LOTE.wallets, certificates: [other.der] },
      { territory: 'DE', certificates: [third.der] },
    ]
    expect(accepted(list({ pointers })).announced).toEqual([createHash('sha256').update(issuer.der).digest('hex')])
  })

  test('grants nothing by the history of a service', () => {
    const history = [
      { ServiceTypeIdentifier: SERVICE.pidIssuance, ServiceDigitalIdentity: { X509Certificates: [{ val: 'AAAA' }] } },
    ]
    const services = [{ certificates: [issuer.der], history }]
    const read = accepted(list({ entities: [{ ...entity, services }] }))
    expect([read.entries.length, read.skipped]).toEqual([1, {}])
  })

  test('skips and counts entries that are unreadable, too large or without a certificate', () => {
    const large = new Uint8Array(8193)
    const identity = (members: object) => ({ members: { ServiceDigitalIdentity: members } })
    const services = [
      { certificates: [issuer.der, Uint8Array.of(1, 2, 3), large] },
      identity({ X509Certificates: [{ val: 'no base64!' }] }),
      identity({ OtherIds: ['did:example:1'] }),
      identity({ X509SKIs: ['AA=='] }),
    ]
    const read = accepted(list({ entities: [{ ...entity, services }] }))
    expect(read.entries.map(({ certificate }) => certificate)).toEqual([issuer.der])
    expect(read.skipped).toEqual({ unreadable: 2, too_large: 1, no_certificate: 2 })
  })

  test('skips and counts services that cannot be read: a status that is no text is not the same as none', () => {
    const spoilt = (members: Record<string, unknown>) => ({ certificates: [issuer.der], members })
    const notAnEntity = (text: string) => text.replace('"TrustedEntitiesList":[', '$&7,')
    const services = [
      spoilt({ ServiceStatus: 5 }),
      spoilt({ ServiceStatus: 'x'.repeat(501) }),
      spoilt({ ServiceTypeIdentifier: {} }),
      spoilt({ ServiceDigitalIdentity: { X509Certificates: {} } }),
      { certificates: [other.der] },
    ]
    const read = accepted(list({ entities: [{ ...entity, services }] }, { text: notAnEntity }))
    expect(read.entries.map(({ certificate }) => certificate)).toEqual([other.der])
    expect(read.skipped).toEqual({ unreadable: 4, no_certificate: 1 })
  })

  test('keeps an empty status, which is not the same as none', () => {
    const services = [undefined, null, ''].map(ServiceStatus => ({ certificates: [issuer.der], members: { ServiceStatus } }))
    const { entries } = accepted(list({ entities: [{ ...entity, services }] }))
    expect(entries.map(({ serviceStatus }) => serviceStatus)).toEqual([null, null, ''])
  })

  test.each([[null], ['2025-01-01'], ['2025-01-01T00:00:00+02:00']])(
    'takes a service whose status began at %p',
    StatusStartingTime => {
      const services = [{ certificates: [issuer.der], members: { StatusStartingTime } }]
      expect(accepted(list({ entities: [{ ...entity, services }] })).entries).toMatchObject([{ since: null }])
    },
  )

  test('with 2,000 certificates is accepted, and with 2,001 refused', () => {
    const many = (count: number) => list({ entities: [{ services: [{ certificates: Array(count).fill(issuer.der) }] }] })
    expect(accepted(many(2000)).entries).toHaveLength(2000)
    expectRefused(many(2001), 'too_many')
  })

  test('shows names without control characters, at most 200 of them', () => {
    const named = (name: string) => accepted(list({ entities: [{ ...entity, name }] })).entries[0]?.entity
    expect(named('Bad\u202e name\u0007\nof  two lines')).toBe('Bad name of two lines')
    expect(named('x'.repeat(300))).toBe('x'.repeat(200))
  })

  test('may be empty of entities', () => {
    expect(accepted(list({ entities: [] })).entries).toEqual([])
  })
})
