import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { isAllowed, isPublicAddress, parseAllowList } from '../../src/egress/addresses.ts'
import {
  checkDestination,
  checkWebhookUrl,
  type EgressPolicy,
  type RefusalReason,
  type Resolve,
} from '../../src/egress/policy.ts'
import { anyText, webPath, webUrl } from '../helpers/texts.ts'
import { SPELLINGS } from './url-spellings.ts'

const closedPolicy: EgressPolicy = { allow: [], listener: { addresses: ['127.0.0.1', '93.184.216.1'], port: 3000 } }

const lanPolicy: EgressPolicy = {
  allow: parseAllowList(
    '192.168.10.20:8443,192.168.10.20:22,10.0.0.0/24:80,[fd00::1]:8443,127.0.0.1:9000,127.0.0.1:3000,10.0.0.9:3000',
  ),
  listener: { addresses: ['127.0.0.1', '10.0.0.9', '::ffff:192.168.10.9'], port: 3000 },
}

const publicName: Resolve = async () => ['93.184.216.34', '2606:2800:21f:cb07:6820:80da:af6b:8b2c']
const answering =
  (...addresses: string[]): Resolve =>
  async () =>
    addresses
const unresolvable: Resolve = async () => {
  throw new Error('ENOTFOUND')
}
const unused: Resolve = host => {
  throw new Error(`${host} must not be resolved`)
}

async function reasonOf(policy: EgressPolicy, resolve: Resolve, url: string): Promise<RefusalReason | 'accepted'> {
  const verdict = await checkDestination(policy, resolve, url)
  return verdict.ok ? 'accepted' : verdict.reason
}

describe('the corpus of spellings', () => {
  test('has more than 500, none of them twice', () => {
    const urls = Object.values(SPELLINGS).flatMap(spellings => spellings.map(([url]) => url))
    expect(urls.length).toBeGreaterThan(500)
    expect(new Set(urls).size).toBe(urls.length)
  })

  test.each(Object.entries(SPELLINGS))('%s', async (_, spellings) => {
    const said = await Promise.all(spellings.map(async ([url]) => [url, await reasonOf(closedPolicy, publicName, url)]))
    expect(said).toEqual(spellings)
  })

  test('a refusal of the spelling needs no resolver, and an accepted name fails when it resolves to an inner address', async () => {
    for (const [url, expected] of Object.values(SPELLINGS).flat()) {
      if (expected !== 'accepted') expect(await reasonOf(closedPolicy, unused, url)).toBe(expected)
      else expect(['accepted', 'address']).toContain(await reasonOf(closedPolicy, answering('127.0.0.1'), url))
    }
  })
})

describe('the URL', () => {
  test('may have 2048 characters and no more', async () => {
    const ofLength = (length: number) => 'https://shop.example.com/'.padEnd(length, 'a')
    expect(await reasonOf(closedPolicy, publicName, ofLength(2048))).toBe('accepted')
    expect(await reasonOf(closedPolicy, publicName, ofLength(2049))).toBe('length')
  })

  test('may name a host of 253 characters and no more', async () => {
    const host = `${'a.'.repeat(126)}a`
    expect(host).toHaveLength(253)
    expect(await reasonOf(closedPolicy, publicName, `https://${host}./`)).toBe('accepted')
    expect(await reasonOf(closedPolicy, publicName, `https://${host}a/`)).toBe('host')
  })

  test('comes back parsed, with all addresses and without the final dot', async () => {
    const verdict = await checkDestination(closedPolicy, answering('8.8.8.8', '1.1.1.1'), 'HTTPS://Shop.Example.com.:8443/a?b')
    if (!verdict.ok) throw new Error(verdict.detail)
    expect(verdict.destination.url.href).toBe('https://shop.example.com:8443/a?b')
    expect(verdict.destination.addresses).toEqual(['8.8.8.8', '1.1.1.1'])
  })
})

describe('the port', () => {
  test.each([
    80, 443, 1024, 1718, 1721, 2048, 2050, 2374, 2376, 3000, 5431, 5433, 6001, 6664, 6670, 8080, 8443, 10079, 10081, 65535,
  ])('%d is accepted', async port => {
    expect(await reasonOf(closedPolicy, publicName, `https://shop.example.com:${port}/`)).toBe('accepted')
  })

  test.each([
    ...[0, 1, 21, 22, 25, 79, 81, 442, 444, 445, 993, 1023],
    ...[1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080],
    ...[2375, 2379, 3306, 5432, 5984, 6379, 6443, 9042, 9200, 10250, 11211, 27017],
  ])('%d is refused before the name is resolved', async port => {
    expect(await reasonOf(closedPolicy, unused, `https://shop.example.com:${port}/`)).toBe('port')
  })
})

describe('the addresses', () => {
  test('a literal address is never resolved', async () => {
    expect(await reasonOf(closedPolicy, unused, 'https://8.8.8.8/')).toBe('accepted')
    expect(await reasonOf(closedPolicy, unused, 'https://[2606:4700:4700::1111]/')).toBe('accepted')
    expect(await reasonOf(closedPolicy, unused, 'https://127.1/')).toBe('address')
  })

  test('a name is resolved once, in lower case and without its final dot', async () => {
    const asked: string[] = []
    const resolve: Resolve = async host => {
      asked.push(host)
      return ['8.8.8.8']
    }
    expect(await reasonOf(closedPolicy, resolve, 'https://SHOP.example.com./')).toBe('accepted')
    expect(asked).toEqual(['shop.example.com'])
  })

  test.each([
    [['10.0.0.1']],
    [['8.8.8.8', '10.0.0.1']],
    [['10.0.0.1', '8.8.8.8']],
    [['8.8.8.8', '1.1.1.1', '::1']],
    [['2606:4700:4700::1111', '::ffff:8.8.8.8']],
    [['2606:4700:4700::1111', 'fe80::1%eth0']],
    [['8.8.8.8', '']],
    [['8.8.8.8', 'shop.example.com']],
  ])('answers %j refuse the name', async addresses => {
    expect(await reasonOf(closedPolicy, answering(...addresses), 'https://shop.example.com/')).toBe('address')
  })

  test('a name without an answer has its own reason', async () => {
    expect(await reasonOf(closedPolicy, unresolvable, 'https://shop.example.com/')).toBe('unresolvable')
    expect(await reasonOf(closedPolicy, answering(), 'https://shop.example.com/')).toBe('unresolvable')
    expect(await reasonOf(closedPolicy, unused, 'https://shop.example.com/')).toBe('unresolvable')
  })
})

describe('the allow list', () => {
  test.each([
    ['https://192.168.10.20:8443/', 'accepted'],
    ['https://192.168.10.19:8443/', 'address'],
    ['https://192.168.10.21:8443/', 'address'],
    ['https://192.168.10.20:8444/', 'address'],
    ['https://192.168.10.20/', 'address'],
    ['http://10.0.0.0/', 'accepted'],
    ['http://10.0.0.255/', 'accepted'],
    ['http://10.0.1.0/', 'address'],
    ['https://10.0.0.0/', 'address'],
    ['https://[fd00::1]:8443/', 'accepted'],
    ['https://[fd00::2]:8443/', 'address'],
    ['http://127.0.0.1:9000/', 'accepted'],
    ['http://2130706433:9000/', 'accepted'],
    ['http://127.0.0.2:9000/', 'address'],
    ['http://[::1]:9000/', 'address'],
    ['http://[::ffff:127.0.0.1]:9000/', 'address'],
    ['https://[::ffff:192.168.10.20]:8443/', 'address'],
  ] as const)('%s: %s', async (url, expected) => {
    expect(await reasonOf(lanPolicy, unused, url)).toBe(expected)
  })

  test('opens an unusual port for its address only', async () => {
    expect(await reasonOf(lanPolicy, unused, 'http://192.168.10.20:22/')).toBe('accepted')
    expect(await reasonOf(lanPolicy, unused, 'http://192.168.10.21:22/')).toBe('port')
    expect(await reasonOf(lanPolicy, unused, 'http://8.8.8.8:22/')).toBe('port')
    expect(await reasonOf(lanPolicy, publicName, 'http://shop.example.com:22/')).toBe('port')
  })

  test('is matched on what a name resolves to', async () => {
    expect(await reasonOf(lanPolicy, answering('192.168.10.20'), 'https://till.example.com:8443/')).toBe('accepted')
    expect(await reasonOf(lanPolicy, answering('192.168.10.20'), 'https://till.example.com:22/')).toBe('accepted')
    expect(await reasonOf(lanPolicy, answering('192.168.10.20', '8.8.8.8'), 'https://till.example.com:8443/')).toBe('accepted')
    expect(await reasonOf(lanPolicy, answering('192.168.10.20', '8.8.8.8'), 'https://till.example.com:22/')).toBe('port')
    expect(await reasonOf(lanPolicy, answering('192.168.10.20', '192.168.10.21'), 'https://till.example.com:8443/')).toBe(
      'address',
    )
  })

  test('a server on the own machine is refused, and the message names vidimus listen', async () => {
    for (const url of ['http://localhost:4000/hook', 'http://127.0.0.1:4000/hook', 'http://[::1]:4000/hook']) {
      const checked = await checkDestination(lanPolicy, answering('127.0.0.1'), url)
      expect(checked).toMatchObject({ ok: false, detail: expect.stringContaining('for development, "vidimus listen"') })
    }
  })

  test('opens a name of the own network that leads to allowed addresses only', async () => {
    expect(await reasonOf(lanPolicy, answering('192.168.10.20'), 'https://till:8443/')).toBe('accepted')
    expect(await reasonOf(lanPolicy, answering('192.168.10.20'), 'https://till.local:8443/')).toBe('accepted')
    expect(await reasonOf(lanPolicy, answering('127.0.0.1'), 'http://localhost:9000/')).toBe('accepted')
  })

  test('opens no name of the own network that leads elsewhere as well, even to a public address', async () => {
    expect(await reasonOf(lanPolicy, answering('192.168.10.20', '8.8.8.8'), 'https://till:8443/')).toBe('host')
    expect(await reasonOf(lanPolicy, answering('8.8.8.8'), 'https://till.local:8443/')).toBe('host')
    expect(await reasonOf(lanPolicy, answering('127.0.0.1', '::1'), 'http://localhost:9000/')).toBe('host')
    expect(await reasonOf(lanPolicy, answering('192.168.10.20'), 'https://ti!ll:8443/')).toBe('host')
  })

  test('a name of the own network is not looked up when its port is open nowhere', async () => {
    expect(await reasonOf(lanPolicy, unused, 'https://till:9999/')).toBe('host')
    expect(await reasonOf(lanPolicy, unused, 'https://localhost:9999/')).toBe('host')
  })

  test('a name of the own network that does not resolve now is unresolvable, not refused, when its port is open', async () => {
    expect(await reasonOf(lanPolicy, unresolvable, 'https://till:8443/')).toBe('unresolvable')
  })

  test.each([
    ['169.254.169.254', 32, 'http://169.254.169.254/'],
    ['168.63.129.16', 32, 'http://168.63.129.16/'],
    ['0.0.0.0', 32, 'http://0.0.0.0/'],
    ['224.0.0.1', 32, 'http://224.0.0.1/'],
    ['fe80::1', 128, 'http://[fe80::1]/'],
    ['ff02::1', 128, 'http://[ff02::1]/'],
    ['127.0.0.0', 8, 'http://127.0.0.1/'],
  ])('listing %s/%d anyway does not open it', async (address, prefix, url) => {
    const policy = { ...closedPolicy, allow: [{ address, prefix, port: 80 }] }
    expect(await reasonOf(policy, unused, url)).toBe('address')
  })
})

describe('a policy that opens this machine', () => {
  const devPolicy: EgressPolicy = { ...closedPolicy, loopback: true }

  test('is reached by name and by address, on every usual port but our own', async () => {
    expect(await reasonOf(devPolicy, answering('127.0.0.1', '::1'), 'http://localhost:4000/')).toBe('accepted')
    expect(await reasonOf(devPolicy, answering('127.0.0.1'), 'https://wallet.localhost:4000/')).toBe('accepted')
    expect(await reasonOf(devPolicy, unused, 'http://[::1]:4000/')).toBe('accepted')
    expect(await reasonOf(devPolicy, answering('127.0.0.1'), 'http://localhost:3000/')).toBe('address')
    expect(await reasonOf(devPolicy, answering('127.0.0.1'), 'http://localhost:6379/')).toBe('port')
  })

  test('opens nothing else', async () => {
    expect(await reasonOf(devPolicy, answering('10.0.0.1'), 'http://localhost:4000/')).toBe('host')
    expect(await reasonOf(devPolicy, answering('10.0.0.1'), 'https://shop.example.com/')).toBe('address')
    expect(await reasonOf(devPolicy, unused, 'http://169.254.169.254/')).toBe('address')
  })
})

describe('the URL of a webhook', () => {
  const live = async (policy: EgressPolicy, resolve: Resolve, url: string) => {
    const checked = await checkWebhookUrl(policy, resolve, url, 'live')
    return checked.ok ? 'accepted' : checked.reason
  }

  test('of a live session is https, unless the operator opened every address it leads to', async () => {
    expect(await live(closedPolicy, publicName, 'https://shop.example.com/')).toBe('accepted')
    expect(await live(closedPolicy, publicName, 'http://shop.example.com/')).toBe('plain_http')
    expect(await live(closedPolicy, unused, 'http://8.8.8.8/')).toBe('plain_http')
    expect(await live(lanPolicy, unused, 'http://192.168.10.20:8443/')).toBe('accepted')
    expect(await live(lanPolicy, answering('192.168.10.20'), 'http://till.example.com:8443/')).toBe('accepted')
    expect(await live(lanPolicy, answering('192.168.10.20', '8.8.8.8'), 'http://till.example.com:8443/')).toBe('plain_http')
  })

  test('of a live session is refused at once when it does not resolve and could not be opened', async () => {
    expect(await live(lanPolicy, unresolvable, 'http://shop.example.com:8081/')).toBe('plain_http')
    expect(await live(lanPolicy, unresolvable, 'http://till.example.com:8443/')).toBe('unresolvable')
    expect(await live(lanPolicy, unresolvable, 'https://shop.example.com/')).toBe('unresolvable')
  })

  test('of a live session that is refused anyway is refused for its own reason', async () => {
    expect(await live(closedPolicy, answering('10.0.0.1'), 'http://shop.example.com/')).toBe('address')
    expect(await live(closedPolicy, unused, 'http://localhost/')).toBe('host')
  })

  test('of a test session may be plain http', async () => {
    expect(await checkWebhookUrl(closedPolicy, publicName, 'http://shop.example.com/', 'test')).toMatchObject({ ok: true })
  })
})

describe('our own listener', () => {
  test.each([
    'http://127.0.0.1:3000/',
    'http://127.0.0.2:3000/',
    'http://10.0.0.9:3000/',
    'http://192.168.10.9:3000/',
    'http://[::1]:3000/',
  ])('%s is refused even when it is allowed', async url => {
    const allow = parseAllowList('127.0.0.1:3000,127.0.0.2:3000,10.0.0.9:3000,192.168.10.9:3000,[::1]:3000')
    expect(await reasonOf({ ...lanPolicy, allow }, unused, url)).toBe('address')
  })

  test('is refused on a public address, by name and by number', async () => {
    expect(await reasonOf(closedPolicy, unused, 'http://93.184.216.1:3000/')).toBe('address')
    expect(await reasonOf(closedPolicy, answering('8.8.8.8', '93.184.216.1'), 'http://shop.example.com:3000/')).toBe('address')
  })

  test('is only its own port and its own addresses', async () => {
    expect(await reasonOf(closedPolicy, unused, 'http://93.184.216.1:3001/')).toBe('accepted')
    expect(await reasonOf(closedPolicy, unused, 'http://93.184.216.2:3000/')).toBe('accepted')
    expect(await reasonOf(lanPolicy, unused, 'http://10.0.0.9/')).toBe('accepted')
  })
})

describe('the detail', () => {
  test('is one sentence that says what to do', async () => {
    for (const [url, expected] of Object.values(SPELLINGS).flat()) {
      const verdict = await checkDestination(closedPolicy, publicName, url)
      if (expected !== 'accepted') expect(verdict).toMatchObject({ detail: expect.stringMatching(/^[^\n]+: [^\n]+\.$/) })
    }
  })

  test('repeats neither a password nor a resolved address', async () => {
    const withPassword = await checkDestination(closedPolicy, publicName, 'https://user:hunter2@shop.example.com/')
    const withBadPort = await checkDestination(closedPolicy, publicName, 'https://user:hunter2@shop.example.com:99999/')
    const toPrivate = await checkDestination(closedPolicy, answering('10.11.12.13'), 'https://shop.example.com/')
    expect(JSON.stringify([withPassword, withBadPort])).not.toContain('hunter2')
    expect(JSON.stringify(toPrivate)).not.toContain('10.11.12.13')
  })

  test('is the same for a private address and for our own listener', async () => {
    const toPrivate = await checkDestination(lanPolicy, answering('10.0.0.8'), 'http://shop.example.com:3000/')
    const toOurselves = await checkDestination(lanPolicy, answering('10.0.0.9'), 'http://shop.example.com:3000/')
    expect(toPrivate).toEqual(toOurselves)
    expect(toPrivate.ok).toBe(false)
  })

  test('repeats at most 100 characters of the input', async () => {
    for (const url of [`${'x'.repeat(2000)}:y`, `http://${'x'.repeat(2000)}/`, `http://${'x.'.repeat(90)}example/`]) {
      const verdict = await checkDestination(closedPolicy, unresolvable, url)
      if (verdict.ok) throw new Error('must be refused')
      const [, quoted = ''] = /'(.*)'/.exec(verdict.detail) ?? []
      expect(quoted).toHaveLength(100)
      expect(verdict.detail.length).toBeLessThan(300)
    }
  })
})

describe('any destination', () => {
  const octet = fc.nat({ max: 255 })
  const awkwardAddress = fc.oneof(
    fc.ipV4(),
    fc.ipV4Extended(),
    fc.ipV6(),
    fc.constantFrom('127.0.0.1', '10.0.0.9', '192.168.10.20', '169.254.169.254', '::1', 'fd00::1', '::ffff:127.0.0.1', '8.8.8.8'),
    octet.map(last => `10.0.0.${last}`),
    fc.string(),
  )
  const goodAddress = fc.constantFrom('8.8.8.8', '2606:4700:4700::1111', '192.168.10.20')
  const answers = fc.oneof(fc.array(goodAddress, { minLength: 1, maxLength: 3 }), fc.array(awkwardAddress, { maxLength: 3 }))
  const awkwardHost = fc.oneof(
    awkwardAddress,
    awkwardAddress.map(address => `[${address}]`),
    fc.domain(),
    fc.domain().map(domain => `${domain}.`),
    fc.nat({ max: 0xffffffff }).map(String),
    fc.nat({ max: 0xffffffff }).map(value => `0x${value.toString(16)}`),
  )
  const awkwardUrl = fc
    .record({
      scheme: fc.constantFrom('http://', 'https://', 'https://', 'http:', 'HTTPS:\\\\', 'ftp://', ''),
      user: fc.constantFrom('', '', '', 'a@', 'a:b@', '@'),
      host: awkwardHost,
      port: fc.oneof(
        fc.constantFrom('', '', ':80', ':22', ':3000', ':8443', ':9000', ':'),
        fc.nat({ max: 70000 }).map(port => `:${port}`),
      ),
      rest: fc.oneof(fc.constantFrom('', '/', '/#', '?#'), webPath(), fc.string()),
    })
    .map(({ scheme, user, host, port, rest }) => scheme + user + host + port + rest)
  const plainUrl = fc
    .tuple(fc.constantFrom('http://', 'https://'), fc.domain(), fc.constantFrom('', '', ':22', ':3000', ':8443'))
    .map(parts => parts.join(''))
  const text = fc.oneof(plainUrl, awkwardUrl, webUrl(), fc.string(), anyText())

  test('nothing throws, and an accepted destination has public or allowed addresses only', async () => {
    let acceptedCount = 0
    const property = fc.asyncProperty(
      fc.constantFrom(closedPolicy, lanPolicy),
      answers,
      text,
      async (policy, addressesOfName, text) => {
        const verdict = await checkDestination(policy, async () => addressesOfName, text)
        if (!verdict.ok) return
        acceptedCount += 1
        const { url, addresses } = verdict.destination
        const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80)
        expect(['http:', 'https:']).toContain(url.protocol)
        expect(url.username + url.password + url.hash).toBe('')
        expect(addresses.length).toBeGreaterThan(0)
        for (const address of addresses) {
          expect(isPublicAddress(address) || isAllowed(policy.allow, address, port)).toBe(true)
          expect(policy.listener.addresses.includes(address) && port === policy.listener.port).toBe(false)
        }
      },
    )
    await fc.assert(property, { numRuns: 6000 })
    expect(acceptedCount).toBeGreaterThan(0)
  })

  // Notations that the URL standard, inet_aton or a careless filter may read as an address.
  const part = fc.tuple(
    fc.constantFrom<(value: number) => string>(
      value => String(value),
      value => `0x${value.toString(16)}`,
      value => `0X${value.toString(16).toUpperCase().padStart(8, '0')}`,
      value => `0${value.toString(8)}`,
      value => `000${value.toString(8)}`,
    ),
    fc.constantFrom<(text: string) => string>(
      text => text,
      text => text.replace(/[0-9]/g, digit => String.fromCharCode(0xff10 + Number(digit))),
      text => text.replace(/./g, char => `%${char.charCodeAt(0).toString(16)}`),
      text => text.replace(/./g, char => `${char}\u00ad`),
      text => text.replace(/./g, char => `${char}\t`),
    ),
  )
  const notation = fc.record({
    parts: fc.tuple(part, part, part, part),
    count: fc.integer({ min: 1, max: 4 }),
    dot: fc.constantFrom('.', '。', '．', '｡', '%2e', '%E3%80%82'),
    end: fc.constantFrom('', '.', '。'),
  })
  const innerIpv4 = fc.oneof(
    fc.constantFrom(0x7f000001, 0xa9fea9fe, 0xa83f8110, 0, 0xffffffff, 0x646464c8),
    fc.nat({ max: 0xffffff }).map(low => 0x7f000000 + low),
    fc.nat({ max: 0xffffff }).map(low => 0x0a000000 + low),
    fc.nat({ max: 0xffff }).map(low => 0xa9fe0000 + low),
    fc.nat({ max: 0xffff }).map(low => 0xc0a80000 + low),
    fc.nat({ max: 0xfffff }).map(low => 0xac100000 + low),
  )

  test('an inner IPv4 address is refused in every notation', async () => {
    let readAsAddress = 0
    const property = fc.asyncProperty(innerIpv4, notation, async (value, { parts, count, dot, end }) => {
      const bytes = [value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255]
      const last = bytes.slice(count - 1).reduce((sum, byte) => sum * 256 + byte, 0)
      const numbers = [...bytes.slice(0, count - 1), last]
      const host = numbers.map((number, index) => parts[index]![1](parts[index]![0](number))).join(dot) + end
      const reason = await reasonOf(closedPolicy, publicName, `http://${host}/`)
      if (reason === 'address') readAsAddress += 1
      return reason !== 'accepted'
    })
    await fc.assert(property, { numRuns: 3000 })
    expect(readAsAddress).toBeGreaterThan(1000)
  })

  const hexGroup = (value: number) =>
    fc.constantFrom(value.toString(16), value.toString(16).toUpperCase(), value.toString(16).padStart(4, '0'))

  test('an inner IPv4 address is refused inside every IPv6 form that carries one', async () => {
    const wrapped = innerIpv4.chain(value => {
      const [high, low] = [value >>> 16, value & 0xffff]
      const dotted = [value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255].join('.')
      const inverted = `${(high ^ 0xffff).toString(16)}:${(low ^ 0xffff).toString(16)}`
      return fc
        .tuple(hexGroup(high), hexGroup(low))
        .chain(([one, two]) =>
          fc.constantFrom(
            ...['::', '::ffff:', '::ffff:0:', '64:ff9b::', '64:ff9b:1::', 'fe80::5efe:', 'fd00::'].flatMap(prefix => [
              `${prefix}${one}:${two}`,
              `${prefix}${dotted}`,
            ]),
            `2002:${one}:${two}::`,
            `2002:${one}:${two}::1`,
            `2001:0:${one}:${two}::`,
            `2001:0:0808:0808:0:0:${inverted}`,
          ),
        )
    })
    await fc.assert(
      fc.asyncProperty(wrapped, async host => (await reasonOf(closedPolicy, unused, `http://[${host}]/`)) === 'address'),
      { numRuns: 3000 },
    )
  })
})
