import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { isAllowed, isPublicAddress, parseAllowList } from '../../src/addresses.ts'
import { checkDestination, type EgressPolicy, type RefusalReason, type Resolve } from '../../src/webhooks/egress.ts'

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

// Every name here resolves to a public address, so that a refusal is that of the spelling.
const SPELLINGS: [string, RefusalReason | 'accepted'][] = [
  ['https://shop.example.com/webhooks', 'accepted'],
  ['http://shop.example.com', 'accepted'],
  ['HTTPS://SHOP.EXAMPLE.COM/Webhooks?a=b%23c', 'accepted'],
  ['https://shop.example.com./', 'accepted'],
  ['https://shop.example.com:/', 'accepted'],
  ['https://@shop.example.com/', 'accepted'],
  ['https:shop.example.com', 'accepted'],
  ['https:\\\\shop.example.com\\webhooks', 'accepted'],
  [' https://shop.example.com/\n', 'accepted'],
  ['https://b\u00fccher.example/', 'accepted'],
  ['https://_dmarc.shop-1.example.com/', 'accepted'],
  ['https://localhost.example.com/', 'accepted'],
  ['https://mylocalhost.com/', 'accepted'],
  ['https://shop.notlocal/', 'accepted'],
  ['https://shop.athome.arpa/', 'accepted'],
  ['https://8.8.8.8/', 'accepted'],
  ['https://134744072/', 'accepted'],
  ['https://[2606:4700:4700::1111]/', 'accepted'],

  // Decimal, hexadecimal, octal, short, full-width, circled and percent-encoded loopback.
  ['http://127.0.0.1/', 'address'],
  ['http://2130706433/', 'address'],
  ['http://0x7f.1/', 'address'],
  ['http://0x7f000001/', 'address'],
  ['http://0177.0.0.1/', 'address'],
  ['http://017700000001/', 'address'],
  ['http://127.1/', 'address'],
  ['http://127.0.1/', 'address'],
  ['http://127.0.0.1./', 'address'],
  ['http://\uff11\uff12\uff17.\uff10.\uff10.\uff11/', 'address'],
  ['http://127\u30020\u30020\u30021/', 'address'],
  ['http://\u2460\u2461\u2466.0.0.1/', 'address'],
  ['http://%31%32%37.0.0.1/', 'address'],
  ['http://127.0.0.1:8080/', 'address'],
  ['http://0/', 'address'],
  ['http://0.0.0.0/', 'address'],
  ['http://10.0.0.1/', 'address'],
  ['http://012.1/', 'address'],
  ['http://172.16.0.1/', 'address'],
  ['http://192.168.1.1/', 'address'],
  ['http://3232235777/', 'address'],
  ['http://169.254.169.254/latest/meta-data/', 'address'],
  ['http://0xA9FEA9FE/', 'address'],
  ['http://168.63.129.16/', 'address'],
  ['http://255.255.255.255/', 'address'],

  // IPv6, and IPv4 wrapped in it.
  ['http://[::]/', 'address'],
  ['http://[::1]/', 'address'],
  ['http://[0:0:0:0:0:0:0:1]/', 'address'],
  ['http://[::127.0.0.1]/', 'address'],
  ['http://[::ffff:127.0.0.1]/', 'address'],
  ['http://[::ffff:8.8.8.8]/', 'address'],
  ['http://[::FFFF:A9FE:A9FE]/', 'address'],
  ['http://[64:ff9b::169.254.169.254]/', 'address'],
  ['http://[2002:7f00:1::]/', 'address'],
  ['http://[2001:0:7f00:1::]/', 'address'],
  ['http://[fd00:ec2::254]/', 'address'],
  ['http://[fe80::1]/', 'address'],
  ['http://[ff02::1]/', 'address'],

  ['http://localhost/', 'host'],
  ['http://LOCALHOST/', 'host'],
  ['http://localhost./', 'host'],
  ['http://localhost../', 'host'],
  ['http://%6cocalhost/', 'host'],
  ['http://\u24dbocalhost/', 'host'],
  ['http://shop.localhost/', 'host'],
  ['http://printer.local/', 'host'],
  ['http://printer.local./', 'host'],
  ['http://metadata.google.internal/', 'host'],
  ['http://home.arpa/', 'host'],
  ['http://nas.home.arpa/', 'host'],
  ['http://expyuzz4wqqyqhjn.onion/', 'host'],
  ['http://intranet/', 'host'],
  ['http://com./', 'host'],
  ['http://./', 'host'],
  ['http://../', 'host'],
  ['http://shop..example.com/', 'host'],
  ['http://.example.com/', 'host'],
  ['http://shop.example.com../', 'host'],
  ['http://8.8.8.8../', 'host'],
  ['http://shop$.example.com/', 'host'],
  [`http://${'a'.repeat(64)}.example.com/`, 'host'],
  [`http://${'a.'.repeat(126)}aa/`, 'host'],

  ['https://user@shop.example.com/', 'credentials'],
  ['https://:secret@shop.example.com/', 'credentials'],
  ['https://shop.example.com@127.0.0.1/', 'credentials'],
  ['https://shop.example.com/#', 'fragment'],
  ['https://shop.example.com/#paid', 'fragment'],
  ['https://shop.example.com#@127.0.0.1/', 'fragment'],

  ['ftp://shop.example.com/', 'scheme'],
  ['ws://shop.example.com/', 'scheme'],
  ['file:///etc/passwd', 'scheme'],
  ['gopher://127.0.0.1:6379/_', 'scheme'],
  ['javascript:alert(1)', 'scheme'],
  ['data:text/plain,x', 'scheme'],
  ['blob:https://shop.example.com/1', 'scheme'],
  ['unix:/run/docker.sock', 'scheme'],
  ['shop.example.com:443', 'scheme'],
  ['localhost:3000', 'scheme'],

  ['', 'syntax'],
  ['shop.example.com', 'syntax'],
  ['/webhooks', 'syntax'],
  ['//shop.example.com/', 'syntax'],
  ['http://', 'syntax'],
  ['http://shop example.com/', 'syntax'],
  ['http://256.0.0.1/', 'syntax'],
  ['http://1.2.3.4.5/', 'syntax'],
  ['http://127.0.0.1%00.example.com/', 'syntax'],
  ['http://[fe80::1%25eth0]/', 'syntax'],
  ['http://[::1/', 'syntax'],
  ['http://shop.example.com:65536/', 'syntax'],
  ['\ud800', 'syntax'],
]

describe('the URL', () => {
  test.each(SPELLINGS)('%j: %s', async (url, expected) => {
    expect(await reasonOf(closedPolicy, publicName, url)).toBe(expected)
  })

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

  test('opens no name that is refused as a name', async () => {
    expect(await reasonOf(lanPolicy, answering('192.168.10.20'), 'https://till:8443/')).toBe('host')
    expect(await reasonOf(lanPolicy, answering('192.168.10.20'), 'https://till.local:8443/')).toBe('host')
    expect(await reasonOf(lanPolicy, answering('127.0.0.1'), 'http://localhost:9000/')).toBe('host')
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
    for (const [url, expected] of SPELLINGS) {
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

describe('for any input', () => {
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
      rest: fc.oneof(fc.constantFrom('', '/', '/#', '?#'), fc.webPath(), fc.string()),
    })
    .map(({ scheme, user, host, port, rest }) => scheme + user + host + port + rest)
  const plainUrl = fc
    .tuple(fc.constantFrom('http://', 'https://'), fc.domain(), fc.constantFrom('', '', ':22', ':3000', ':8443'))
    .map(parts => parts.join(''))
  const anyText = fc.oneof(plainUrl, awkwardUrl, fc.webUrl({ withFragments: true }), fc.string(), fc.string({ unit: 'binary' }))

  test('nothing throws, and an accepted destination has public or allowed addresses only', async () => {
    let acceptedCount = 0
    const property = fc.asyncProperty(
      fc.constantFrom(closedPolicy, lanPolicy),
      answers,
      anyText,
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
    await fc.assert(property, { numRuns: 4000 })
    expect(acceptedCount).toBeGreaterThan(100)
  })
})
