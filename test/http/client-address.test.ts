import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { parseNetworks } from '../../src/egress/addresses.ts'
import { addressBucket, clientAddress } from '../../src/http/client-address.ts'
import { words } from '../helpers/words.ts'

const PROXIES = parseNetworks('10.0.0.0/8, fd00::/8')
const PROXY = '10.0.0.1'

const from = (peer: string, forwardedFor: string | null) => clientAddress(peer, forwardedFor, PROXIES)

describe('the client address without a trusted proxy', () => {
  test('the peer is the client, whatever X-Forwarded-For says', () => {
    for (const header of [null, '', '198.51.100.7', '10.0.0.1', '10.0.0.1, 198.51.100.7', 'nonsense']) {
      expect(from('203.0.113.9', header)).toBe('203.0.113.9')
      expect(clientAddress(PROXY, header, [])).toBe(PROXY)
    }
  })

  test('a client cannot choose the address it is counted under', () => {
    fc.assert(fc.property(fc.string(), header => from('203.0.113.9', header) === '203.0.113.9'))
  })
})

describe('the client address behind trusted proxies', () => {
  test('the right-most address that is not a trusted proxy is the client', () => {
    for (const [header, client] of [
      ['198.51.100.7', '198.51.100.7'],
      ['192.0.2.66, 198.51.100.7', '198.51.100.7'],
      ['198.51.100.7, 10.0.0.2, 10.0.0.3', '198.51.100.7'],
      ['192.0.2.66,198.51.100.7,10.0.0.2', '198.51.100.7'],
      ['  198.51.100.7  ', '198.51.100.7'],
      ['10.9.9.9, 198.51.100.7', '198.51.100.7'],
      ['2001:db8::7', '2001:db8::7'],
      ['2001:db8::7, fd00::2', '2001:db8::7'],
      ['198.51.100.7, ::ffff:10.0.0.2', '198.51.100.7'],
    ] as const) {
      expect([header, from(PROXY, header)]).toEqual([header, client])
    }
  })

  test('a proxy that connects with an IPv4-mapped address is recognised', () => {
    expect(from('::ffff:10.0.0.1', '198.51.100.7')).toBe('198.51.100.7')
    expect(from('fd00::1', '198.51.100.7')).toBe('198.51.100.7')
  })

  test('addresses that a client puts in front of its own are ignored', () => {
    fc.assert(fc.property(fc.string(), forged => from(PROXY, `${forged},198.51.100.7`) === '198.51.100.7'))
    expect(from(PROXY, `${'1.2.3.4,'.repeat(5000)}198.51.100.7`)).toBe('198.51.100.7')
  })

  test('without a usable entry the peer is the client', () => {
    for (const header of [null, '', ',', '10.0.0.2', '10.0.0.2, 10.0.0.3', 'unknown', '198.51.100.7, unknown', '198.51.100.7,']) {
      expect([header, from(PROXY, header)]).toEqual([header, PROXY])
    }
  })

  test('the port of a client or proxy in X-Forwarded-For is ignored', () => {
    for (const [header, client] of [
      ['198.51.100.7:1234', '198.51.100.7'],
      ['192.0.2.66:1, 198.51.100.7:65535', '198.51.100.7'],
      ['[2001:db8::7]:443', '2001:db8::7'],
      ['[2001:db8::7]', '2001:db8::7'],
      ['2001:db8::7:443', '2001:db8::7:443'],
      ['198.51.100.7:1234, 10.0.0.2:443, [fd00::2]:443', '198.51.100.7'],
    ] as const) {
      expect([header, from(PROXY, header)]).toEqual([header, client])
    }
  })

  test('an entry that is a name, or an address with anything but a port, is not an address', () => {
    for (const entry of words(`
      198.51.100.7: 198.51.100.7:443:1 198.51.100.7:123456 198.51.100.7:http [198.51.100.7]:443 [2001:db8::7]443
      [2001:db8::7 []:443 shop.example:443 shop.example 198.51.100 0x7f.1 198.51.100.7/8
    `)) {
      expect([entry, from(PROXY, `192.0.2.66, ${entry}`)]).toEqual([entry, PROXY])
    }
  })

  test('a chain of more than twenty proxies is not followed to its end', () => {
    const proxies = (count: number) => new Array(count).fill(', 10.0.0.2').join('')
    expect(from(PROXY, `198.51.100.7${proxies(19)}`)).toBe('198.51.100.7')
    expect(from(PROXY, `198.51.100.7${proxies(20)}`)).toBe(PROXY)
  })
})

describe('addressBucket', () => {
  test('an IPv4 address is a bucket of its own', () => {
    expect(addressBucket('198.51.100.7')).toBe('198.51.100.7')
    expect(addressBucket('198.51.100.8')).not.toBe(addressBucket('198.51.100.7'))
  })

  test('an IPv4 address written as IPv6 is in the bucket of the IPv4 address', () => {
    for (const spelling of ['::ffff:198.51.100.7', '::FFFF:198.51.100.7', '::ffff:c633:6407', '0:0:0:0:0:ffff:198.51.100.7']) {
      expect([spelling, addressBucket(spelling)]).toEqual([spelling, '198.51.100.7'])
    }
  })

  test('all addresses of an IPv6 /64 share a bucket, however they are written', () => {
    const bucket = addressBucket('2001:db8:1:2::1')
    for (const same of ['2001:db8:1:2::2', '2001:DB8:1:2:ffff:ffff:ffff:ffff', '2001:0db8:0001:0002:0:0:0:1', '2001:db8:1:2::']) {
      expect([same, addressBucket(same)]).toEqual([same, bucket])
    }
  })

  test('a neighbouring IPv6 /64 has another bucket', () => {
    const bucket = addressBucket('2001:db8:1:2::1')
    for (const other of ['2001:db8:1:3::1', '2001:db8:0:2::1', '2001:db9:1:2::1', '::1']) {
      expect(addressBucket(other)).not.toBe(bucket)
    }
  })

  test('two IPv6 addresses share a bucket exactly when their first 64 bits are equal', () => {
    const group = fc.integer({ min: 0, max: 0xffff })
    const groups = fc.array(group, { minLength: 4, maxLength: 4 })
    const text = (parts: number[]) => parts.map(part => part.toString(16)).join(':')
    fc.assert(
      fc.property(groups, groups, groups, (network, one, other) => {
        fc.pre(network.some(part => part !== 0))
        expect(addressBucket(text([...network, ...one]))).toBe(addressBucket(text([...network, ...other])))
      }),
    )
    fc.assert(
      fc.property(groups, groups, (one, other) => {
        const same = text(one) === text(other)
        expect(addressBucket(text([...one, 1, 0, 0, 0])) === addressBucket(text([...other, 1, 0, 0, 0]))).toBe(same)
      }),
    )
  })
})
