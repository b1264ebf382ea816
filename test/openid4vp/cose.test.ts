import { describe, expect, test } from 'bun:test'
import { parseCbor } from '../../src/openid4vp/cbor/cbor.ts'
import { parseSign1, verifySign1 } from '../../src/openid4vp/cbor/cose.ts'
import { readCoseKey } from '../../src/openid4vp/cbor/cose-key.ts'
import { readSignerCertificate } from '../../src/openid4vp/trust/signer-certificate.ts'
import {
  type CurveName,
  cbor,
  coseKey,
  embedded,
  hex,
  type Keys,
  makeCertificate,
  makeKeys,
  Raw,
  sign1,
  Tagged,
} from '../helpers/mdoc.ts'
import { vectors } from '../helpers/vectors.ts'

const PAYLOAD = Buffer.from('the payload')
const CURVES: CurveName[] = ['P-256', 'P-384', 'P-521', 'Ed25519']
const keys = Object.fromEntries(await Promise.all(CURVES.map(async curve => [curve, await makeKeys(curve)]))) as Record<
  CurveName,
  Keys
>

const read = (key: Map<number, unknown>) => readCoseKey(parseCbor(cbor(key)))
const keyOf = async (curve: CurveName) => (await read(await coseKey(keys[curve])))!

describe('algorithms', () => {
  const accepted: [number, CurveName][] = [
    [-7, 'P-256'],
    [-9, 'P-256'],
    [-35, 'P-384'],
    [-51, 'P-384'],
    [-36, 'P-521'],
    [-52, 'P-521'],
    [-8, 'Ed25519'],
    [-19, 'Ed25519'],
  ]
  test.each(accepted)('algorithm %i is accepted with a key on %s and with no other', async (alg, curve) => {
    const signed = cbor(await sign1(keys[curve], PAYLOAD, { alg }))
    for (const other of CURVES) expect(await verifySign1(signed, await keyOf(other))).toBe(other === curve)
  })

  test.each([-257, -37, -47, 5, -65_537, -10, 0])('algorithm %i is refused', async alg => {
    for (const curve of CURVES) {
      expect(await verifySign1(cbor(await sign1(keys[curve], PAYLOAD, { alg })), await keyOf(curve))).toBe(false)
    }
  })

  test('an algorithm in the unprotected header is ignored', async () => {
    const signed = await sign1(keys['P-256'], PAYLOAD, { protected: new Map(), unprotected: new Map([[1, -7]]) })
    expect(await verifySign1(cbor(signed), await keyOf('P-256'))).toBe(false)
  })

  test('any critical header is refused', async () => {
    const headers = new Map<unknown, unknown>([
      [1, -7],
      [2, [1]],
    ])
    expect(await verifySign1(cbor(await sign1(keys['P-256'], PAYLOAD, { protected: headers })), await keyOf('P-256'))).toBe(false)
  })
})

describe('signed data', () => {
  test('changing any part of the signed data breaks the signature', async () => {
    const [headers, unprotected, payload, signature] = (await sign1(keys['P-256'], PAYLOAD)) as [
      Buffer,
      Map<1, 2>,
      Buffer,
      Uint8Array,
    ]
    const key = await keyOf('P-256')
    const isValid = (...parts: unknown[]) => verifySign1(cbor(parts), key)
    expect(await isValid(headers, unprotected, payload, signature)).toBe(true)
    expect(await isValid(headers, unprotected, Buffer.from('the payloae'), signature)).toBe(false)
    expect(await isValid(hex('a10128'), unprotected, payload, signature)).toBe(false)
    // The same header in another encoding: the signature is over the bytes as received.
    expect(await isValid(hex('b8010126'), unprotected, payload, signature)).toBe(false)
    expect(await isValid(headers, unprotected, payload, signature.subarray(0, 63))).toBe(false)
    expect(await isValid(headers, unprotected, payload, Buffer.concat([signature, hex('00')]))).toBe(false)
    expect(await isValid(headers, unprotected, payload, Buffer.alloc(64))).toBe(false)
  })

  test('a protected header is verified as received, in any encoding', async () => {
    const signed = await sign1(keys['P-256'], PAYLOAD, { protected: new Raw(hex('b8010126')) as never })
    expect(await verifySign1(cbor(signed), await keyOf('P-256'))).toBe(true)
  })

  test('a detached payload is refused if it is embedded as well', async () => {
    const key = await keyOf('P-256')
    const detached = cbor(await sign1(keys['P-256'], PAYLOAD, { isDetached: true }))
    const attached = cbor(await sign1(keys['P-256'], PAYLOAD))
    expect(await verifySign1(detached, key, { detachedPayload: PAYLOAD })).toBe(true)
    expect(await verifySign1(detached, key, { detachedPayload: Buffer.from('another') })).toBe(false)
    expect(await verifySign1(detached, key)).toBe(false)
    expect(await verifySign1(attached, key, { detachedPayload: PAYLOAD })).toBe(false)
  })

  const readerAuth = vectors<Record<string, string>>('iso18013-annex-d.json').filter(({ kind }) => kind === 'mdoc.reader_auth')
  test.each(readerAuth.map(vector => [vector.id, vector.title, vector] as const))('%s: %s', async (_, __, { input }) => {
    const transcript = parseCbor(hex(input.session_transcript_bytes_hex!)).asTagged(24).asBytes()
    const itemsRequest = new Tagged(24, hex(input.items_request_hex!))
    const detachedPayload = cbor(embedded(['ReaderAuthentication', new Raw(transcript), itemsRequest]))
    const auth = parseSign1(hex(input.reader_auth_hex!))
    expect(auth.x5chain).toEqual([Buffer.from(input.reader_cert_der_b64!, 'base64')])
    const certificate = await readSignerCertificate(auth.x5chain[0]!)
    expect(await verifySign1(auth, certificate!.key!, { detachedPayload })).toBe(true)
    expect(await verifySign1(auth, certificate!.key!, { detachedPayload: hex('00') })).toBe(false)
  })
})

describe('form', () => {
  test('a COSE_Sign1 is read with and without tag 18', async () => {
    const signed = await sign1(keys['P-256'], PAYLOAD)
    expect(await verifySign1(cbor(new Tagged(18, signed)), await keyOf('P-256'))).toBe(true)
    expect(() => parseSign1(cbor(new Tagged(17, signed)))).toThrow('a tag was expected')
    expect(await verifySign1(cbor(new Tagged(17, signed)), await keyOf('P-256'))).toBe(false)
  })

  const PROTECTED = hex('a10126')
  const SIGNATURE = Buffer.alloc(64)
  const broken: [string, unknown][] = [
    ['three parts', [PROTECTED, new Map(), PAYLOAD]],
    ['five parts', [PROTECTED, new Map(), PAYLOAD, SIGNATURE, SIGNATURE]],
    ['a map', {}],
    ['headers that are no byte string', [new Map(), new Map(), PAYLOAD, SIGNATURE]],
    ['headers with trailing bytes', [hex('a1012600'), new Map(), PAYLOAD, SIGNATURE]],
    ['headers with a label twice', [hex('a2012601 26'), new Map(), PAYLOAD, SIGNATURE]],
    ['a label in both headers', [PROTECTED, new Map([[1, -7]]), PAYLOAD, SIGNATURE]],
    ['undefined as payload', [PROTECTED, new Map(), new Raw(hex('f7')), SIGNATURE]],
    ['a signature that is no byte string', [PROTECTED, new Map(), PAYLOAD, null]],
  ]
  test.each(broken)('a COSE_Sign1 is refused: %s', (_, value) => expect(() => parseSign1(cbor(value))).toThrow())

  test('an empty byte string means no protected headers', () => {
    expect(parseSign1(cbor([Buffer.alloc(0), new Map(), PAYLOAD, SIGNATURE])).protected.size).toBe(0)
  })

  const chain = (value: unknown, where: 'protected' | 'unprotected' = 'unprotected') => {
    const headers = new Map([[33, value]])
    const parts = where === 'protected' ? [cbor(headers), new Map()] : [Buffer.alloc(0), headers]
    return parseSign1(cbor([...parts, PAYLOAD, SIGNATURE])).x5chain.map(({ length }) => length)
  }
  test('x5chain is one certificate or up to five, in either header, each up to 8 KiB', () => {
    expect(chain(Buffer.alloc(9))).toEqual([9])
    expect(chain([Buffer.alloc(9)])).toEqual([9])
    expect(chain(Buffer.alloc(9), 'protected')).toEqual([9])
    expect(chain([1, 2, 3, 4, 5].map(size => Buffer.alloc(size)))).toEqual([1, 2, 3, 4, 5])
    expect(chain([1, 2, 3, 4, 5, 6].map(size => Buffer.alloc(size)))).toEqual([])
    expect(chain(Buffer.alloc(8192))).toEqual([8192])
    expect(chain(Buffer.alloc(8193))).toEqual([])
    for (const odd of [[], Buffer.alloc(0), [Buffer.alloc(0)], [Buffer.alloc(3), 'x'], 'x', 1, null, new Map()])
      expect(chain(odd)).toEqual([])
  })
})

describe('keys', () => {
  test('a key is read if y is only its sign bit', async () => {
    for (const curve of ['P-256', 'P-384', 'P-521'] as const) {
      const key = await coseKey(keys[curve])
      const sign = ((key.get(-3) as Buffer).at(-1)! & 1) === 1
      const signed = cbor(await sign1(keys[curve], PAYLOAD))
      expect(await verifySign1(signed, (await read(new Map(key).set(-3, sign)))!)).toBe(true)
      expect(await verifySign1(signed, (await read(new Map(key).set(-3, !sign)))!)).toBe(false)
    }
  })

  const spoiled: [string, CurveName, (key: Map<number, unknown>) => unknown][] = [
    ['a private key', 'P-256', key => key.set(-4, Buffer.alloc(32, 1))],
    ['a private key on Ed25519', 'Ed25519', key => key.set(-4, Buffer.alloc(32, 1))],
    ['a point off the curve', 'P-256', key => key.set(-3, Buffer.alloc(32, 1))],
    ['a short coordinate', 'P-256', key => key.set(-2, Buffer.alloc(31, 1))],
    ['a coordinate with a leading zero', 'P-256', key => key.set(-2, Buffer.concat([Buffer.alloc(1), key.get(-2) as Buffer]))],
    ['a y of another length', 'P-256', key => key.set(-3, Buffer.alloc(33, 1))],
    ['no y', 'P-256', key => key.delete(-3)],
    ['no x', 'P-256', key => key.delete(-2)],
    ['an unknown curve', 'P-256', key => key.set(-1, 8)],
    ['another curve than its coordinates', 'P-256', key => key.set(-1, 2)],
    ['a key type that does not fit', 'P-256', key => key.set(1, 1)],
    ['a symmetric key', 'P-256', key => key.set(1, 4)],
    ['a short Ed25519 key', 'Ed25519', key => key.set(-2, Buffer.alloc(31))],
    ['X25519', 'Ed25519', key => key.set(-1, 4)],
  ]
  test.each(spoiled)('a key is refused: %s', async (_, curve, spoil) => {
    const key = await coseKey(keys[curve])
    expect(await read(key)).toEqual({ curve, key: expect.anything() })
    spoil(key)
    expect(await read(key)).toBeUndefined()
  })

  test('a key that is not a map is refused', async () => expect(await readCoseKey(parseCbor(hex('80')))).toBeUndefined())

  test.each(CURVES)('a certificate on %s gives its key and dates', async curve => {
    const der = await makeCertificate(keys[curve], '2026-01-02T03:04:05Z', '2027-01-02T03:04:05Z')
    const certificate = await readSignerCertificate(der)
    expect(certificate?.notBefore).toBe(Date.parse('2026-01-02T03:04:05Z'))
    expect(certificate?.notAfter).toBe(Date.parse('2027-01-02T03:04:05Z'))
    expect(certificate?.key?.curve).toBe(curve)
    expect(await verifySign1(cbor(await sign1(keys[curve], PAYLOAD)), certificate!.key!)).toBe(true)
  })

  test('PEM, a certificate followed by bytes, and other data are not read as a certificate', async () => {
    const der = await makeCertificate(keys['P-256'], '2026-01-02T03:04:05Z', '2027-01-02T03:04:05Z')
    const pem = `-----BEGIN CERTIFICATE-----\n${Buffer.from(der).toString('base64')}\n-----END CERTIFICATE-----\n`
    for (const bytes of [
      Buffer.from(pem),
      Buffer.concat([der, hex('00')]),
      der.subarray(1),
      Buffer.alloc(0),
      Buffer.alloc(900),
    ]) {
      expect(await readSignerCertificate(bytes)).toBeUndefined()
    }
  })
})
