import { describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { canonicalJson, equalConstantTime, hmacSha256With, sha256Hex } from '../src/base/hash.ts'
import { KEY_ORDER } from './helpers/rfc8785.ts'

describe('canonicalJson', () => {
  test('canonicalJson gives the canonical form of the example in RFC 8785 § 3.2.2', () => {
    const input = `{
      "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
      "string": "\\u20ac$\\u000F\\u000aA'\\u0042\\u0022\\u005c\\\\\\"\\/",
      "literals": [null, true, false]
    }`
    const expected =
      '7b226c69746572616c73223a5b6e756c6c2c747275652c66616c73655d2c226e756d62657273223a5b3333333333333333332e333333333333332c' +
      '31652b33302c342e352c302e3030322c31652d32375d2c22737472696e67223a22e282ac245c75303030665c6e4127425c225c5c5c5c5c222f227d'
    // The bytes as the RFC prints them (§ 3.2.4).
    expect(Buffer.from(canonicalJson(JSON.parse(input))).toString('hex')).toBe(expected)
  })

  test('canonicalJson sorts keys by UTF-16 code units, as in the example of RFC 8785 § 3.2.3', () => {
    expect(canonicalJson(KEY_ORDER.input)).toBe(KEY_ORDER.canonical)
  })

  test('canonicalJson prints numbers as in RFC 8785 appendix B', () => {
    for (const [bits, text] of [
      ['0000000000000000', '0'],
      ['8000000000000000', '0'],
      ['0000000000000001', '5e-324'],
      ['8000000000000001', '-5e-324'],
      ['7fefffffffffffff', '1.7976931348623157e+308'],
      ['ffefffffffffffff', '-1.7976931348623157e+308'],
      ['4340000000000000', '9007199254740992'],
      ['c340000000000000', '-9007199254740992'],
      ['4430000000000000', '295147905179352830000'],
      ['44b52d02c7e14af5', '9.999999999999997e+22'],
      ['44b52d02c7e14af6', '1e+23'],
      ['44b52d02c7e14af7', '1.0000000000000001e+23'],
      ['444b1ae4d6e2ef4e', '999999999999999700000'],
      ['444b1ae4d6e2ef4f', '999999999999999900000'],
      ['444b1ae4d6e2ef50', '1e+21'],
      ['3eb0c6f7a0b5ed8c', '9.999999999999997e-7'],
      ['3eb0c6f7a0b5ed8d', '0.000001'],
      ['41b3de4355555553', '333333333.3333332'],
      ['41b3de4355555554', '333333333.33333325'],
      ['41b3de4355555555', '333333333.3333333'],
      ['41b3de4355555556', '333333333.3333334'],
      ['41b3de4355555557', '333333333.33333343'],
      ['becbf647612f3696', '-0.0000033333333333333333'],
      ['43143ff3c1cb0959', '1424953923781206.2'],
    ] as const) {
      const number = new DataView(Uint8Array.fromHex(bits).buffer).getFloat64(0)
      expect([bits, canonicalJson(number)]).toEqual([bits, text])
    }
  })

  test('canonicalJson has no white space, keeps the order of arrays and drops undefined members', () => {
    expect(canonicalJson({ b: [3, 1, 2], a: { d: null, c: undefined } })).toBe('{"a":{"d":null},"b":[3,1,2]}')
    expect(canonicalJson([])).toBe('[]')
    expect(canonicalJson({})).toBe('{}')
    expect(canonicalJson('a b')).toBe('"a b"')
  })

  test('keys that look like numbers are sorted as text, not as numbers', () => {
    expect(canonicalJson({ 10: 'b', 9: 'c', 1: 'a' })).toBe('{"1":"a","10":"b","9":"c"}')
  })

  test('a member named __proto__ is a member like any other', () => {
    expect(canonicalJson(JSON.parse('{"b":1,"__proto__":{"a":2}}'))).toBe('{"__proto__":{"a":2},"b":1}')
  })

  test('canonicalJson is JSON of the same value, and equal for every order of members', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), value => {
        const text = canonicalJson(value)
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)))
        expect(canonicalJson(reversed(value))).toBe(text)
      }),
    )
  })

  test('two values have the same form only when they are equal', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 3 }), fc.jsonValue({ maxDepth: 3 }), (one, other) => {
        expect(canonicalJson(one) === canonicalJson(other)).toBe(Bun.deepEquals(plain(one), plain(other)))
      }),
    )
  })
})

test('sha256Hex gives the digests of FIPS 180-2', () => {
  expect(sha256Hex('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
  expect(sha256Hex(new Uint8Array())).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855')
  expect(sha256Hex('é')).toBe(sha256Hex(Uint8Array.of(0xc3, 0xa9)))
})

test('hmacSha256With is HMAC-SHA-256, for keys shorter, as long and longer than a block', () => {
  expect(hmacSha256With(Buffer.from('Jefe'))('what do ya want for nothing?').toString('hex')).toBe(
    '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
  )
  const keys = fc.oneof(...[0, 32, 63, 64, 65, 200].map(length => fc.uint8Array({ minLength: length, maxLength: length })))
  fc.assert(
    fc.property(keys, fc.uint8Array({ maxLength: 200 }), (key, data) => {
      expect(hmacSha256With(key)(data).toString('hex')).toBe(createHmac('sha256', key).update(data).digest('hex'))
    }),
  )
})

test('equalConstantTime is equality of strings', () => {
  fc.assert(fc.property(fc.string(), fc.string(), (a, b) => equalConstantTime(a, b) === (a === b)))
  fc.assert(fc.property(fc.string({ unit: 'grapheme' }), a => equalConstantTime(a, a)))
  expect(equalConstantTime('a', 'ab')).toBe(false)
  expect(equalConstantTime('é', 'e')).toBe(false)
})

/** JSON has one zero. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, member]) => [key, reversed(member)]),
  )
}

test('a key that cannot be imported does not spoil the next code', async () => {
  const code = hmacSha256With(Buffer.from('key'))
  const before = code('text').toString('hex')
  const point = Buffer.alloc(32, 7).toString('base64url')
  const broken = { kty: 'EC', crv: 'P-256', x: point, y: point }
  const imported = crypto.subtle.importKey('jwk', broken, { name: 'ECDH', namedCurve: 'P-256' }, true, [])
  expect(await imported.catch(error => error)).toBeInstanceOf(Error)
  expect(code('text').toString('hex')).toBe(before)
})
