import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { parseCbor } from '../../src/openid4vp/cbor/cbor.ts'
import { Embedded, encodeCbor, Received } from '../../src/openid4vp/cbor/encode.ts'
import { type CborItem, CborTag } from '../../src/openid4vp/cbor/item.ts'
import { cborToJson } from '../../src/openid4vp/cbor/json.ts'
import { leastWorkMs } from '../helpers/least-work.ts'
import { cbor, head, hex, Tagged } from '../helpers/mdoc.ts'
import { anyText } from '../helpers/texts.ts'

const parse = (bytes: Uint8Array) => () => parseCbor(bytes)
const decode = (text: string): unknown => parseCbor(hex(text)).decode()
const json = (text: string): unknown => cborToJson(decode(text))
const nest = (opening: string, count: number): Buffer => hex(`${opening.repeat(count)}00`)

const MALFORMED: [string, string, string][] = [
  ['an empty input', '', 'a length beyond the input'],
  ['a byte behind the item', '00 00', 'bytes follow the item'],
  ['a head that ends early', '19 00', 'a length beyond the input'],
  ['a byte string longer than the input', '43 0102', 'a length beyond the input'],
  ['a text longer than the input', '63 6161', 'a length beyond the input'],
  ['an array longer than the input', '83 0001', 'a length beyond the input'],
  ['a map longer than the input', 'a2 000102', 'a length beyond the input'],
  ['a length of 2^63', '5b 8000000000000000 00', 'a length beyond the input'],
  ['an array of 2^63', '9b 8000000000000000 00', 'a length beyond the input'],
  ['a map of 2^63', 'bb 8000000000000000 00', 'a length beyond the input'],
  ['a map of 2^64-1', 'bb ffffffffffffffff 00', 'a length beyond the input'],
  ['an array of 2^32-1', '9a ffffffff 00', 'a length beyond the input'],
  ['an indefinite byte string', '5f 4101 ff', 'an indefinite length'],
  ['an indefinite text', '7f 6161 ff', 'an indefinite length'],
  ['an indefinite array', '9f 00 ff', 'an indefinite length'],
  ['an indefinite map', 'bf 6161 00 ff', 'an indefinite length'],
  ['an indefinite array inside', '81 9f ff', 'an indefinite length'],
  ['a break alone', 'ff', 'an indefinite length'],
  ['reserved additional information 28', '1c', 'a reserved length'],
  ['reserved additional information 29', '5d', 'a reserved length'],
  ['reserved additional information 30', 'fe', 'a reserved length'],
  ['a text key twice', 'a2 6161 00 6161 01', 'a map with a key twice'],
  ['a text key twice, once with a longer head', 'a2 6161 00 780161 01', 'a map with a key twice'],
  ['an integer key twice', 'a2 01 00 01 00', 'a map with a key twice'],
  ['an integer key twice, once with a longer head', 'a2 01 00 1b0000000000000001 00', 'a map with a key twice'],
  ['a negative key twice', 'a2 20 00 3800 00', 'a map with a key twice'],
  ['the keys 1 and "1", which JSON cannot tell apart', 'a2 01 00 6131 00', 'a map with a key twice'],
  ['a key twice in an inner map', '81 a2 01 00 01 00', 'a map with a key twice'],
  ['a byte string as key', 'a1 4101 00', 'an integer was expected'],
  ['an array as key', 'a1 80 00', 'an integer was expected'],
  ['a float as key', 'a1 f93c00 00', 'an integer was expected'],
  ['true as key', 'a1 f5 00', 'an integer was expected'],
  ['a tagged key', 'a1 c0 6161 00', 'an integer was expected'],
  ['a key beyond 2^53', 'a1 1b0020000000000000 00', 'an integer is too large'],
  ['a lone continuation byte', '61 80', 'a text that is not UTF-8'],
  ['an overlong UTF-8 form', '62 c0af', 'a text that is not UTF-8'],
  ['a surrogate in UTF-8', '63 eda080', 'a text that is not UTF-8'],
  ['a cut UTF-8 sequence', '62 e282', 'a text that is not UTF-8'],
  ['a key that is not UTF-8', 'a1 61ff 00', 'a text that is not UTF-8'],
  ['a byte order mark', '63 efbbbf', 'a text with a byte order mark'],
  ['NaN (16 bits)', 'f97e00', 'a number that is not finite'],
  ['NaN (32 bits)', 'fa7fc00000', 'a number that is not finite'],
  ['NaN (64 bits)', 'fb7ff8000000000000', 'a number that is not finite'],
  ['infinity', 'f97c00', 'a number that is not finite'],
  ['minus infinity', 'fbfff0000000000000', 'a number that is not finite'],
  ['simple value 0', 'e0', 'an unassigned simple value'],
  ['simple value 19', 'f3', 'an unassigned simple value'],
  ['simple value 255', 'f8ff', 'an unassigned simple value'],
  ['false in two bytes', 'f814', 'an unassigned simple value'],
  ['a bignum that is no byte string', 'c2 01', 'a byte string was expected'],
  ['a tag without content', 'c0', 'a length beyond the input'],
  ['a tag beyond 2^53', 'db 0020000000000000 00', 'a tag number is too large'],
]
test.each(MALFORMED)('CBOR is refused: %s', (_, input, reason) => expect(parse(hex(input))).toThrow(reason))

test('a name is decoded correctly, seen before or not, in any order of names', () => {
  const name = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 40 }),
    fc.string({ maxLength: 3 }),
    fc.constantFrom('docType', 'é'),
  )
  fc.assert(
    fc.property(fc.array(name, { maxLength: 40 }), texts => {
      for (const text of texts) {
        if (text.startsWith('\ufeff')) continue
        const [key] = [
          ...parseCbor(cbor(new Map([[text, 0]])))
            .asMap()
            .keys(),
        ]
        expect(key).toBe(text)
      }
    }),
    { numRuns: 300 },
  )
})

test('a name is not confused with one whose UTF-8 bytes are its Latin-1 characters', () => {
  const keyOf = (text: string) =>
    [
      ...parseCbor(cbor(new Map([[text, 0]])))
        .asMap()
        .keys(),
    ][0]
  const confused: string[] = []
  for (let code = 0x80; code < 0x800; code++) {
    for (const end of ['', 'é', 'ж', '€']) {
      const text = String.fromCharCode(code) + end
      keyOf(Buffer.from(text).toString('latin1'))
      if (keyOf(text) !== text) confused.push(text)
    }
  }
  expect(confused).toEqual([])
})

describe('limits, on both sides', () => {
  test('16 levels of arrays or maps are read, 17 are not', () => {
    expect(parse(nest('81', 16))).not.toThrow()
    expect(parse(nest('81', 17))).toThrow('nested too deeply')
    expect(parse(nest('a100', 16))).not.toThrow()
    expect(parse(nest('a100', 17))).toThrow('nested too deeply')
  })

  test('4 nested tags are read, 5 are not, also with arrays between them', () => {
    expect(parse(nest('d864', 4))).not.toThrow()
    expect(parse(nest('d864', 5))).toThrow('too many nested tags')
    expect(parse(nest('81d864', 4))).not.toThrow()
    expect(parse(nest('81d864', 5))).toThrow('too many nested tags')
    expect(parse(cbor(Array.from({ length: 5 }, () => new Tagged(100, 0))))).not.toThrow()
  })

  test('20,000 items are read, 20,001 are not', () => {
    const array = (count: number) => Buffer.concat([head(4, count), Buffer.alloc(count)])
    expect(parse(array(19_999))).not.toThrow()
    expect(parse(array(20_000))).toThrow('too many items')
  })

  test('items inside byte strings count towards the same 20,000', () => {
    const inner = cbor(Array.from({ length: 10_000 }, () => 0))
    const [first, second] = parseCbor(cbor([inner, inner])).asArray()
    first!.embedded()
    expect(() => second!.embedded()).toThrow('too many items')
  })

  test('bignums of 64 bytes are read, those of 65 are not', () => {
    expect(parse(cbor(new Tagged(2, Buffer.alloc(64, 1))))).not.toThrow()
    expect(parse(cbor(new Tagged(2, Buffer.alloc(65, 1))))).toThrow('an integer is too large')
    expect(parse(cbor(new Tagged(3, Buffer.alloc(65, 1))))).toThrow('an integer is too large')
  })
})

const HOSTILE: [string, Buffer][] = [
  ['a length of 2^63', hex('5b 8000000000000000')],
  ['100,000 nested tags', nest('c1', 100_000)],
  ['100,000 nested arrays', nest('81', 100_000)],
  ['100,000 nested maps', nest('a100', 100_000)],
  ['a million empty arrays', Buffer.concat([head(4, 1_000_000), Buffer.alloc(1_000_000, 0x80)])],
  ['arrays that each claim the rest of the input', nest('9a000ffff0', 200_000)],
  ['21,000 items in 300 arrays', cbor(Array.from({ length: 300 }, () => Array.from({ length: 69 }, () => 'a')))],
  ['a map with 400,000 keys', Buffer.concat([head(5, 400_000), Buffer.alloc(1_000_000, hex('1a00000000 00'))])],
]
test.each(HOSTILE)('hostile CBOR is refused within 50 ms of work: %s', async (_, input) => {
  expect(await leastWorkMs(() => expect(parse(input)).toThrow())).toBeLessThan(50)
})

describe('items', () => {
  test('an item keeps its bytes as received, in any encoding', () => {
    // A map with a 16-bit length, as some wallets write it; a text with a longer head; tag 24.
    const input = hex('b90002 6161 780162 6162 d818 43820102')
    const map = parseCbor(input).asMap()
    expect(Buffer.from(map.get('a')!.bytes).toString('hex')).toBe('780162')
    expect(Buffer.from(map.get('b')!.bytes).toString('hex')).toBe('d81843820102')
    expect(map.get('b')!.asTagged(24).embedded().decode()).toEqual([1, 2])
  })

  test('map keys are texts and integers of either sign, with heads of any length', () => {
    const map = parseCbor(hex('a6 00f5 20f5 1818f5 3901f3f5 6161f5 7802c3a9f5')).asMap()
    expect([...map.keys()]).toEqual([0, -1, 24, -500, 'a', 'é'])
    expect(map.get(-500)?.decode()).toBe(true)
  })

  test('the bytes of an item are correct if the input is part of a larger buffer', () => {
    const input = Buffer.concat([hex('ffff'), hex('82 6161 4101'), hex('ffff')]).subarray(2, -2)
    const items = parseCbor(input).asArray()
    expect(items.map(item => Buffer.from(item.bytes).toString('hex'))).toEqual(['6161', '4101'])
    expect(items.map(item => item.decode())).toEqual(['a', Buffer.of(1)])
  })

  const wrong: [string, (item: CborItem) => unknown][] = [
    ['map', item => item.asMap()],
    ['array', item => item.asArray()],
    ['text', item => item.asText()],
    ['byte string', item => item.asBytes()],
    ['unsigned integer', item => item.asUint()],
    ['tag', item => item.asTagged(24)],
    ['integer', item => item.asInt()],
  ]
  test.each(wrong)('reading true as a %s throws', (_, ask) => expect(() => ask(parseCbor(hex('f5')))).toThrow('was expected'))

  test('isNull is true for null and false for undefined', () => {
    expect(parseCbor(hex('f6')).isNull).toBe(true)
    expect(parseCbor(hex('f7')).isNull).toBe(false)
  })

  test('tags keep their number; cbor-x would build a Date, a RegExp, a Set and a shared object', () => {
    expect(decode('c0 6161')).toEqual(new CborTag(0, 'a'))
    expect(decode('c1 00')).toEqual(new CborTag(1, 0))
    expect(decode('d81b 82 66526567457870 6161')).toEqual(new CborTag(27, ['RegExp', 'a']))
    expect(decode('d90102 8101')).toEqual(new CborTag(258, [1]))
    expect(decode('82 d81c 80 d81d 00')).toEqual([new CborTag(28, []), new CborTag(29, 0)])
    expect(decode('d8 69 83 19e000 816161 01')).toEqual(new CborTag(105, [57_344, ['a'], 1]))
    expect(decode('d9dfff 83 19e000 816161 01')).toEqual(new CborTag(57_343, [57_344, ['a'], 1]))
    expect(decode('a1 6161 d864 01')).toEqual(new Map([['a', new CborTag(100, 1)]]))
  })
})

describe('CBOR as JSON', () => {
  const cases: [string, string, unknown][] = [
    ['a date and time', 'c0 74 323032302d30312d30315430303a30303a30305a', '2020-01-01T00:00:00Z'],
    ['a full date', 'd903ec 6a 323032302d30312d3031', '2020-01-01'],
    ['a date that is no text keeps its tag', 'd903ec 01', { tag: 1004, value: 1 }],
    ['another tag keeps its number', 'd864 4101', { tag: 100, value: 'AQ' }],
    ['bytes', '43 fbff00', '-_8A'],
    ['no bytes', '40', ''],
    ['true, false, null, undefined', '84 f5f4f6f7', [true, false, null, null]],
    ['a float', 'fb 3ff8000000000000', 1.5],
    ['a half float', 'f9 3e00', 1.5],
    ['2^32', '1b 0000000100000000', 4_294_967_296],
    ['a small integer in eight bytes', '1b 0000000000000001', 1],
    ['2^53 - 1', '1b 001fffffffffffff', Number.MAX_SAFE_INTEGER],
    ['2^53', '1b 0020000000000000', '9007199254740992'],
    ['-2^53 + 1', '3b 001ffffffffffffe', -Number.MAX_SAFE_INTEGER],
    ['-2^53', '3b 001fffffffffffff', '-9007199254740992'],
    ['-2^64', '3b ffffffffffffffff', '-18446744073709551616'],
    ['a small bignum', 'c2 4101', 1],
    ['an empty bignum', 'c2 40', 0],
    ['a negative bignum', 'c3 49 010000000000000000', '-18446744073709551617'],
    ['a map with integer keys', 'a2 01 6161 20 6162', { '1': 'a', '-1': 'b' }],
    ['maps and arrays inside', 'a1 6161 82 01 a1 6162 d903ec 6163', { a: [1, { b: 'c' }] }],
  ]
  test.each(cases)('%s becomes JSON', (_, input, expected) => expect(json(input)).toEqual(expected))

  test('__proto__ in a CBOR map is an ordinary member of the JSON', () => {
    const value = cborToJson(parseCbor(cbor(new Map([['__proto__', { isAdmin: true }]]))).decode())
    expect(JSON.stringify(value)).toBe('{"__proto__":{"isAdmin":true}}')
    expect(({} as Record<string, unknown>).isAdmin).toBeUndefined()
    expect((value as Record<string, unknown>).isAdmin).toBeUndefined()
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
  })
})

describe('properties', () => {
  const value = fc.letrec(tie => ({
    value: fc.oneof(
      { maxDepth: 5 },
      fc.integer(),
      fc.maxSafeInteger(),
      fc.boolean(),
      fc.constant(null),
      fc.string({ unit: 'grapheme', maxLength: 300 }).filter(text => !text.startsWith('\uFEFF')),
      fc.uint8Array({ maxLength: 300 }).map(bytes => Buffer.from(bytes)),
      fc.array(tie('value'), { maxLength: 5 }),
      fc.dictionary(fc.string(), tie('value'), { maxKeys: 5 }).map(object => new Map(Object.entries(object))),
    ),
  })).value

  test('encoded values are decoded again, and the bytes of every part are its encoding', () => {
    fc.assert(
      fc.property(fc.array(value, { maxLength: 4 }), parts => {
        const item = parseCbor(cbor(parts))
        expect(normal(item.decode())).toEqual(normal(parts))
        expect(item.asArray().map(({ bytes }) => Buffer.from(bytes))).toEqual(parts.map(cbor))
      }),
      { numRuns: 300 },
    )
  })

  test('random bytes are read or refused with a CborError', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), bytes => {
        try {
          cborToJson(parseCbor(bytes).decode())
        } catch (error) {
          expect((error as Error).constructor.name).toBe('CborError')
        }
      }),
      { numRuns: 5000 },
    )
  })

  test('the encoder of the verifier writes the same bytes as another one', () => {
    fc.assert(
      fc.property(anyText({ maxLength: 400 }), fc.uint8Array({ maxLength: 400 }), (text, bytes) => {
        const ours = encodeCbor([text, bytes, null, [new Embedded([text, bytes])], new Received(cbor(text))])
        expect(Buffer.from(ours)).toEqual(cbor([text, bytes, null, [new Tagged(24, cbor([text, bytes]))], text]))
      }),
    )
  })

  test('the encoder writes the shortest length, on both sides of every limit', () => {
    for (const length of [0, 23, 24, 255, 256, 65_535, 65_536]) {
      const [text, bytes, items] = ['é'.repeat(length), Buffer.alloc(length, 7), Array.from({ length }, () => null)]
      expect(Buffer.from(encodeCbor([text, bytes, items]))).toEqual(cbor([text, bytes, items]))
      expect(Buffer.from(encodeCbor(new Embedded(bytes)))).toEqual(cbor(new Tagged(24, cbor(bytes))))
    }
  })
})

/** Bigints of a safe size are numbers, and byte strings buffers. */
function normal(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value)
  if (value instanceof Uint8Array) return Buffer.from(value)
  if (Array.isArray(value)) return value.map(normal)
  return value instanceof Map ? new Map([...value].map(([key, member]) => [key, normal(member)])) : value
}
