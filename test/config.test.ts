import { describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LOG_LEVELS } from '../src/base/log.ts'
import { type Config, ConfigError, loadConfig } from '../src/config.ts'
import { VARIABLES } from '../src/variables.ts'

const HOUR_MS = 3_600_000

function refusalOf(env: Record<string, string>): string {
  try {
    loadConfig(env)
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError)
    return (error as Error).message
  }
  throw new Error(`${JSON.stringify(env)} was accepted`)
}

function expectRefused(name: string, value: string): void {
  const message = refusalOf({ [name]: value })
  expect(message).toStartWith(`${name}: `)
  expect(message.length).toBeGreaterThan(name.length + 10)
}

describe('settings without any variable', () => {
  test('every setting has the default that the table of variables names', () => {
    expect(loadConfig({})).toEqual({
      port: 3000,
      host: '127.0.0.1',
      publicUrl: 'http://localhost:3000',
      dataDir: './data',
      database: undefined,
      keyDir: './data',
      masterKey: { file: 'data/master.key', isGiven: false },
      keyWindowDays: 14,
      log: 'info',
      backups: { hourly: 24, daily: 14 },
      isDev: false,
      extraCaFile: '',
      egressAllow: [],
      trustedProxies: [],
      tls: undefined,
      rateLimitScale: 1,
      metricsToken: undefined,
      mail: undefined,
      hasSandbox: true,
      hasOidc: true,
      trustRefresh: true,
      statusMaxAgeMs: 0,
      webhookDelaysMs: [0, 5000, 60_000, 600_000, 2 * HOUR_MS, 22 * HOUR_MS],
      wallet: {
        profile: 'haip',
        linkStart: 'openid4vp://',
        clientIdPrefix: 'x509_hash',
        registrationCertFile: '',
        requestUriMethod: 'get',
        verifierInfoData: 'jwt',
      },
      readerAuth: 'auto',
      dcApi: { mode: 'auto', googleRpMetadata: '' },
    })
  })

  test('the defaults in the table are themselves accepted', () => {
    const { VIDIMUS_PUBLIC_URL: _, ...rest } = VARIABLES
    const env = Object.fromEntries(Object.entries(rest).map(([name, variable]) => [name, variable.default]))
    expect(loadConfig(env)).toEqual(loadConfig({}))
  })

  test('an empty or blank value counts as not set', () => {
    for (const blank of ['', '  ']) {
      const env = Object.fromEntries(Object.keys(VARIABLES).map(name => [name, blank]))
      expect(loadConfig(env)).toEqual(loadConfig({}))
    }
  })

  test('variables of other programs are ignored', () => {
    expect(loadConfig({ PATH: '/bin', HOSTNAME: 'x', PORTS: 'many', vidimus_log: 'loud' })).toEqual(loadConfig({}))
  })
})

test('the master key is the named file, else the systemd credential, else master.key of the key directory', () => {
  const credentials = mkdtempSync(join(tmpdir(), 'vidimus-credentials-'))
  const env = { VIDIMUS_KEY_DIR: '/keys', CREDENTIALS_DIRECTORY: credentials }
  expect(loadConfig(env)).toMatchObject({ keyDir: '/keys', masterKey: { file: '/keys/master.key', isGiven: false } })
  const credential = join(credentials, 'vidimus-master-key')
  writeFileSync(credential, '')
  expect(loadConfig(env).masterKey).toEqual({ file: credential, isGiven: true })
  expect(loadConfig({ ...env, VIDIMUS_MASTER_KEY_FILE: '/run/secrets/key' }).masterKey).toEqual({
    file: '/run/secrets/key',
    isGiven: true,
  })
  rmSync(credentials, { recursive: true })
})

test('an unknown VIDIMUS_ variable is refused; the message names it and the known ones', () => {
  const message = refusalOf({ VIDIMUS_LOGS: 'debug' })
  expect(message).toStartWith('VIDIMUS_LOGS: ')
  for (const name of Object.keys(VARIABLES)) expect(message).toContain(name)
})

test('an unknown VIDIMUS_ variable is refused even when it is empty or undefined', () => {
  expect(refusalOf({ VIDIMUS_: '' })).toStartWith('VIDIMUS_: ')
  expect(() => loadConfig({ VIDIMUS_LOGS: undefined })).toThrow('VIDIMUS_LOGS')
})

describe('PORT', () => {
  test('PORT accepts whole numbers from 0 to 65535', () => {
    for (const [text, port] of [
      ['0', 0],
      ['1', 1],
      ['8080', 8080],
      [' 8080 ', 8080],
      ['65535', 65_535],
    ] as const) {
      expect(loadConfig({ PORT: text }).port).toBe(port)
    }
  })

  test('PORT refuses anything else', () => {
    for (const text of ['-1', '65536', '999999999', '9999999999', '80.5', '0x50', '1e3', '+80', '8 0', 'http', '٣']) {
      expectRefused('PORT', text)
    }
  })
})

describe('VIDIMUS_BACKUPS', () => {
  test('VIDIMUS_BACKUPS accepts the numbers of hourly and daily backups, or off', () => {
    for (const [text, backups] of [
      ['24h,14d', { hourly: 24, daily: 14 }],
      ['0h,30d', { hourly: 0, daily: 30 }],
      ['48h,0d', { hourly: 48, daily: 0 }],
      ['off', undefined],
    ] as const) {
      expect(loadConfig({ VIDIMUS_BACKUPS: text }).backups).toEqual(backups)
    }
  })

  test('VIDIMUS_BACKUPS refuses anything else', () => {
    for (const text of ['24', '24h', '14d', '14d,24h', '24h, 14d', '24h,14d,1w', '-1h,14d', '1000h,1d', '0h,0d', 'none', 'OFF'])
      expectRefused('VIDIMUS_BACKUPS', text)
  })
})

test('HOST is used unchanged, but for the brackets of an IPv6 address', () => {
  for (const host of ['0.0.0.0', '::1', 'localhost', 'till_1.shop.example', 'fe80::1%eth0'])
    expect(loadConfig({ HOST: ` ${host} ` }).host).toBe(host)
  expect(loadConfig({ HOST: '[::1]' }).host).toBe('::1')
})

test('a HOST with a port, a path or a scheme is refused', () => {
  for (const text of ['127.0.0.1:3000', '[::1]:3000', 'localhost:3000', '/run/vidimus.sock', 'http://0.0.0.0', '[localhost]'])
    expectRefused('HOST', text)
})

describe('VIDIMUS_PUBLIC_URL', () => {
  test('VIDIMUS_PUBLIC_URL keeps scheme, host, port and path, and drops a trailing slash', () => {
    for (const [text, url] of [
      ['https://verify.shop.example', 'https://verify.shop.example'],
      ['https://verify.shop.example/', 'https://verify.shop.example'],
      ['http://192.168.1.5:3000', 'http://192.168.1.5:3000'],
      ['https://shop.example/verify/', 'https://shop.example/verify'],
      ['https://shop.example/verify//', 'https://shop.example/verify'],
      ['HTTPS://Shop.Example:443', 'https://shop.example'],
      ['http://[fd00::1]:8080/', 'http://[fd00::1]:8080'],
    ] as const) {
      expect(loadConfig({ VIDIMUS_PUBLIC_URL: text }).publicUrl).toBe(url)
    }
  })

  test('VIDIMUS_PUBLIC_URL defaults to PORT, and is empty while the system chooses the port', () => {
    expect(loadConfig({ PORT: '8080' }).publicUrl).toBe('http://localhost:8080')
    expect(loadConfig({ PORT: '0' }).publicUrl).toBe('')
  })

  test('VIDIMUS_PUBLIC_URL defaults to https when the service has a certificate', () => {
    const env = { PORT: '8443', VIDIMUS_TLS_CERT: 'cert.pem', VIDIMUS_TLS_KEY: 'key.pem' }
    expect(loadConfig(env).publicUrl).toBe('https://localhost:8443')
  })

  test('VIDIMUS_PUBLIC_URL refuses anything but an http(s) address', () => {
    for (const text of [
      'verify.shop.example',
      'ftp://shop.example',
      'https://',
      'javascript:alert(1)',
      '/verify',
      'localhost:3000',
    ]) {
      expectRefused('VIDIMUS_PUBLIC_URL', text)
    }
  })

  test('VIDIMUS_PUBLIC_URL refuses a query, a fragment, a user or a password, even when empty', () => {
    for (const text of [
      'https://shop.example/?a=1',
      'https://shop.example/?',
      'https://shop.example?',
      'https://shop.example/#top',
      'https://shop.example/#',
      'https://user@shop.example',
      'https://user:secret@shop.example',
      'https://:secret@shop.example',
    ]) {
      expectRefused('VIDIMUS_PUBLIC_URL', text)
    }
  })

  test('a password in VIDIMUS_PUBLIC_URL is not quoted in the message', () => {
    expect(refusalOf({ VIDIMUS_PUBLIC_URL: 'https://user:hunter2@shop.example' })).not.toContain('hunter2')
  })
})

test('VIDIMUS_DATA_DIR is used unchanged', () => {
  expect(loadConfig({ VIDIMUS_DATA_DIR: ' /var/lib/vidimus ' }).dataDir).toBe('/var/lib/vidimus')
})

describe('VIDIMUS_LOG', () => {
  test('VIDIMUS_LOG accepts each level', () => {
    for (const level of LOG_LEVELS) expect(loadConfig({ VIDIMUS_LOG: level }).log).toBe(level)
  })

  test('VIDIMUS_LOG refuses an unknown level and names the known ones', () => {
    for (const text of ['INFO', 'trace', 'warning', '0', 'toString']) expectRefused('VIDIMUS_LOG', text)
    for (const level of LOG_LEVELS) expect(refusalOf({ VIDIMUS_LOG: 'loud' })).toContain(level)
  })
})

describe('VIDIMUS_EGRESS_ALLOW', () => {
  test('VIDIMUS_EGRESS_ALLOW accepts a list of destinations', () => {
    expect(loadConfig({ VIDIMUS_EGRESS_ALLOW: '192.168.10.20:8443, 10.1.2.0/24:80,[fd00::1]:8443' }).egressAllow).toEqual([
      { address: '192.168.10.20', prefix: 32, port: 8443 },
      { address: '10.1.2.0', prefix: 24, port: 80 },
      { address: 'fd00::1', prefix: 128, port: 8443 },
    ])
  })

  test('VIDIMUS_EGRESS_ALLOW accepts up to 32 destinations', () => {
    const list = (count: number) => Array.from({ length: count }, (_, i) => `10.0.0.${i}:80`).join(',')
    expect(loadConfig({ VIDIMUS_EGRESS_ALLOW: list(32) }).egressAllow).toHaveLength(32)
    expectRefused('VIDIMUS_EGRESS_ALLOW', list(33))
  })

  test('VIDIMUS_EGRESS_ALLOW refuses forbidden and malformed destinations', () => {
    for (const text of [
      '192.168.10.20',
      'shop.local:80',
      '10.0.0.0/23:80',
      '169.254.169.254:80',
      '10.0.0.1:0',
      '10.0.0.1:65536',
      'x',
    ]) {
      expectRefused('VIDIMUS_EGRESS_ALLOW', text)
    }
  })

  test('VIDIMUS_EGRESS_ALLOW accepts ports from 1 to 65535', () => {
    for (const port of [1, 65_535]) {
      expect(loadConfig({ VIDIMUS_EGRESS_ALLOW: `10.0.0.1:${port}` }).egressAllow[0]?.port).toBe(port)
    }
  })
})

describe('VIDIMUS_TRUSTED_PROXIES', () => {
  test('VIDIMUS_TRUSTED_PROXIES accepts a list of addresses and networks', () => {
    expect(loadConfig({ VIDIMUS_TRUSTED_PROXIES: '127.0.0.1, 10.0.0.0/8' }).trustedProxies).toEqual([
      { bytes: Uint8Array.of(127, 0, 0, 1), prefix: 32 },
      { bytes: Uint8Array.of(10, 0, 0, 0), prefix: 8 },
    ])
  })

  test('VIDIMUS_TRUSTED_PROXIES refuses anything else', () => {
    for (const text of ['proxy.local', '10.0.0.0/33', '10.0.0', '10.0.0.1:80', 'loopback']) {
      expectRefused('VIDIMUS_TRUSTED_PROXIES', text)
    }
  })
})

describe('VIDIMUS_TLS_CERT and VIDIMUS_TLS_KEY', () => {
  test('both together set the two files', () => {
    expect(loadConfig({ VIDIMUS_TLS_CERT: 'cert.pem', VIDIMUS_TLS_KEY: 'key.pem' }).tls).toEqual({
      certFile: 'cert.pem',
      keyFile: 'key.pem',
    })
  })

  test('one without the other is refused; the message names the missing one', () => {
    expect(refusalOf({ VIDIMUS_TLS_CERT: 'cert.pem' })).toStartWith('VIDIMUS_TLS_KEY: ')
    expect(refusalOf({ VIDIMUS_TLS_KEY: 'key.pem' })).toStartWith('VIDIMUS_TLS_CERT: ')
  })
})

describe('VIDIMUS_METRICS_TOKEN', () => {
  test('VIDIMUS_METRICS_TOKEN accepts 16 to 256 printable ASCII characters', () => {
    for (const token of ['0123456789abcdef', '!'.repeat(256)]) {
      expect(loadConfig({ VIDIMUS_METRICS_TOKEN: token }).metricsToken).toBe(token)
    }
  })

  test('VIDIMUS_METRICS_TOKEN refuses short, long and spaced tokens without quoting them', () => {
    for (const token of ['0123456789abcde', 'x'.repeat(257), '0123456789 abcdef', '0123456789abcdefé']) {
      expectRefused('VIDIMUS_METRICS_TOKEN', token)
      expect(refusalOf({ VIDIMUS_METRICS_TOKEN: token })).not.toContain(token)
    }
  })
})

describe('VIDIMUS_SANDBOX', () => {
  test('VIDIMUS_SANDBOX accepts on and off', () => {
    expect(loadConfig({ VIDIMUS_SANDBOX: 'off' }).hasSandbox).toBe(false)
    for (const text of ['no', 'OFF', 'false', '0']) expectRefused('VIDIMUS_SANDBOX', text)
  })
})

describe('VIDIMUS_RATE_LIMIT_SCALE', () => {
  test('VIDIMUS_RATE_LIMIT_SCALE accepts plain numbers from 0 to 1000', () => {
    for (const [text, scale] of [
      ['0', 0],
      ['0.5', 0.5],
      ['0.000001', 0.000001],
      ['10', 10],
      ['999.999999', 999.999999],
      ['1000', 1000],
    ] as const) {
      expect(loadConfig({ VIDIMUS_RATE_LIMIT_SCALE: text }).rateLimitScale).toBe(scale)
    }
  })

  test('VIDIMUS_RATE_LIMIT_SCALE refuses anything else', () => {
    for (const text of [
      '-1',
      '-0.5',
      '1000.000001',
      '1001',
      '10000',
      '1e3',
      '.5',
      '1.',
      '1,5',
      'Infinity',
      'NaN',
      'off',
      '0x1',
    ]) {
      expectRefused('VIDIMUS_RATE_LIMIT_SCALE', text)
    }
  })
})

describe('VIDIMUS_WEBHOOK_DELAYS', () => {
  const delays = (text: string) => loadConfig({ VIDIMUS_WEBHOOK_DELAYS: text }).webhookDelaysMs

  test('VIDIMUS_WEBHOOK_DELAYS has one wait per attempt', () => {
    expect(delays('0s')).toEqual([0])
    expect(delays('1s, 2m ,3h')).toEqual([1000, 120_000, 3 * HOUR_MS])
  })

  test('VIDIMUS_WEBHOOK_DELAYS accepts up to twelve attempts', () => {
    expect(delays(new Array(12).fill('1s').join(','))).toHaveLength(12)
    expectRefused('VIDIMUS_WEBHOOK_DELAYS', new Array(13).fill('1s').join(','))
  })

  test('VIDIMUS_WEBHOOK_DELAYS refuses a wait longer than 72 hours', () => {
    for (const text of ['72h', '4320m', '259200s']) expect(delays(text)).toEqual([72 * HOUR_MS])
    for (const text of ['73h', '4321m', '259201s', '999999h']) expectRefused('VIDIMUS_WEBHOOK_DELAYS', text)
  })

  test('VIDIMUS_WEBHOOK_DELAYS refuses anything else', () => {
    for (const text of ['5', '5d', '-1s', '1.5s', '1s,', ',', '1 s', '1s;2s', '1S', '9999999s', 's']) {
      expectRefused('VIDIMUS_WEBHOOK_DELAYS', text)
    }
  })
})

describe('settings for wallets', () => {
  const wallet = (env: Record<string, string>) => loadConfig(env).wallet

  test('VIDIMUS_WALLET_PROFILE is haip or plain', () => {
    for (const profile of ['haip', 'plain'] as const) {
      expect(wallet({ VIDIMUS_WALLET_PROFILE: profile }).profile).toBe(profile)
    }
    for (const text of ['HAIP', 'eu-av', 'none', 'haip,plain']) expectRefused('VIDIMUS_WALLET_PROFILE', text)
  })

  test('VIDIMUS_WALLET_SCHEME is a start of a link: a scheme, with or without an authority, or a universal link', () => {
    const starts = [
      ...['openid4vp', 'haip-vp', 'mdoc-openid4vp', 'eu.europa+x1', 'ab', 'a'.repeat(41)],
      ...['openid4vp://', 'eu-eaap://', 'openid4vp://authorize', 'haip-vp://present.example-1', `vp://${'h'.repeat(100)}`],
      ...['https://wallet.example/', 'https://wallet.example/.well-known/open', `https://wallet.example/${'p'.repeat(200)}`],
    ]
    for (const start of starts) expect(wallet({ VIDIMUS_WALLET_SCHEME: start }).linkStart).toBe(start)
  })

  test.each([
    ...[
      'openid4vp:',
      'openid4vp:/',
      'openid4vp:///',
      'openid4vp:authorize',
      'openid4vp://a:80',
      'openid4vp://u@h',
      'openid4vp://h/',
    ],
    ...[
      'openid4vp://?',
      'openid4vp://#',
      'openid4vp://h?x=1',
      'openid4vp://A',
      'openid4vp://a b',
      'OpenID4VP',
      'OPENID4VP://',
      '4vp',
    ],
    ...['a', 'a'.repeat(42), `${'a'.repeat(42)}://`, 'a b', 'a/b', '-vp', '//authorize', '://', `vp://${'h'.repeat(101)}`],
    ...['https://wallet.example', 'https://wallet.example:8443/', 'https://u@wallet.example/', 'https://u:p@wallet.example/'],
    ...[
      'https://wallet.example/?x',
      'https://wallet.example/#x',
      'https://Wallet.example/',
      'https:///open',
      'http://wallet.example/',
    ],
    ...[`https://wallet.example/${'p'.repeat(201)}`, 'https://wallet.example/a b', 'https://wallet.example/"', 'x'.repeat(300)],
    ...['javascript:alert(1)', 'openid4vp,haip-vp', 'eu-eaap://,haip-vp://', 'ünid://'],
  ])('VIDIMUS_WALLET_SCHEME refuses %j', text => expectRefused('VIDIMUS_WALLET_SCHEME', text))

  test.each([
    ['is opened by browsers', 'http https javascript data file vbscript blob about ftp ws wss mailto'],
    ['belongs to another protocol', 'av mdoc'],
    ['issues credentials', 'haip-vci openid-credential-offer eu-eaa-offer'],
  ])('VIDIMUS_WALLET_SCHEME refuses a scheme that %s', (reason, schemes) => {
    for (const scheme of schemes.split(' '))
      for (const text of [scheme, `${scheme}://`]) {
        if (text === 'https://') continue
        expect(() => wallet({ VIDIMUS_WALLET_SCHEME: text })).toThrow(reason)
      }
  })

  test('VIDIMUS_REQUEST_URI_METHOD is get or post, VIDIMUS_VERIFIER_INFO_DATA jwt or base64url', () => {
    expect(wallet({ VIDIMUS_REQUEST_URI_METHOD: 'post' }).requestUriMethod).toBe('post')
    expect(wallet({ VIDIMUS_VERIFIER_INFO_DATA: 'base64url' }).verifierInfoData).toBe('base64url')
    for (const text of ['POST', 'put', 'get,post', 'auto']) expectRefused('VIDIMUS_REQUEST_URI_METHOD', text)
    for (const text of ['JWT', 'cwt', 'base64', 'both']) expectRefused('VIDIMUS_VERIFIER_INFO_DATA', text)
  })

  test('VIDIMUS_CLIENT_ID is x509_hash or x509_san_dns', () => {
    for (const prefix of ['x509_hash', 'x509_san_dns'] as const) {
      expect(wallet({ VIDIMUS_CLIENT_ID: prefix }).clientIdPrefix).toBe(prefix)
    }
    for (const text of ['x509_san_uri', 'redirect_uri', 'verify.example', 'X509_HASH']) expectRefused('VIDIMUS_CLIENT_ID', text)
  })

  test('VIDIMUS_REGISTRATION_CERT is used unchanged', () => {
    expect(wallet({ VIDIMUS_REGISTRATION_CERT: ' wrprc.jwt ' }).registrationCertFile).toBe('wrprc.jwt')
  })
})

describe('PostgreSQL', () => {
  const database = (url: string, env: Record<string, string> = {}) =>
    loadConfig({ VIDIMUS_DATABASE_URL: url, ...env }).database as NonNullable<Config['database']>

  function fileWith(text: string): string {
    const file = join(mkdtempSync(join(tmpdir(), 'vidimus-config-')), 'file')
    writeFileSync(file, text)
    return file
  }

  test('VIDIMUS_DATABASE_URL names user, password, host, port and database', () => {
    expect(database('postgres://shop:p%40ss%2F@db.example:6432/vidimus?sslmode=verify-full')).toEqual({
      user: 'shop',
      password: 'p@ss/',
      host: 'db.example',
      port: 6432,
      socket: undefined,
      others: [],
      database: 'vidimus',
      tls: 'verify-full',
      connections: 16,
      prepare: true,
      ca: undefined,
      listen: undefined,
      owner: undefined,
    })
    expect(database('postgresql://shop@[::1]/v')).toMatchObject({ host: '::1', port: 5432, tls: 'off', password: '' })
  })

  test('several hosts are a primary and its standbys', () => {
    const { host, port, others } = database('postgres://shop@a.example,b.example:5433,[fd00::5]:5434/v?sslmode=verify-full')
    expect({ host, port, others }).toEqual({
      host: 'a.example',
      port: 5432,
      others: [
        { host: 'b.example', port: 5433, socket: undefined },
        { host: 'fd00::5', port: 5434, socket: undefined },
      ],
    })
    expectRefusedUrl(`postgres://shop@${'a,'.repeat(8)}a/v?sslmode=require`)
    expectRefusedUrl('postgres://shop@a,,b/v?sslmode=require')
  })

  test('a socket is named by its directory, with or without a host', () => {
    for (const url of [
      'postgres://shop@/v?host=/run/pg/',
      'postgres:///v?host=/run/pg',
      'postgres://shop@localhost:5432/v?host=/run/pg',
    ])
      if (url.includes('shop')) expect(database(url)).toMatchObject({ socket: '/run/pg/.s.PGSQL.5432', tls: 'off' })
      else expectRefusedUrl(url)
    expectRefusedUrl('postgres://shop@/v?host=run')
    expectRefusedUrl('postgres://shop@a,b/v?host=/run/pg')
  })

  test('a database on another machine needs sslmode, and one of all hosts on another machine is enough', () => {
    for (const host of ['db', '10.0.0.5', 'db.example', 'localhost,db.example']) {
      expectRefusedUrl(`postgres://shop:hunter2@${host}/v`)
      expectRefusedUrl(`postgres://shop:hunter2@${host}/v?sslmode=disable`)
      expectRefusedUrl(`postgres://shop:hunter2@${host}/v?sslmode=prefer`)
      for (const mode of ['require', 'verify-ca', 'verify-full'])
        expect(database(`postgres://shop@${host}/v?sslmode=${mode}`).tls).toBe(mode as 'require')
    }
    for (const host of ['localhost', '127.0.0.1', '[::1]']) {
      expect(database(`postgres://shop@${host}/v`).tls).toBe('off')
      expect(database(`postgres://shop@${host}/v?sslmode=disable`).tls).toBe('off')
    }
  })

  test('no refusal of VIDIMUS_DATABASE_URL quotes its password', () => {
    for (const url of [
      'postgres://user:hunter2@db/vidimus',
      'postgres://user:hunter2@/',
      'postgres://:hunter2@localhost/v',
      'postgres://user:hunter2%@localhost/v',
      'postgres://user:hunter2@localhost/v?pool=hunter2x',
      'postgres://user:hunter2@localhost/v?sslmode=hunter3',
      'postgres://user:hunter2@lo cal/v',
      'postgres://user:hunt?hunter2@localhost/v',
      'postgres://user:hunt/hunter2@localhost/v',
      'postgres://user:hunter2@a/b@localhost/v',
      'mysql://user:hunter2@localhost/v',
      'user:hunter2@localhost/v',
    ])
      expectRefusedUrl(url)
  })

  function expectRefusedUrl(url: string): void {
    const message = refusalOf({ VIDIMUS_DATABASE_URL: url })
    expect(message).toStartWith('VIDIMUS_DATABASE_URL: ')
    expect(message).not.toContain('hunter')
  }

  test('VIDIMUS_DATABASE_PASSWORD_FILE holds the password, without the line end of an editor', () => {
    const env = { VIDIMUS_DATABASE_PASSWORD_FILE: fileWith(' p@ss word \n') }
    expect(database('postgres://shop@localhost/v', env).password).toBe(' p@ss word ')
    const refused = (url: string, file: string) => refusalOf({ VIDIMUS_DATABASE_URL: url, VIDIMUS_DATABASE_PASSWORD_FILE: file })
    expect(refused('postgres://shop:hunter2@localhost/v', fileWith('hunter3'))).not.toContain('hunter')
    expect(refused('postgres://shop@localhost/v', fileWith('\n'))).toContain('is empty')
    expect(refused('postgres://shop@localhost/v', '/nowhere/password')).toContain('cannot read /nowhere/password (ENOENT)')
  })

  test('files of VIDIMUS_DATABASE_PASSWORD_FILE and VIDIMUS_DATABASE_CA are read up to one mebibyte', () => {
    const url = 'postgres://shop@db/v?sslmode=verify-full'
    const large = fileWith('x'.repeat(1024 * 1024 + 1))
    for (const name of ['VIDIMUS_DATABASE_PASSWORD_FILE', 'VIDIMUS_DATABASE_CA'])
      for (const file of [large, '/dev/zero'])
        expect(refusalOf({ VIDIMUS_DATABASE_URL: url, [name]: file })).toBe(
          `${name}: ${file} is larger than 1024 KiB; name the right file`,
        )
  })

  test('VIDIMUS_DATABASE_CA is read, and refused where nobody would look at it', () => {
    const env = { VIDIMUS_DATABASE_CA: fileWith('PEM') }
    expect(database('postgres://shop@db/v?sslmode=verify-full', env).ca).toBe('PEM')
    const message = refusalOf({ VIDIMUS_DATABASE_URL: 'postgres://shop@db/v?sslmode=require', ...env })
    expect(message).toStartWith('VIDIMUS_DATABASE_CA: ')
  })

  test('VIDIMUS_DATABASE_LISTEN_URL goes with VIDIMUS_DATABASE_PREPARE=off, and takes over the password', () => {
    const url = 'postgres://shop:hunter2@localhost:6432/v'
    const listen = { VIDIMUS_DATABASE_LISTEN_URL: 'postgres://shop@localhost:5432/v' }
    expect(database(url, { ...listen, VIDIMUS_DATABASE_PREPARE: 'off' })).toMatchObject({
      prepare: false,
      listen: { port: 5432, password: 'hunter2' },
    })
    expect(refusalOf({ VIDIMUS_DATABASE_URL: url, ...listen })).toStartWith('VIDIMUS_DATABASE_LISTEN_URL: ')
  })

  test('VIDIMUS_DATABASE_CONNECTIONS is a number from 6 to 200', () => {
    const connections = (text: string) =>
      database('postgres://shop@localhost/v', { VIDIMUS_DATABASE_CONNECTIONS: text }).connections
    expect([connections('6'), connections('200')]).toEqual([6, 200])
    for (const text of ['5', '201', 'many']) expect(() => connections(text)).toThrow('VIDIMUS_DATABASE_CONNECTIONS')
  })

  test('settings of one kind of database are refused with the other', () => {
    for (const name of ['OWNER_URL', 'PASSWORD_FILE', 'CA', 'LISTEN_URL']) {
      const message = refusalOf({ [`VIDIMUS_DATABASE_${name}`]: 'postgres://owner:hunter2@localhost/v' })
      expect(message).toBe(`VIDIMUS_DATABASE_${name}: this is for PostgreSQL; set VIDIMUS_DATABASE_URL too, or remove it`)
    }
    const url = { VIDIMUS_DATABASE_URL: 'postgres://shop@localhost/v' }
    expect(refusalOf({ ...url, VIDIMUS_BACKUPS: '24h,14d' })).toMatch(/^VIDIMUS_BACKUPS: .*pgBackRest.*pg_dump$/)
    expect(loadConfig({ ...url, VIDIMUS_BACKUPS: 'off' }).backups).toBeUndefined()
    expect(loadConfig(url).backups).toBeUndefined()
  })
})

test('VIDIMUS_OIDC accepts on and off', () => {
  expect(loadConfig({ VIDIMUS_OIDC: 'off' }).hasOidc).toBe(false)
  for (const text of ['no', 'OFF', 'false', '0']) expectRefused('VIDIMUS_OIDC', text)
})
