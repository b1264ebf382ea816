import { describe, expect, test } from 'bun:test'
import { BlockList } from 'node:net'
import fc from 'fast-check'
import {
  contains,
  inCidr,
  isAllowed,
  isLoopback,
  isPublicAddress,
  isSameAddress,
  parseAllowList,
  parseCidr,
  parseNetworks,
} from '../../src/egress/addresses.ts'
import { words } from '../helpers/words.ts'

// Each refused range with its first and last address and, where they are public, the neighbours just outside.
const REFUSED_RANGES = `
  0.0.0.0/8           0.0.0.0  0.255.255.255  1.0.0.0
  10.0.0.0/8          10.0.0.0  10.255.255.255  9.255.255.255  11.0.0.0
  100.64.0.0/10       100.64.0.0  100.127.255.255  100.63.255.255  100.128.0.0
  127.0.0.0/8         127.0.0.0  127.255.255.255  126.255.255.255  128.0.0.0
  168.63.129.16/32    168.63.129.16  168.63.129.16  168.63.129.15  168.63.129.17
  169.254.0.0/16      169.254.0.0  169.254.255.255  169.253.255.255  169.255.0.0
  172.16.0.0/12       172.16.0.0  172.31.255.255  172.15.255.255  172.32.0.0
  192.0.0.0/24        192.0.0.0  192.0.0.255  191.255.255.255  192.0.1.0
  192.0.2.0/24        192.0.2.0  192.0.2.255  192.0.1.255  192.0.3.0
  192.31.196.0/24     192.31.196.0  192.31.196.255  192.31.195.255  192.31.197.0
  192.52.193.0/24     192.52.193.0  192.52.193.255  192.52.192.255  192.52.194.0
  192.88.99.0/24      192.88.99.0  192.88.99.255  192.88.98.255  192.88.100.0
  192.168.0.0/16      192.168.0.0  192.168.255.255  192.167.255.255  192.169.0.0
  192.175.48.0/24     192.175.48.0  192.175.48.255  192.175.47.255  192.175.49.0
  198.18.0.0/15       198.18.0.0  198.19.255.255  198.17.255.255  198.20.0.0
  198.51.100.0/24     198.51.100.0  198.51.100.255  198.51.99.255  198.51.101.0
  203.0.113.0/24      203.0.113.0  203.0.113.255  203.0.112.255  203.0.114.0
  224.0.0.0/4         224.0.0.0  239.255.255.255  223.255.255.255
  240.0.0.0/4         240.0.0.0  255.255.255.255
  ::/3                ::  1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff  2000::
  2001::/23           2001::  2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff  2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff  2001:200::
  2001:db8::/32       2001:db8::  2001:db8:ffff:ffff:ffff:ffff:ffff:ffff  2001:db7:ffff:ffff:ffff:ffff:ffff:ffff  2001:db9::
  2002::/16           2002::  2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff  2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff  2003::
  2620:4f:8000::/48   2620:4f:8000::  2620:4f:8000:ffff:ffff:ffff:ffff:ffff  2620:4f:7fff:ffff:ffff:ffff:ffff:ffff  2620:4f:8001::
  3fff::/20           3fff::  3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff  3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff  3fff:1000::
  4000::/2            4000::  7fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff  3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff
  8000::/1            8000::  ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff
`
  .trim()
  .split('\n')
  .map(line => {
    const [cidr = '', first = '', last = '', ...outside] = words(line)
    return { cidr, first, last, outside }
  })

// Ranges outside 2000::/3 that attacks use, at both edges.
const REFUSED_IPV6_ADDRESSES = [
  ...['::', '::1', '::2', '::127.0.0.1', '::255.255.255.255', '::8.8.8.8'],
  ...['::ffff:0.0.0.0', '::ffff:8.8.8.8', '::ffff:808:808', '::ffff:255.255.255.255', '0:0:0:0:0:FFFF:0808:0808'],
  ...['64:ff9b::', '64:ff9b::8.8.8.8', '64:ff9b::ffff:ffff', '64:ff9b:1::', '64:ff9b:1:ffff:ffff:ffff:ffff:ffff'],
  ...['100::', '100::ffff:ffff:ffff:ffff', '100:0:0:1::', '100:0:0:1:ffff:ffff:ffff:ffff'],
  ...['5f00::', '5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ...['fc00::', 'fd00:ec2::254', 'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ...['fe80::', 'FE80::1', 'febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ...['fec0::', 'feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'ff00::', 'ff02::1'],
]

const PUBLIC_ADDRESSES = words('1.1.1.1 8.8.8.8 93.184.216.34 2606:4700:4700::1111 2A00:1450:4001:82A::200E 2a00::1.2.3.4')

const NOT_ADDRESSES = [
  ...['', ' ', 'example.com', '1.2.3', '1.2.3.4.5', '1.2.3.256', '01.2.3.4', '0x1.2.3.4', '16909060', '1.2.3.4 ', '1.2.3.4\n'],
  ...['[2a00::1]', '2a00::1%eth0', 'fe80::1%1', '1::2::3', '1:2:3:4:5:6:7', '1:2:3:4:5:6:7:8:9', '2a00::12345', '2a00::g'],
  ...['1:2:3:4::5:6:7:8', '2a00::1.2.3', '2a00::1.2.3.4:5', '8.8.8.8/32', '８.8.8.8'],
]

const ipv4 = fc.ipV4()
const ipv6 = fc.ipV6()
const port = fc.integer({ min: 1, max: 65535 })

describe('isPublicAddress', () => {
  test.each(REFUSED_RANGES)(
    'refuses $cidr from its first to its last address and not its neighbours',
    ({ first, last, outside }) => {
      expect({ first, isPublic: isPublicAddress(first) }).toEqual({ first, isPublic: false })
      expect({ last, isPublic: isPublicAddress(last) }).toEqual({ last, isPublic: false })
      for (const neighbour of outside) {
        expect({ neighbour, isPublic: isPublicAddress(neighbour) }).toEqual({ neighbour, isPublic: true })
      }
    },
  )

  test.each(REFUSED_IPV6_ADDRESSES)('refuses %s', address => {
    expect(isPublicAddress(address)).toBe(false)
  })

  test.each(PUBLIC_ADDRESSES)('accepts %s', address => {
    expect(isPublicAddress(address)).toBe(true)
  })

  test.each(NOT_ADDRESSES)('refuses what is not an address: %j', text => {
    expect(isPublicAddress(text)).toBe(false)
  })

  test.each([
    ['ipv4', ipv4],
    ['ipv6', ipv6],
  ] as const)('agrees with an independent block list on any %s address', (family, addresses) => {
    const refused = new BlockList()
    for (const { cidr } of REFUSED_RANGES.filter(range => range.cidr.includes(':') === (family === 'ipv6'))) {
      const [address = '', prefix] = cidr.split('/')
      refused.addSubnet(address, Number(prefix), family)
    }
    fc.assert(
      fc.property(addresses, address => isPublicAddress(address) === !refused.check(address, family)),
      { numRuns: 2000 },
    )
  })
})

describe('parseCidr and inCidr', () => {
  test('a plain address is the network of that one address', () => {
    expect(parseCidr('10.0.0.1')).toEqual({ bytes: Uint8Array.of(10, 0, 0, 1), prefix: 32 })
    expect(parseCidr('::1')?.prefix).toBe(128)
  })

  test.each([
    ['::', [0, 0, 0, 0, 0, 0, 0, 0]],
    ['1::', [1, 0, 0, 0, 0, 0, 0, 0]],
    ['::8', [0, 0, 0, 0, 0, 0, 0, 8]],
    ['1:2:3:4:5:6:7::', [1, 2, 3, 4, 5, 6, 7, 0]],
    ['1:2:3:4:5:6:7:8', [1, 2, 3, 4, 5, 6, 7, 8]],
    ['ABCD::ef01', [0xabcd, 0, 0, 0, 0, 0, 0, 0xef01]],
    ['2001:db8::a:0:0:1', [0x2001, 0xdb8, 0, 0, 0xa, 0, 0, 1]],
    ['::ffff:1.2.3.4', [0, 0, 0, 0, 0, 0xffff, 0x102, 0x304]],
    ['1:2:3:4:5:6:1.2.3.4', [1, 2, 3, 4, 5, 6, 0x102, 0x304]],
  ])('reads the groups of %s', (text, groups) => {
    expect([...parseCidr(text)!.bytes]).toEqual(groups.flatMap(group => [group >> 8, group & 0xff]))
  })

  test.each([
    ['10.0.0.0/8', '10.255.255.255', '11.0.0.0'],
    ['10.1.2.3/8', '10.255.255.255', '11.0.0.0'],
    ['10.0.0.0/9', '10.127.255.255', '10.128.0.0'],
    ['10.0.0.0/31', '10.0.0.1', '10.0.0.2'],
    ['10.0.0.1/32', '10.0.0.1', '10.0.0.0'],
    ['0.0.0.0/0', '255.255.255.255', '::'],
    ['fd00::/8', 'fdff::1', 'fe00::'],
    ['fd00::/127', 'fd00::1', 'fd00::2'],
    ['::/0', 'ffff::', '10.0.0.1'],
    ['::ffff:0:0/96', '::ffff:10.0.0.1', '10.0.0.1'],
  ])('%s holds %s and not %s', (cidr, inside, outside) => {
    expect(inCidr(inside, parseCidr(cidr)!)).toBe(true)
    expect(inCidr(outside, parseCidr(cidr)!)).toBe(false)
  })

  const NOT_NETWORKS = words(`
    10.0.0.0/33 ::/129 10.0.0.0/ 10.0.0.0/08 10.0.0.0/-1 10.0.0.0/8/8 /8 example.com/8 10.0.0/8
  `)
  test.each(NOT_NETWORKS)('refuses %j', text => {
    expect(parseCidr(text)).toBeUndefined()
  })

  test('an address that differs in one bit is inside exactly when that bit lies behind the prefix', () => {
    const cases = fc.constantFrom(4, 16).chain(length =>
      fc.record({
        bytes: fc.uint8Array({ minLength: length, maxLength: length }),
        prefix: fc.integer({ min: 0, max: length * 8 }),
        flipped: fc.nat({ max: length * 8 - 1 }),
      }),
    )
    fc.assert(
      fc.property(cases, ({ bytes, prefix, flipped }) => {
        const other = bytes.map((byte, index) => (index === flipped >> 3 ? byte ^ (0x80 >> (flipped & 7)) : byte))
        return inCidr(written(other), parseCidr(`${written(bytes)}/${prefix}`)!) === flipped >= prefix
      }),
      { numRuns: 2000 },
    )
  })
})

function written(bytes: Uint8Array): string {
  if (bytes.length === 4) return bytes.join('.')
  return bytes.toHex().replace(/(.{4})(?!$)/g, '$1:')
}

describe('parseNetworks and contains', () => {
  const proxies = parseNetworks('10.0.0.0/24, 192.168.1.1 ,fd00::/64,')

  test.each(['10.0.0.0', '10.0.0.255', '192.168.1.1', 'fd00::1', '::ffff:10.0.0.1', '::FFFF:a00:1', '::ffff:192.168.1.1'])(
    'finds %s among the networks',
    address => {
      expect(contains(proxies, address)).toBe(true)
    },
  )

  test.each([
    ...words(`
      10.0.1.0 9.255.255.255 192.168.1.2 fd00:0:0:1:: ::ffff:10.0.1.0 ::10.0.0.1 ::ff:10.0.0.1 ::ff00:10.0.0.1
      1::ffff:10.0.0.1
    `),
    '10.0.0.1, 8.8.8.8',
    '',
  ])('does not find %j', address => {
    expect(contains(proxies, address)).toBe(false)
  })

  test('a network written in mapped form is the IPv4 network', () => {
    expect(contains(parseNetworks('::ffff:10.0.0.0/120'), '10.0.0.255')).toBe(true)
    expect(contains(parseNetworks('::ffff:10.0.0.0/120'), '10.0.1.0')).toBe(false)
    expect(contains(parseNetworks('::ffff:0:0/95'), '10.0.0.1')).toBe(false)
  })

  test('an IPv6 network never holds an IPv4 peer', () => {
    expect(contains(parseNetworks('::/0'), '::ffff:10.0.0.1')).toBe(false)
  })

  test('an empty text is an empty list', () => {
    expect(parseNetworks('')).toEqual([])
    expect(contains([], '10.0.0.1')).toBe(false)
  })

  test('names the entry that is no network', () => {
    expect(() => parseNetworks('10.0.0.1, 10.0.0.0/40')).toThrow("'10.0.0.0/40' is not an address or a network")
    expect(() => parseNetworks('proxy.example.com')).toThrow("'proxy.example.com'")
  })
})

describe('isSameAddress and isLoopback', () => {
  test('spellings do not matter', () => {
    expect(isSameAddress('2A00::0001', '2a00:0::1')).toBe(true)
    expect(isSameAddress('::ffff:10.0.0.1', '10.0.0.1')).toBe(true)
    expect(isSameAddress('10.0.0.1', '10.0.0.2')).toBe(false)
    expect(isSameAddress('10.0.0.1', '::10.0.0.1')).toBe(false)
    expect(isSameAddress('10.0.0.0/8', '10.0.0.1')).toBe(false)
    expect(isSameAddress('nonsense', 'nonsense')).toBe(false)
  })

  test.each([
    ['127.0.0.0', true],
    ['127.255.255.255', true],
    ['::1', true],
    ['::ffff:127.0.0.1', true],
    ['126.255.255.255', false],
    ['128.0.0.0', false],
    ['::', false],
    ['::2', false],
    ['localhost', false],
  ])('isLoopback(%s) is %p', (address, expected) => {
    expect(isLoopback(address)).toBe(expected)
  })
})

describe('parseAllowList', () => {
  test('reads addresses, networks and ports', () => {
    expect(
      parseAllowList(' 192.168.10.20:8443,10.0.0.0/24:80 , [fd00::1]:1,[fd00::/64]:65535,127.0.0.1:9000,[::1]:9000,'),
    ).toEqual([
      { address: '192.168.10.20', prefix: 32, port: 8443 },
      { address: '10.0.0.0', prefix: 24, port: 80 },
      { address: 'fd00::1', prefix: 128, port: 1 },
      { address: 'fd00::', prefix: 64, port: 65535 },
      { address: '127.0.0.1', prefix: 32, port: 9000 },
      { address: '::1', prefix: 128, port: 9000 },
    ])
  })

  test('an empty text allows nothing', () => {
    expect(parseAllowList('')).toEqual([])
    expect(parseAllowList(' , ')).toEqual([])
  })

  test('takes 32 entries and no more', () => {
    const entries = (count: number) => Array.from({ length: count }, (_, index) => `10.0.0.${index}:80`).join(',')
    expect(parseAllowList(entries(32))).toHaveLength(32)
    expect(() => parseAllowList(entries(33))).toThrow('The list has 33 entries, and at most 32 can be allowed.')
  })

  test.each([
    ...words('10.0.0.1 10.0.0.1: 10.0.0.1:0 10.0.0.1:65536 10.0.0.1:99999 10.0.0.1:080 10.0.0.1:-1 10.0.0.1:http :80'),
    ...['fd00::1', 'fd00::1:8443', '[fd00::1]', '[fd00::1]:0', '[fd00::]/64:80', '[10.0.0.1]:80', '[fd00::1', '[[fd00::1]]:80'],
    ...words('10.0.0.0/33:80 [fd00::/129]:80 10.0.0:80 010.0.0.1:80 [fe80::1%eth0]:80 shop.example.com:80 10.0.0.1:80@t_abc'),
  ])('names %s as badly written', entry => {
    expect(() => parseAllowList(`10.0.0.9:80,${entry}`)).toThrow(`'${entry}' is not ADDRESS:PORT or CIDR:PORT: write it like`)
  })

  test.each([
    ['10.0.0.0/23:80', 'an IPv4 network must be /24 or smaller'],
    ['0.0.0.0/0:80', 'an IPv4 network must be /24 or smaller'],
    ['[fd00::/63]:80', 'an IPv6 network must be /64 or smaller'],
    ['[::/0]:80', 'an IPv6 network must be /64 or smaller'],
    ['127.0.0.0/24:80', 'one exact address'],
    ['127.0.0.1/31:80', 'one exact address'],
    ['0.0.0.0:80', 'stay closed'],
    ['0.0.0.0/24:80', 'stay closed'],
    ['169.254.0.0:80', 'stay closed'],
    ['169.254.169.254:80', 'stay closed'],
    ['169.254.255.255:80', 'stay closed'],
    ['169.254.169.0/24:80', 'stay closed'],
    ['168.63.129.16:80', 'stay closed'],
    ['168.63.129.0/24:80', 'stay closed'],
    ['224.0.0.0:80', 'stay closed'],
    ['239.255.255.255:80', 'stay closed'],
    ['255.255.255.0/24:80', 'stay closed'],
    ['[::]:80', 'exactly ::1'],
    ['[::/64]:80', 'exactly ::1'],
    ['[::1/127]:80', 'exactly ::1'],
    ['[fe80::1]:80', 'exactly ::1'],
    ['[febf::/64]:80', 'exactly ::1'],
    ['[ff02::1]:80', 'exactly ::1'],
    ['[::ffff:169.254.169.254]:80', 'exactly ::1'],
    ['[::ffff:10.0.0.1]:80', 'exactly ::1'],
    ['[64:ff9b::a9fe:a9fe]:80', 'exactly ::1'],
    ['[2002:a9fe:a9fe::/64]:80', 'exactly ::1'],
  ])('refuses %s', (entry, fault) => {
    expect(() => parseAllowList(entry)).toThrow(`'${entry}' cannot be allowed: `)
    expect(() => parseAllowList(entry)).toThrow(fault)
  })

  const BESIDE_CLOSED = words(`
    169.253.255.255:80 169.255.0.0:80 168.63.129.15:80 168.63.129.17:80 223.255.255.255:80 [2606:4700:4700::/64]:22
    127.0.0.1/32:80
  `)
  test.each(BESIDE_CLOSED)('accepts %s next to what stays closed', entry => {
    expect(parseAllowList(entry)).toHaveLength(1)
  })

  test('every text is either read or refused with a sentence', () => {
    const entryLike = fc.array(fc.constantFrom('10.0.0.1', 'fd00::', '::1', '[', ']', '/', '24', '64', ':', '80', ',', ' '), {
      maxLength: 12,
    })
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          entryLike.map(parts => parts.join('')),
        ),
        text => {
          try {
            return parseAllowList(text).every(entry => isAllowed([entry], entry.address, entry.port))
          } catch (error) {
            return error instanceof Error && error.message.endsWith('.')
          }
        },
      ),
      { numRuns: 2000 },
    )
  })
})

describe('isAllowed', () => {
  const allow = parseAllowList('192.168.10.20:8443,10.0.0.0/24:80,[fd00::/64]:8443')

  test.each([
    ['192.168.10.20', 8443, true],
    ['192.168.10.19', 8443, false],
    ['192.168.10.21', 8443, false],
    ['192.168.10.20', 8444, false],
    ['192.168.10.20', 80, false],
    ['10.0.0.0', 80, true],
    ['10.0.0.255', 80, true],
    ['10.0.1.0', 80, false],
    ['9.255.255.255', 80, false],
    ['fd00::', 8443, true],
    ['fd00:0:0:0:FFFF::1', 8443, true],
    ['fd00:0:0:1::', 8443, false],
    ['::ffff:192.168.10.20', 8443, false],
    ['nonsense', 8443, false],
  ])('%s port %d: %p', (address, destinationPort, expected) => {
    expect(isAllowed(allow, address, destinationPort)).toBe(expected)
  })

  test.each([
    ['169.254.169.254', 32],
    ['168.63.129.16', 32],
    ['0.0.0.0', 32],
    ['224.0.0.1', 32],
    ['127.0.0.1', 8],
    ['10.0.0.1', 8],
    ['fe80::1', 128],
    ['ff02::1', 128],
    ['::', 128],
    ['::ffff:169.254.169.254', 128],
    ['fd00::1', 8],
    ['10.0.0.1', 33],
    ['10.0.0.1', 24.5],
    ['nonsense', 32],
  ])('an entry %s/%d that came in past the parser opens nothing', (address, prefix) => {
    expect(isAllowed([{ address, prefix, port: 80 }], address, 80)).toBe(false)
  })

  test('no list opens a link-local, multicast or unspecified address', () => {
    const closed = parseNetworks('0.0.0.0, 169.254.0.0/16, 224.0.0.0/4, 168.63.129.16, ::/128, fe80::/10, ff00::/8')
    const address = fc.oneof(
      ipv4,
      ipv6,
      fc.nat({ max: 65535 }).map(low => `169.254.${low >> 8}.${low & 255}`),
      fc.nat({ max: 65535 }).map(low => `fe80::${low.toString(16)}`),
      fc.nat({ max: 255 }).map(low => `168.63.129.${low}`),
    )
    fc.assert(
      fc.property(address, fc.integer({ min: 0, max: 128 }), port, (base, prefix, allowedPort) => {
        const opened = isAllowed([{ address: base, prefix, port: allowedPort }], base, allowedPort)
        return !(opened && contains(closed, base))
      }),
      { numRuns: 2000 },
    )
  })
})
