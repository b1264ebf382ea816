// How the program reaches a PostgreSQL server: real processes, and servers of their own.
import { beforeAll, describe, expect, test } from 'bun:test'
import { copyFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryDir } from '../helpers/app.ts'
import { serve, vidimus } from '../helpers/cli.ts'
import { type Cluster, giveToPostgres, hasPostgres, newDatabase, startCluster, unlessMissing } from '../helpers/cluster.ts'
import { makeRoot, openssl } from '../helpers/openssl.ts'
import { createOn, shareCluster } from '../helpers/shared-cluster.ts'
import { promote, REPLICATED, startStandby, waitForStandby } from '../helpers/standby.ts'

const PASSWORD = 'hunter2 & co'
const cluster = shareCluster({
  access: ['local all all trust', 'host all postgres 127.0.0.1/32 trust', 'host all shop 127.0.0.1/32 scram-sha-256'],
})
let certificates: string

beforeAll(async () => {
  if (!hasPostgres) return
  certificates = makeCertificates()
  await cluster.query(`CREATE ROLE shop LOGIN PASSWORD '${PASSWORD}'`)
  await cluster.query('CREATE DATABASE vidimus OWNER shop')
})

/** An authority, a certificate of it for `localhost`, and another authority. */
function makeCertificates(): string {
  const dir = temporaryDir()
  makeRoot(dir, 'ca', '/CN=Our authority')
  makeRoot(dir, 'other', '/CN=Another authority')
  const request = `-keyout ${join(dir, 'server.key')} -out ${join(dir, 'server.csr')}`
  openssl(`req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes ${request} -subj`, '/CN=db')
  writeFileSync(join(dir, 'names'), 'subjectAltName=DNS:localhost')
  const signing = `-CA ${join(dir, 'ca.pem')} -CAkey ${join(dir, 'ca.key')} -CAcreateserial -extfile ${join(dir, 'names')}`
  openssl(`x509 -req -in ${join(dir, 'server.csr')} ${signing} -days 30 -out ${join(dir, 'server.pem')}`)
  return dir
}

let shops = 0

/** One command on the database of this URL, made there by a first one. */
const list = (url: string, env: Record<string, string> = {}, dir = temporaryDir()) =>
  vidimus(dir, ['tenant', 'create', '--name', `Corner shop ${++shops}`, '--json'], { VIDIMUS_DATABASE_URL: url, ...env })

describe.skipIf(!hasPostgres)(unlessMissing('a connection to PostgreSQL'), () => {
  test('a password comes from the URL or from a file, and no message quotes it', async () => {
    const url = `postgres://shop@127.0.0.1:${cluster.port}/vidimus`
    const dir = temporaryDir()
    const file = join(temporaryDir(), 'password')
    writeFileSync(file, `${PASSWORD}\n`)
    const fromFile = await list(url, { VIDIMUS_DATABASE_PASSWORD_FILE: file }, dir)
    expect(fromFile).toMatchObject({ exitCode: 0, stderr: '' })
    const encoded = encodeURIComponent(PASSWORD)
    expect(await list(url.replace('shop', `shop:${encoded}`), {}, dir)).toMatchObject({ exitCode: 0, stderr: '' })
    const wrong = await list(url.replace('shop', 'shop:hunter3'), {}, dir)
    expect(wrong.exitCode).toBe(21)
    expect(wrong.stderr).toContain('refuses the user or password; mend VIDIMUS_DATABASE_URL or the password file')
    expect(wrong.stderr.trim().split('\n')).toHaveLength(1)
    for (const { stdout, stderr } of [fromFile, wrong]) expect(`${stdout}${stderr}`).not.toContain('hunter')
  })

  test('a socket is used without network and TLS', async () => {
    const name = 'by_socket'
    await newDatabase(cluster, name)
    const port = `:${cluster.port}`
    const socket = await list(`postgres://postgres@localhost${port}/${name}?host=${join(cluster.dir, '..')}`)
    expect(socket).toMatchObject({ exitCode: 0, stderr: '' })
    const missing = await list(`postgres://postgres@localhost/${name}?host=/nowhere`)
    expect(missing.exitCode).toBe(20)
  })

  test('VIDIMUS_DATABASE_CONNECTIONS bounds the connections of a node', async () => {
    const url = await newDatabase(cluster, 'bounded')
    const env = { VIDIMUS_DATABASE_URL: url, VIDIMUS_DATABASE_CONNECTIONS: '6' }
    const { url: service, first } = await serve(temporaryDir(), ['--dev'], env)
    const headers = { authorization: `Bearer ${first.test_key}` }
    const requests = Array.from({ length: 100 }, () => fetch(`${service}/v1/verifications`, { headers }))
    for (const answer of await Promise.all(requests)) expect(answer.status).toBe(200)
    const [row] = await cluster.query<{ count: string }>(
      "SELECT count(*) FROM pg_stat_activity WHERE datname = 'bounded' AND application_name LIKE 'vidimus/%'",
    )
    // One more listens.
    expect(Number(row!.count)).toBeLessThanOrEqual(7)
    expect(Number(row!.count)).toBeGreaterThan(2)
  })
})

describe.skipIf(!hasPostgres)(unlessMissing('TLS to PostgreSQL'), () => {
  let secure: Cluster
  const of = (name: string) => join(certificates, name)

  beforeAll(async () => {
    secure = await startCluster({
      access: ['local all all trust', 'hostssl all all 127.0.0.1/32 trust', 'hostssl all all ::1/128 trust'],
    })
    for (const name of ['server.pem', 'server.key']) {
      copyFileSync(of(name), join(secure.dir, name))
      giveToPostgres(join(secure.dir, name), 0o600)
    }
    await secure.stop()
    secure.configure(['ssl = on', "ssl_cert_file = 'server.pem'", "ssl_key_file = 'server.key'"])
    await secure.start()
    await newDatabase(secure, 'vidimus')
  })

  const url = (host: string, mode: string) => `postgres://postgres@${host}:${secure.port}/vidimus?sslmode=${mode}`

  test('verify-full accepts the name of the certificate from our authority', async () => {
    const run = await list(url('localhost', 'verify-full'), { VIDIMUS_DATABASE_CA: of('ca.pem') })
    expect(run).toMatchObject({ exitCode: 0, stderr: '' })
  })

  test('verify-full refuses another name, an unknown authority and one that nobody named', async () => {
    const ca = { VIDIMUS_DATABASE_CA: of('ca.pem') }
    const refused = [
      await list(url('127.0.0.1', 'verify-full'), ca),
      await list(url('localhost', 'verify-full'), { VIDIMUS_DATABASE_CA: of('other.pem') }),
      await list(url('localhost', 'verify-full')),
      await list(url('127.0.0.1', 'verify-ca'), { VIDIMUS_DATABASE_CA: of('other.pem') }),
    ]
    for (const { exitCode, stderr } of refused) {
      expect(stderr).toMatch(/^vidimus: the connection to the database cannot be trusted \(.*\); mend its certificate.*\n$/)
      expect(exitCode).toBe(21)
    }
  })

  test('verify-ca accepts another name, and require any certificate', async () => {
    const dir = temporaryDir()
    await secure.query('CREATE DATABASE unnamed')
    const other = (mode: string) => url('127.0.0.1', mode).replace('/vidimus?', '/unnamed?')
    expect(await list(other('verify-ca'), { VIDIMUS_DATABASE_CA: of('ca.pem') }, dir)).toMatchObject({ exitCode: 0 })
    expect(await list(other('require'), {}, dir)).toMatchObject({ exitCode: 0 })
  })

  test('a server without TLS is refused at once, and never spoken to in clear', async () => {
    for (const mode of ['require', 'verify-full']) {
      const run = await list(`postgres://postgres@127.0.0.1:${cluster.port}/vidimus?sslmode=${mode}`)
      expect(run.exitCode).toBe(21)
      expect(run.stderr).toContain('cannot be trusted')
    }
  })
})

describe.skipIf(!hasPostgres)(unlessMissing('a cluster of several servers'), () => {
  test('the server that takes writes is used, before and after a failover', async () => {
    const primary = await startCluster({ settings: REPLICATED })
    await newDatabase(primary, 'vidimus')
    const standby = await startStandby(primary)
    // The standby first: it answers, but takes no writes.
    const hosts = `127.0.0.1:${standby.port},127.0.0.1:${primary.port}`
    const env = { VIDIMUS_DATABASE_URL: `postgres://postgres@${hosts}/vidimus` }
    const service = await serve(temporaryDir(), ['--dev'], env)
    expect((await createOn(service)).status).toBe(201)
    const alone = await list(`postgres://postgres@127.0.0.1:${standby.port}/vidimus`)
    expect(alone.exitCode).toBe(26)
    expect(alone.stderr).toContain('the server is read-only, a standby; name the primary in VIDIMUS_DATABASE_URL')
    await waitForStandby(primary, standby)
    await primary.stop('immediate')
    promote(standby)
    while ((await createOn(service)).status !== 201) await Bun.sleep(100)
    const [row] = await standby.query<{ count: string }>('SELECT count(*) FROM verification_sessions', 'vidimus')
    expect(Number(row!.count)).toBe(2)
  })
})
