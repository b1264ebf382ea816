import { afterAll, describe, expect, test } from 'bun:test'
import { execFileSync } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { join } from 'node:path'
import { connect, type TLSSocket } from 'node:tls'
import { issueAuthority, issueLeaf } from '../../src/signing/authority.ts'
import { cleanUp, temporaryDir, until } from '../helpers/app.ts'
import { type Served, serve, vidimus as spawnVidimus, stopServing } from '../helpers/cli.ts'
import { vidimus, vidimusJson } from '../helpers/command.ts'
import { canInject, injecting, titled } from '../helpers/crash/system-calls.ts'
import { modeOf, namesIn } from '../helpers/directories.ts'

afterAll(async () => {
  await stopServing()
  await cleanUp()
})

type Made = { cert: string; key: string; ca: string; hosts: string[]; not_after: string; new_ca: boolean }

const DAY_MS = 86_400_000
const random = (count: number) => crypto.getRandomValues(new Uint8Array(count))

/** A certificate with its key, valid for some days. */
async function pairIn(folder: string, { days, at = Date.now() }: { days: number; at?: number }) {
  const authority = await issueAuthority({ name: 'Test', at, random })
  const leaf = await issueLeaf({ authority, name: 'localhost', hosts: ['localhost'], days, forServers: true, at, random })
  const files = { cert: join(folder, 'c.pem'), key: join(folder, 'k.pem') }
  writeFileSync(files.cert, leaf.chain)
  writeFileSync(files.key, leaf.privateKey.export({ format: 'pem', type: 'pkcs8' }))
  return files
}

const tlsOf = ({ cert, key }: { cert: string; key: string }) => ({ VIDIMUS_TLS_CERT: cert, VIDIMUS_TLS_KEY: key })

const handshake = (url: string, ca: string): Promise<TLSSocket> =>
  new Promise((resolve, reject) => {
    const socket = connect(
      { host: '127.0.0.1', port: Number(new URL(url).port), servername: 'localhost', ca: readFileSync(ca) },
      () => resolve(socket),
    )
    socket.once('error', reject)
  })

/** The fingerprint of the certificate on a new connection, checked against the authority. */
async function shown(url: string, ca: string): Promise<string> {
  const socket = await handshake(url, ca)
  const { fingerprint256 } = socket.getPeerCertificate()
  socket.destroy()
  return fingerprint256
}

const fingerprintOf = (file: string): string => new X509Certificate(readFileSync(file)).fingerprint256

type LogLine = { level: string; event: string; detail?: string }

/** The log as it grows. */
function logOf({ process }: Served): LogLine[] {
  const lines: LogLine[] = []
  const read = async () => {
    let rest = ''
    const decoder = new TextDecoder()
    for await (const chunk of process.stderr) {
      const texts = (rest + decoder.decode(chunk, { stream: true })).split('\n')
      rest = texts.pop() ?? ''
      lines.push(...texts.map(text => JSON.parse(text)))
    }
  }
  read()
  return lines
}

const about = (log: LogLine[]) => log.filter(({ event }) => event.startsWith('tls.'))

describe('vidimus tls init', () => {
  test('makes an authority of ten years and a certificate of 397 days, with keys that only their owner can read', async () => {
    const dir = temporaryDir()
    const made = await vidimusJson<Made>(dir, 'tls', 'init', '--host', 'till-server.lan', '--host', '192.168.10.2')
    expect(made).toMatchObject({ hosts: ['till-server.lan', '192.168.10.2'], new_ca: true, cert: join(dir, 'tls', 'cert.pem') })
    expect(namesIn(join(dir, 'tls'))).toEqual(['ca.key', 'ca.pem', 'cert.pem', 'key.pem'])
    expect([modeOf(join(dir, 'tls')), modeOf(made.key), modeOf(join(dir, 'tls', 'ca.key'))]).toEqual(['700', '600', '600'])
    const ca = new X509Certificate(readFileSync(made.ca))
    const leaf = new X509Certificate(readFileSync(made.cert))
    const daysOf = (certificate: X509Certificate) => Math.round((certificate.validToDate.getTime() - Date.now()) / DAY_MS)
    expect([ca.ca, daysOf(ca), leaf.ca, daysOf(leaf)]).toEqual([true, 3650, false, 397])
    expect(leaf.verify(ca.publicKey)).toBe(true)
    expect(leaf.subjectAltName).toBe('DNS:till-server.lan, IP Address:192.168.10.2')
    expect(leaf.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1'])
  })

  test('without --host names the public host, localhost and the addresses of the machine, and says what to do next', async () => {
    const dir = temporaryDir()
    const out = temporaryDir()
    const run = await vidimus(dir, ['tls', 'init', '--out', out], { VIDIMUS_PUBLIC_URL: 'https://verify.shop.example' })
    expect([run.exitCode, run.stderr]).toEqual([0, ''])
    expect(run.stdout).toContain(`VIDIMUS_TLS_CERT=${join(out, 'cert.pem')}\n  VIDIMUS_TLS_KEY=${join(out, 'key.pem')}\n`)
    expect(run.stdout).toContain(`Install the authority on every till: ${join(out, 'ca.pem')}`)
    expect(run.stdout).toMatch(/phones will not trust it/)
    expect(new X509Certificate(readFileSync(join(out, 'cert.pem'))).subjectAltName).toMatch(
      /^DNS:verify\.shop\.example, .*DNS:localhost, IP Address:127\.0\.0\.1$/,
    )
    expect(namesIn(dir)).toEqual([])
  })

  test('called again keeps the authority, and renews the certificate for the same names under a new key', async () => {
    const dir = temporaryDir()
    const first = await vidimusJson<Made>(dir, 'tls', 'init', '--host', 'a.lan', '--host', 'fd00::1')
    const before = [first.ca, join(dir, 'tls', 'ca.key'), first.key, first.cert].map(file => readFileSync(file, 'utf8'))
    const again = await vidimusJson<Made>(dir, 'tls', 'init')
    const after = [first.ca, join(dir, 'tls', 'ca.key'), first.key, first.cert].map(file => readFileSync(file, 'utf8'))
    expect(after.map((text, i) => text === before[i])).toEqual([true, true, false, false])
    expect(again).toMatchObject({ new_ca: false })
    const leaf = new X509Certificate(readFileSync(again.cert))
    expect(leaf.verify(new X509Certificate(readFileSync(again.ca)).publicKey)).toBe(true)
    expect(leaf.checkHost('a.lan')).toBe('a.lan')
    expect(leaf.checkIP('fd00::1')).toBeTruthy()
  })

  test('replaces neither half an authority nor a certificate from elsewhere', async () => {
    const dir = temporaryDir()
    const made = await vidimusJson<Made>(dir, 'tls', 'init', '--host', 'a.lan')
    const elsewhere = temporaryDir()
    copyFileSync(made.cert, join(elsewhere, 'cert.pem'))
    const foreign = await vidimus(dir, ['tls', 'init', '--out', elsewhere])
    expect([foreign.exitCode, foreign.stdout]).toEqual([1, ''])
    expect(foreign.stderr).toMatch(/not from this authority; choose another directory/)
    expect(namesIn(elsewhere)).toEqual(['cert.pem'])
    rmSync(join(dir, 'tls', 'ca.key'))
    const half = await vidimus(dir, ['tls', 'init'])
    expect(half.exitCode).toBe(1)
    expect(half.stderr).toMatch(/incomplete; put both back/)
    expect(namesIn(join(dir, 'tls'))).toEqual(['ca.pem', 'cert.pem', 'key.pem'])
  })

  test.each([
    [['tls'], 2, /needs a subcommand: tls init/],
    [['tls', 'init', '--host', 'a b'], 2, /neither a host name nor an address/],
    [['tls', 'init', 'more'], 2, /takes no "more"/],
    [['tls', 'init', '--out', '/dev/null/x'], 1, /choose another with --out/],
  ] as [string[], number, RegExp][])('%j exits %d and says what to do', async (args, code, message) => {
    const run = await vidimus(temporaryDir(), args)
    expect([run.exitCode, run.stdout]).toEqual([code, ''])
    expect(run.stderr).toMatch(message)
  })
})

describe('serve', () => {
  test.each([
    [
      'a key of another certificate',
      /VIDIMUS_TLS_KEY: .* is not the key of the first certificate/,
      async (dir: string) => {
        const one = await pairIn(dir, { days: 30 })
        const other = await pairIn(temporaryDir(), { days: 30 })
        return { ...one, key: other.key }
      },
    ],
    [
      'no certificate',
      /VIDIMUS_TLS_CERT: .* holds no readable certificate/,
      async (dir: string) => {
        const { key } = await pairIn(dir, { days: 30 })
        return { cert: key, key }
      },
    ],
    [
      'no key',
      /VIDIMUS_TLS_KEY: .* holds no readable private key/,
      async (dir: string) => {
        const { cert } = await pairIn(dir, { days: 30 })
        return { cert, key: cert }
      },
    ],
    [
      'a file that is not there',
      /VIDIMUS_TLS_CERT: cannot read/,
      async (dir: string) => ({
        ...(await pairIn(dir, { days: 30 })),
        cert: join(dir, 'none.pem'),
      }),
    ],
    [
      'a device without an end',
      /VIDIMUS_TLS_KEY: \/dev\/zero is larger than 1024 KiB/,
      async (dir: string) => ({ ...(await pairIn(dir, { days: 30 })), key: '/dev/zero' }),
    ],
  ] as [string, RegExp, (dir: string) => Promise<{ cert: string; key: string }>][])(
    'with %s does not start, and says so in one line',
    async (_, message, make) => {
      const run = await spawnVidimus(temporaryDir(), ['serve'], { PORT: '0', ...tlsOf(await make(temporaryDir())) })
      expect([run.exitCode, run.stdout]).toEqual([1, ''])
      expect(run.stderr).toMatch(message)
      expect(run.stderr.trim().split('\n')).toHaveLength(1)
    },
  )

  test('with an expired certificate starts, and logs a warning', async () => {
    const files = await pairIn(temporaryDir(), { days: 30, at: Date.now() - 60 * DAY_MS })
    const service = await serve(temporaryDir(), [], tlsOf(files))
    const log = logOf(service)
    await until(async () => about(log).length > 0)
    expect(about(log)).toMatchObject([{ level: 'warn', event: 'tls.certificate_expired' }])
  })

  test('with a certificate that is not valid yet starts, and logs a warning', async () => {
    const begin = Date.now() + 2 * DAY_MS
    const files = await pairIn(temporaryDir(), { days: 30, at: begin })
    const service = await serve(temporaryDir(), [], tlsOf(files))
    const log = logOf(service)
    await until(async () => about(log).length > 0)
    const detail = expect.stringMatching(/^it is valid from \d{4}-.*Z on; .* if the time is wrong here, set the clock right$/)
    expect(about(log)).toMatchObject([{ level: 'warn', event: 'tls.certificate_not_yet_valid', detail }])
  })
})

/** The protocol and suite of one handshake; undefined when there was none. */
async function negotiated(url: string, ...args: string[]): Promise<string | undefined> {
  const client = Bun.spawn(['openssl', 's_client', '-connect', new URL(url).host, ...args], {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'ignore',
  })
  return /^New, TLS.*, Cipher is (?!\(NONE\)).*$/m.exec(await new Response(client.stdout).text())?.[0]
}

const NOT_AEAD = 'ALL:!AESGCM:!CHACHA20:!AESCCM:!ARIAGCM:@SECLEVEL=0'

describe('handshakes', () => {
  for (const kind of ['ec', 'rsa']) {
    test(`with an ${kind} key use only TLS 1.2 and 1.3 with AEAD and forward secrecy, before and after SIGHUP`, async () => {
      const [cert, key] = ['c.pem', 'k.pem'].map(name => join(temporaryDir(), name)) as [string, string]
      const keyType = kind === 'ec' ? ['ec', '-pkeyopt', 'ec_paramgen_curve:P-256'] : ['rsa:2048']
      const made = ['req', '-x509', '-newkey', ...keyType, '-nodes', '-subj', '/CN=localhost', '-keyout', key, '-out', cert]
      execFileSync('openssl', made, { stdio: 'ignore' })
      const service = await serve(temporaryDir(), [], { ...tlsOf({ cert, key }), VIDIMUS_LOG: 'info' })
      const log = logOf(service)
      const expectOnlyGood = async () => {
        const name = kind === 'ec' ? 'ECDSA' : 'RSA'
        expect(await negotiated(service.url, '-tls1_3')).toStartWith('New, TLSv1.3, Cipher is TLS_')
        for (const suite of ['AES128-GCM-SHA256', 'AES256-GCM-SHA384', 'CHACHA20-POLY1305']) {
          const cipher = `ECDHE-${name}-${suite}`
          expect(await negotiated(service.url, '-tls1_2', '-cipher', cipher)).toBe(`New, TLSv1.2, Cipher is ${cipher}`)
        }
        const refused = [
          ['-tls1_2', '-cipher', NOT_AEAD],
          ['-tls1_2', '-cipher', 'ALL:!kECDHE:@SECLEVEL=0'],
          ['-tls1_1', '-cipher', 'ALL:@SECLEVEL=0'],
          ['-tls1', '-cipher', 'ALL:@SECLEVEL=0'],
        ]
        for (const args of refused) expect([args, await negotiated(service.url, ...args)]).toEqual([args, undefined])
      }
      await expectOnlyGood()
      service.process.kill('SIGHUP')
      await until(async () => log.some(({ event }) => event === 'tls.reloaded'))
      await expectOnlyGood()
    })
  }
})

describe('SIGHUP', () => {
  test('gives new connections the new certificate, and an open request is answered on the old one', async () => {
    const dir = temporaryDir()
    const first = await vidimusJson<Made>(dir, 'tls', 'init', '--host', 'localhost')
    const service = await serve(dir, ['--dev'], { ...tlsOf(first), VIDIMUS_LOG: 'info' })
    const log = logOf(service)
    const before = fingerprintOf(first.cert)
    expect(await shown(service.url, first.ca)).toBe(before)

    // The headers are sent, the body is not: the request stays open until the test ends it.
    const body = '{"template":"age_over_18"}'
    const underWay = request(`${service.url}/v1/verifications`, {
      method: 'POST',
      ca: readFileSync(first.ca),
      servername: 'localhost',
      agent: false,
      checkServerIdentity: () => undefined,
      headers: {
        'content-type': 'application/json',
        'content-length': String(body.length),
        authorization: `Bearer ${service.first.test_key}`,
      },
    })
    let isAnswered = false
    const answered = new Promise<number>((resolve, reject) => {
      underWay.once('response', response => {
        isAnswered = true
        resolve(response.statusCode ?? 0)
      })
      underWay.once('error', reject)
    })
    underWay.write(body.slice(0, 5))
    await until(async () => log.some(({ event }) => event === 'service.started'))

    await vidimusJson<Made>(dir, 'tls', 'init')
    const after = fingerprintOf(first.cert)
    expect(after).not.toBe(before)
    expect(await shown(service.url, first.ca)).toBe(before)
    service.process.kill('SIGHUP')
    await until(async () => log.some(({ event }) => event === 'tls.reloaded'))
    expect(await shown(service.url, first.ca)).toBe(after)
    expect(isAnswered).toBe(false)
    underWay.end(body.slice(5))
    expect(await answered).toBe(201)
    expect((await fetch(`${service.url}/readyz`, { tls: { rejectUnauthorized: false } })).status).toBe(200)

    service.process.kill('SIGTERM')
    expect(await service.process.exited).toBe(0)
  })

  test('changes the seconds left of the certificate in /metrics', async () => {
    const folder = temporaryDir()
    const service = await serve(temporaryDir(), [], { ...tlsOf(await pairIn(folder, { days: 10 })), VIDIMUS_LOG: 'info' })
    const log = logOf(service)
    const daysLeft = async () => {
      const page = await (await fetch(`${service.url}/metrics`, { tls: { rejectUnauthorized: false } })).text()
      return Math.round(Number(/^vidimus_tls_certificate_seconds_left (\d+)$/m.exec(page)?.[1]) / 86_400)
    }
    expect(await daysLeft()).toBe(10)
    await pairIn(folder, { days: 90 })
    expect(await daysLeft()).toBe(10)
    service.process.kill('SIGHUP')
    await until(async () => log.some(({ event }) => event === 'tls.reloaded'))
    expect(await daysLeft()).toBe(90)
  })

  test('refuses a pair that does not match with one line and keeps the old certificate; a good pair is taken later', async () => {
    const dir = temporaryDir()
    const made = await vidimusJson<Made>(dir, 'tls', 'init', '--host', 'localhost')
    const service = await serve(dir, [], { ...tlsOf(made), VIDIMUS_LOG: 'info' })
    const log = logOf(service)
    const before = fingerprintOf(made.cert)
    const key = readFileSync(made.key)
    await vidimusJson<Made>(dir, 'tls', 'init')
    const renewedKey = readFileSync(made.key)
    writeFileSync(made.key, key)
    service.process.kill('SIGHUP')
    await until(async () => about(log).length === 1)
    expect(about(log)).toMatchObject([
      { level: 'error', event: 'tls.not_reloaded', detail: expect.stringContaining('not the key') },
    ])
    expect(await shown(service.url, made.ca)).toBe(before)
    writeFileSync(made.key, renewedKey)
    service.process.kill('SIGHUP')
    await until(async () => about(log).length === 2)
    expect(await shown(service.url, made.ca)).toBe(fingerprintOf(made.cert))
    expect(JSON.stringify(log)).not.toContain('PRIVATE KEY')
  })

  test.skipIf(!canInject)(
    titled('exits 1 with a line in the log when another program takes the port in between, and the next service can start'),
    async () => {
      const dir = temporaryDir()
      const env = { ...tlsOf(await pairIn(temporaryDir(), { days: 30 })), VIDIMUS_LOG: 'info' }
      // The first call of listen is the start's, the second tries the new pair.
      const service = await serve(dir, [], env, injecting('listen', 'error=EADDRINUSE:when=3+'))
      const log = logOf(service)
      service.process.kill('SIGHUP')
      expect(await service.process.exited).toBe(1)
      await until(async () => about(log).length > 0)
      const { port } = new URL(service.url)
      const detail = expect.stringContaining(`cannot listen on 127.0.0.1:${port} (EADDRINUSE)`)
      expect(about(log)).toMatchObject([{ level: 'error', event: 'tls.port_lost', detail }])
      const next = await serve(dir, [], env)
      expect((await fetch(`${next.url}/readyz`, { tls: { rejectUnauthorized: false } })).status).toBe(200)
    },
  )

  test('15 times in a row leaves one listener, and a service that stops with 0', async () => {
    const dir = temporaryDir()
    const made = await vidimusJson<Made>(dir, 'tls', 'init', '--host', 'localhost')
    const service = await serve(dir, [], { ...tlsOf(made), VIDIMUS_LOG: 'info' })
    const log = logOf(service)
    for (let times = 1; times <= 15; times++) {
      service.process.kill('SIGHUP')
      await until(async () => about(log).length === times)
    }
    expect(new Set(about(log).map(({ event }) => event))).toEqual(new Set(['tls.reloaded']))
    expect(await shown(service.url, made.ca)).toBe(fingerprintOf(made.cert))
    // A second service still cannot listen there.
    const second = await spawnVidimus(temporaryDir(), ['serve'], { PORT: new URL(service.url).port, ...tlsOf(made) })
    expect(second.exitCode).toBe(1)
    expect(second.stderr).toMatch(/cannot listen on .* \(EADDRINUSE\)/)
    service.process.kill('SIGTERM')
    expect(await service.process.exited).toBe(0)
  })

  test('while the service stops does not keep it from exiting', async () => {
    const dir = temporaryDir()
    const made = await vidimusJson<Made>(dir, 'tls', 'init', '--host', 'localhost')
    const service = await serve(dir, [], tlsOf(made))
    service.process.kill('SIGTERM')
    const again = setInterval(() => service.process.kill('SIGHUP'), 5)
    expect(await service.process.exited).toBe(0)
    clearInterval(again)
  })

  test('without a pair only logs a warning', async () => {
    const service = await serve(temporaryDir())
    const log = logOf(service)
    service.process.kill('SIGHUP')
    await until(async () => about(log).length > 0)
    expect(about(log)).toMatchObject([{ level: 'warn', event: 'tls.nothing_to_reload' }])
    expect((await fetch(`${service.url}/healthz`)).status).toBe(200)
  })
})
