import { describe, expect, test } from 'bun:test'
import { type Engagement, readEngagement } from '../../src/proximity/engagement.ts'
import { ble, CENTRAL, code, makePhone, PERIPHERAL, SERVICE, SERVICE_TEXT, securityOf, textOf } from '../helpers/engagement.ts'
import { type CurveName, cbor, coseKey, embedded, head, hex, makeKeys, Raw } from '../helpers/mdoc.ts'

const phone = await makePhone()
const security = await securityOf(phone.keys)
const key = await coseKey(phone.keys)
const SERVER = { type: 'ble_peripheral_server' as const, service: SERVICE_TEXT }

const read = async (bytes: Uint8Array) => (await readEngagement(textOf(bytes))) as Engagement
const refusalOf = (bytes: Uint8Array) => readEngagement(textOf(bytes))
const withKey = (change: [number, unknown][], suite: unknown = 1) =>
  code({ security: [suite, embedded(new Map([...key, ...change]))] })

describe('a code', () => {
  test('is read as it was scanned', async () => {
    expect(await readEngagement(phone.text)).toEqual({
      bytes: new Uint8Array(phone.bytes),
      version: '1.0',
      deviceKey: { curve: 'P-256', key: expect.anything() },
      transports: [SERVER],
      takesReaderAuthAll: false,
      takesUseCases: false,
    })
  })

  const base64url = phone.text.slice('mdoc:'.length)
  test.each(['MDOC:', 'Mdoc:', 'mdoc://', '  mdoc:', '\r\nmdoc:'])('that begins with %j is the same', async scheme => {
    expect((await readEngagement(`${scheme}${base64url}`)) as Engagement).toMatchObject({ bytes: new Uint8Array(phone.bytes) })
  })

  test.each(['=', '==', ' ', '\r\n', '== '])('that ends with %j is the same', async end => {
    expect((await readEngagement(`mdoc:${base64url}${end}`)) as Engagement).toMatchObject({ bytes: new Uint8Array(phone.bytes) })
  })

  const texts: [string, string][] = [
    ['of OpenID4VP', `openid4vp:${base64url}`],
    ['without a scheme', base64url],
    ['of a web page', `https://shop.example/mdoc:${base64url}`],
    ['that is empty', ''],
    ['without content', 'mdoc:'],
    ['of 19 characters', `mdoc:${'A'.repeat(19)}`],
    ['of 2,049 characters', `mdoc:${'A'.repeat(2049)}`],
    ['of a megabyte', `mdoc:${'A'.repeat(2 ** 20)}`],
    ['with a blank inside', `mdoc:${base64url.slice(0, 30)} ${base64url.slice(30)}`],
    ['with a blank after the scheme', `mdoc: ${base64url}`],
    ['of the other alphabet', `mdoc:${'+/'.repeat(20)}`],
    ['with three characters of padding', `mdoc:${base64url}===`],
    ['with three slashes', `mdoc:///${base64url}`],
    ['with stray bits at the end', `mdoc:${'A'.repeat(21)}B`],
  ]
  test.each(texts)('%s is refused', async (_, text) => {
    expect(await readEngagement(text)).toBe('invalid')
  })

  const deep = (levels: number): unknown => (levels === 0 ? 0 : [deep(levels - 1)])
  const forms: [string, () => Uint8Array][] = [
    ['no map', () => cbor([...Array(20).keys()])],
    ['followed by a byte', () => Buffer.concat([phone.bytes, Buffer.of(0)])],
    [
      'with a member twice',
      () => Buffer.concat([head(5, 2), cbor(0), cbor('1.0'), cbor(0), cbor('1.0'), cbor(1), cbor(security)]),
    ],
    ['nested nine deep', () => code({ security, more: [[9, deep(8)]] })],
    ['of indefinite length', () => Buffer.concat([Buffer.of(0xbf), phone.bytes.subarray(1), Buffer.of(0xff)])],
    ['with 17 methods', () => code({ security, methods: Array(17).fill(ble(PERIPHERAL)) })],
    ['with methods that are no list', () => code({ security, methods: 'ble' })],
    ['with a method that is no list', () => code({ security, methods: [2] })],
    [
      'without a version',
      () =>
        cbor(
          new Map<number, unknown>([
            [1, security],
            [2, [ble(PERIPHERAL)]],
          ]),
        ),
    ],
    ['of version 2.0', () => code({ security, version: '2.0' })],
    ['of version 1', () => code({ security, version: '1' })],
    ['of a version in numbers', () => code({ security, version: 1 })],
    ['without a key', () => code({ more: [[9, 'x'.repeat(20)]] })],
    ['of cipher suite 2', () => withKey([], 2)],
    ['with three parts of security', () => code({ security: [...security, 1] })],
    ['with a key that is not embedded', () => code({ security: [1, key] })],
    ['with a private key', () => withKey([[-4, Buffer.alloc(32, 1)]])],
    ['with x of 31 bytes', () => withKey([[-2, Buffer.alloc(31, 1)]])],
    ['with x of 33 bytes', () => withKey([[-2, Buffer.alloc(33, 1)]])],
    ['with x as text', () => withKey([[-2, 'x'.repeat(32)]])],
    ['off the curve', () => withKey([[-3, Buffer.alloc(32, 1)]])],
    [
      'at infinity',
      () =>
        withKey([
          [-2, Buffer.alloc(32)],
          [-3, Buffer.alloc(32)],
        ]),
    ],
    ['with the point of another curve', () => withKey([[-1, 2]])],
    ['with a key of another type', () => withKey([[1, 4]])],
    ['with a curve as text', () => withKey([[-1, 'P-256']])],
  ]
  test.each(forms)('%s is refused', async (_, make) => {
    expect(await refusalOf(make())).toBe('invalid')
  })

  test('nested eight deep, with unknown members and 16 methods, is read', async () => {
    const made = code({
      security,
      more: [
        [9, deep(7)],
        ['x', 1],
      ],
      methods: Array(16).fill(ble(PERIPHERAL)),
    })
    expect((await read(made)).transports).toHaveLength(16)
  })

  test.each([
    ['1.0', [[6, new Map()]]],
    ['1.1', []],
    ['1.9', []],
    [
      '1.1',
      [
        [5, []],
        [6, new Map()],
      ],
    ],
  ] as [string, [unknown, unknown][]][])('of version %s with the members %j is read', async (version, more) => {
    expect(await read(code({ security, version, more }))).toMatchObject({ version, transports: [SERVER] })
  })

  test('tells what the phone understands, and only true is true', async () => {
    const takes = async (value: unknown) => {
      const { takesReaderAuthAll, takesUseCases } = await read(code({ security, more: [[6, value]] }))
      return [takesReaderAuthAll, takesUseCases]
    }
    expect(
      await takes(
        new Map<number, unknown>([
          [1, [1]],
          [3, true],
          [4, true],
        ]),
      ),
    ).toEqual([true, true])
    expect(
      await takes(
        new Map([
          [3, false],
          [4, true],
        ]),
      ),
    ).toEqual([false, true])
    expect(
      await takes(
        new Map<number, unknown>([
          [3, 1],
          [4, 'true'],
        ]),
      ),
    ).toEqual([false, false])
    expect(await takes([true, true, true, true, true])).toEqual([false, false])
  })
})

describe('the key of a phone', () => {
  test('may have its second coordinate as a sign', async () => {
    const y = key.get(-3) as Buffer
    const compressed = await read(withKey([[-3, y.at(-1)! % 2 === 1]]))
    const plain = await read(phone.bytes)
    expect(compressed).toBeObject()
    expect(compressed.deviceKey.curve).toBe('P-256')
    expect(compressed.bytes).not.toEqual(plain.bytes)
  })

  test.each(['P-384', 'P-521'] as CurveName[])('on %s is served', async curve => {
    expect((await read(code({ security: await securityOf(await makeKeys(curve)) }))).deviceKey.curve as string).toBe(curve)
  })

  const unknown: [string, [number, unknown][]][] = [
    ['secp256k1', [[-1, 8]]],
    ['brainpoolP256r1', [[-1, 256]]],
    ['brainpoolP512r1', [[-1, 259]]],
    [
      'X25519',
      [
        [1, 1],
        [-1, 4],
      ],
    ],
    [
      'X448',
      [
        [1, 1],
        [-1, 5],
        [-2, Buffer.alloc(56, 1)],
      ],
    ],
  ]
  test.each(unknown)('on %s is known, but not served', async (_, change) => {
    expect(await refusalOf(withKey(change))).toBe('curve_not_supported')
  })
})

describe('the ways to a phone', () => {
  const waysOf = async (methods: unknown) =>
    (await read(code({ security, methods }))).transports.map(({ type }) => type as string)
  const server = (change: [number, unknown][]) => [ble(new Map([...PERIPHERAL, ...change]))]

  test('are peripheral server, with its service and PSM', async () => {
    expect((await read(code({ security, methods: server([[21, 192]]) }))).transports).toEqual([{ ...SERVER, psm: 192 }])
    // The last is 1.5.
    for (const psm of ['x', -1, null, new Raw(Uint8Array.of(0xf9, 0x3e, 0x00))])
      expect((await read(code({ security, methods: server([[21, psm]]) }))).transports).toEqual([SERVER])
    expect(
      (
        await read(
          code({
            security,
            methods: server([
              [20, Buffer.alloc(6)],
              [99, 'x'],
            ]),
          }),
        )
      ).transports,
    ).toEqual([SERVER])
  })

  test('are peripheral server before central client, where one method offers both', async () => {
    const both = new Map<number, unknown>([...PERIPHERAL, [1, true], [11, SERVICE]])
    expect(await waysOf([ble(both)])).toEqual(['ble_peripheral_server', 'ble_central_client'])
    expect(await waysOf([ble(CENTRAL)])).toEqual(['ble_central_client'])
  })

  test('are told in the order of the methods', async () => {
    expect(
      await waysOf([
        [
          1,
          1,
          new Map([
            [0, 255],
            [1, 255],
          ]),
        ],
        ble(PERIPHERAL),
        ble(CENTRAL),
      ]),
    ).toEqual(['nfc', 'ble_peripheral_server', 'ble_central_client'])
  })

  const none: [string, unknown][] = [
    ['without a method', []],
    ['of Wi-Fi Aware', [[3, 1, new Map()]]],
    ['of a website', [[4, 1, new Map()]]],
    ['of BLE in another version', [[2, 2, PERIPHERAL]]],
    ['of BLE without options', [[2, 1]]],
    ['of BLE with options in a list', [[2, 1, [true]]]],
    ['of BLE in neither mode', server([[0, false]])],
    ['of BLE with a mode in numbers', server([[0, 1]])],
    ['of BLE without its UUID', [ble(new Map([[0, true]]))]],
    ['of BLE with 15 bytes of UUID', server([[10, SERVICE.subarray(1)]])],
    ['of BLE with a UUID as text', server([[10, SERVICE_TEXT]])],
    [
      'of BLE with the UUID of the other mode',
      [
        ble(
          new Map<number, unknown>([
            [0, true],
            [11, SERVICE],
          ]),
        ),
      ],
    ],
  ]
  test.each(none)('are none in a code %s', async (_, methods) => {
    expect(await waysOf(methods)).toEqual([])
  })

  test('are none in a code without the member', async () => {
    const bytes = cbor(
      new Map<number, unknown>([
        [0, '1.0'],
        [1, security],
      ]),
    )
    expect((await read(bytes)).transports).toEqual([])
  })
})

test('bytes inside a code are taken as they are, in longer heads too', async () => {
  const long = Buffer.concat([
    hex('a3'),
    hex('1800'),
    cbor('1.0'),
    hex('1801'),
    cbor(security),
    hex('1802'),
    cbor([ble(PERIPHERAL)]),
  ])
  const { bytes } = await read(cbor(new Raw(long)))
  expect(Buffer.from(bytes).equals(long)).toBe(true)
})
