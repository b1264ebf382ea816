import { afterAll, describe, expect, test } from 'bun:test'
import { chmodSync, existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CHECKS } from '../../src/doctor/check.ts'
import { ensureSigningKey } from '../../src/signing/keys.ts'
import { createTenant } from '../../src/tenants/settings.ts'
import { pinSigner, unpinSigner } from '../../src/trust/lists/pins.ts'
import { cleanUp, openInstallation, temporaryDir } from '../helpers/app.ts'
import { DAY_MS } from '../helpers/certificates.ts'
import { serve, vidimus as spawnVidimus, stopServing } from '../helpers/cli.ts'
import { vidimus, vidimusJson } from '../helpers/command.ts'
import { databaseOf, isOnPostgres } from '../helpers/database.ts'
import { contentOf } from '../helpers/directories.ts'
import { addLote, makeIssuers, pidList } from '../helpers/trusted-lists.ts'
import { makeSigner } from '../trust-lists/make.ts'

afterAll(async () => {
  await stopServing()
  await cleanUp()
})

type Clause = { id: string; level: string; status: string; detail: string }
type Told = { checks: { name: string; status: string; detail: string }[] }

/** What cannot be opened. */
const PLACE = isOnPostgres ? 'database' : 'data_directory'

const RIGHT_FILES = 'Put the certificate and its key there: the next start of the service fails without them.'

const statuses = ({ checks }: Told) => Object.fromEntries(checks.map(({ name, status }) => [name, status]))

describe('vidimus doctor', () => {
  test('prints each check on one line, and its remedy on the next, beside a running server', async () => {
    const dir = temporaryDir()
    const { url } = await serve(dir)
    const env = { VIDIMUS_PUBLIC_URL: url.replace('127.0.0.1', 'localhost') }
    const run = await vidimus(dir, ['doctor'], env)
    expect([run.exitCode, run.stderr]).toEqual([0, ''])
    const lines = run.stdout.trimEnd().split('\n')
    const heads = lines.filter(line => !line.startsWith(' '))
    expect(heads.map(line => line.slice(9).split(/ +/)[0])).toEqual(CHECKS.filter(name => !isOnPostgres || name !== 'disk'))
    for (const line of heads) expect(line).toMatch(/^(ok {5}|not set|warning|problem) {2}[a-z_]+ +\S/)
    const local = heads.findIndex(line => line.includes('public_url'))
    expect(heads[local]).toMatch(
      /^not set {2}public_url +http:\/\/localhost:\d+ is an address of this machine: .* a phone cannot reach it\.$/,
    )
    expect(lines[lines.indexOf(heads[local] ?? '') + 1]).toMatch(/^ {30}Give the service a public name/)
    expect(run.stdout).toContain(isOnPostgres ? '1 node is running' : 'A service is running on')
  })

  test('--json prints exactly name, status, code and detail of each check, with the remedy in the detail', async () => {
    const dir = temporaryDir()
    const { url, process } = await serve(dir)
    const env = { VIDIMUS_PUBLIC_URL: url.replace('127.0.0.1', 'localhost') }
    const run = await vidimus(dir, ['doctor', '--json'], env)
    const told: Told = JSON.parse(run.stdout)
    expect(Object.keys(told)).toEqual(['checks'])
    for (const check of told.checks) expect(Object.keys(check)).toEqual(['name', 'status', 'code', 'detail'])
    expect(told.checks.find(({ name }) => name === 'public_url')?.detail).toMatch(
      /cannot reach it\. Give the service a public name/,
    )
    process.kill('SIGTERM')
    await process.exited
    const stopped: Told = JSON.parse((await vidimus(dir, ['doctor', '--json'], env)).stdout)
    expect(statuses(stopped)).toMatchObject({ server: 'warning', database: 'ok', master_key: 'ok' })
  })

  test('--profile eu prints a line for each clause, in JSON its members, and fails while a "must" does', async () => {
    const dir = temporaryDir()
    const { stop, deps } = await openInstallation({ dir, now: Date.now() })
    const { id } = (await createTenant(deps, { name: 'Corner Shop' }, 'test')).tenant
    expect((await vidimus(dir, ['doctor', '--profile', 'eu'])).stderr).toContain('start the service once')
    await ensureSigningKey(deps)
    await stop()
    const run = await vidimus(dir, ['doctor', '--profile', 'eu'])
    expect([run.exitCode, run.stderr]).toEqual([1, ''])
    expect(run.stdout).toContain(
      `${'fail           must   eu.access-certificate'.padEnd(49)} The access certificate is valid, and of a listed authority. Not so: made by this service itself.\n${' '.repeat(50)}Get one with`,
    )
    const { clauses, ...told } = JSON.parse((await vidimus(dir, ['doctor', '--profile', 'eu', '--json'])).stdout)
    expect(told).toEqual({
      profile: 'eu',
      basis: 'CIR (EU) 2026/1731, ETSI TS 119 472-2 V1.2.1, HAIP 1.0',
      tenant: id,
      summary: { must_failed: expect.any(Number), should_failed: expect.any(Number) },
    })
    const failing = (level: string) =>
      new Set(clauses.flatMap((row: Clause) => (row.level === level && row.status === 'fail' ? [row.id] : []))).size
    expect(told.summary).toEqual({ must_failed: failing('must'), should_failed: failing('should') })
    for (const { subject: _, remedy, ...row } of clauses) {
      expect(Object.keys(row)).toEqual(['id', 'level', 'status', 'detail', 'sure'])
      expect(remedy !== undefined).toBe(row.status === 'fail')
    }
    const age: { clauses: Clause[] } = await vidimusJson(dir, 'doctor', '--profile', 'eu', '--template', 'eu_av_age_18')
    expect(age.clauses.every(({ status }) => status === 'not_applicable')).toBe(true)
  })

  test('--profile eu refuses an unknown tenant, template and profile, and its flags stand for nothing else', async () => {
    const dir = temporaryDir()
    const { stop, deps } = await openInstallation({ dir, now: Date.now() })
    const refused = async (...args: string[]) => {
      const { exitCode, stderr } = await vidimus(dir, ['doctor', ...args])
      return `${exitCode} ${stderr.trim()}`
    }
    await ensureSigningKey(deps)
    await createTenant(deps, { name: 'Corner Shop' }, 'test')
    const { id } = (await createTenant(deps, { name: 'Bakery' }, 'test')).tenant
    await stop()
    expect(await refused('--profile', 'haip')).toMatch(/^2 .*"haip" is not one of eu/)
    expect(await refused('--profile', 'eu')).toMatch(/^2 .*there are several tenants; name one with --tenant ID/)
    expect(await refused('--profile', 'eu', '--tenant', 'ten_x')).toMatch(/^1 .*there is no tenant ten_x/)
    expect(await refused('--profile', 'eu', '--tenant', id, '--template', 'nothing')).toMatch(/^1 .*There is no template nothing/)
    expect(await refused('--env', 'test')).toMatch(/^2 .*--env is for --profile eu/)
  })

  test('prints the remedies of two trust lists on two lines', async () => {
    const dir = temporaryDir()
    const { deps, stop } = await openInstallation({ dir, now: Date.now() })
    const signer = await makeSigner()
    const issuers = await makeIssuers(1)
    for (const territory of ['EU', 'FI']) {
      const list = pidList(signer, issuers, { territory, issuedAt: Date.now(), nextUpdate: Date.now() + DAY_MS })
      const { id } = await addLote(deps, signer, list, { label: territory })
      await pinSigner(deps, id, 'ab'.repeat(32), 'test')
      await unpinSigner(deps, id, signer.fingerprint, 'test')
    }
    await stop()
    const { stdout } = await vidimus(dir, ['doctor'])
    const lines = stdout.split('\n')
    const head = lines.findIndex(line => line.includes(' trust_lists '))
    const remedies = lines.slice(head + 1, head + 3).map(line => line.replaceAll(/trust source refresh \S+/g, 'COMMAND'))
    expect(remedies.toSorted()).toEqual(
      ['EU', 'FI'].map(
        label => `${' '.repeat(30)}${label}: Look at it with "vidimus COMMAND or bring it: vidimus COMMAND --file LIST`,
      ),
    )
    expect(lines[head + 3]).not.toStartWith(' ')
  })

  test('says of a directory that a command made that the first start makes the keys', async () => {
    const dir = temporaryDir()
    await vidimusJson(dir, 'tenant', 'create', '--name', 'Shop')
    const told: Told = JSON.parse((await vidimus(dir, ['doctor', '--json'])).stdout)
    expect(told.checks.find(({ name }) => name === 'wrapping_keys')).toMatchObject({
      status: 'not_set_up',
      detail: expect.stringContaining('Start the service once'),
    })
  })

  test('accepts a certificate of the local authority, and exits 1 when another service is behind the address', async () => {
    const dir = temporaryDir()
    const { cert, key, ca } = await vidimusJson<{ cert: string; key: string; ca: string }>(
      dir,
      'tls',
      'init',
      '--host',
      'localhost',
    )
    const tls = { VIDIMUS_TLS_CERT: cert, VIDIMUS_TLS_KEY: key }
    const { url } = await serve(dir, [], tls)
    const env = { ...tls, VIDIMUS_PUBLIC_URL: url.replace('127.0.0.1', 'localhost') }
    const told: Told = JSON.parse((await vidimus(dir, ['doctor', '--json'], env)).stdout)
    expect(statuses(told)).toMatchObject({ tls: 'warning', public_url: 'not_set_up' })
    const trusting = await spawnVidimus(dir, ['doctor', '--json'], { ...env, NODE_EXTRA_CA_CERTS: ca })
    expect(JSON.parse(trusting.stdout).checks).toContainEqual({
      name: 'tls',
      status: 'ok',
      code: 'tls_good',
      detail: expect.stringMatching(/^The certificate of localhost is trusted and valid for 39\d more days\.$/),
    })
    const other = temporaryDir()
    await serve(other)
    const stranger = await spawnVidimus(other, ['doctor'], { ...env, NODE_EXTRA_CA_CERTS: ca })
    expect([stranger.exitCode, stranger.stderr]).toEqual([1, '\n1 problem; "vidimus help doctor" explains each check\n'])
    expect(stranger.stdout).toMatch(/^problem {2}public_url +Something else answers at/m)
  })

  test('names files of VIDIMUS_TLS_CERT and VIDIMUS_TLS_KEY with which the next start would fail', async () => {
    const dir = temporaryDir()
    await vidimusJson(dir, 'tenant', 'create', '--name', 'Shop')
    const [certFile, keyFile] = [join(dir, 'cert.pem'), join(dir, 'key.pem')]
    const env = { VIDIMUS_TLS_CERT: certFile, VIDIMUS_TLS_KEY: keyFile, VIDIMUS_PUBLIC_URL: 'https://localhost:1' }
    const tls = async () => {
      const told: Told = JSON.parse((await vidimus(dir, ['doctor', '--json'], env)).stdout)
      return told.checks.find(({ name }) => name === 'tls')
    }
    expect(await tls()).toMatchObject({
      status: 'problem',
      detail: `VIDIMUS_TLS_CERT: cannot read ${certFile} (ENOENT); check the path, and that this user may read it. ${RIGHT_FILES}`,
    })
    writeFileSync(certFile, 'no certificate')
    writeFileSync(keyFile, 'no key')
    expect(await tls()).toMatchObject({
      status: 'problem',
      detail: `VIDIMUS_TLS_CERT: ${certFile} holds no readable certificate; it must be PEM, the leaf first. ${RIGHT_FILES}`,
    })
  })

  test('reports a data directory that does not exist, and does not create it', async () => {
    const dir = join(temporaryDir(), 'data')
    const run = await vidimus(dir, ['doctor', '--json'])
    expect([run.exitCode, statuses(JSON.parse(run.stdout))]).toEqual([1, { [PLACE]: 'problem' }])
    expect(existsSync(dir)).toBe(false)
  })

  test('reports a directory that a start would refuse, and changes no byte of it', async () => {
    const dir = temporaryDir()
    const { process } = await serve(dir)
    process.kill('SIGTERM')
    await process.exited
    chmodSync(join(dir, 'master.key'), 0o644)
    const before = contentOf(dir)
    const run = await vidimus(dir, ['doctor'])
    expect(run.exitCode).toBe(1)
    expect(run.stdout).toMatch(new RegExp(`^problem  ${PLACE} .*master\\.key can be read by others\\.\n {30}run: chmod 600 `))
    expect(contentOf(dir)).toEqual(before)
  })
})

test('serve logs a warning when it may open few files', async () => {
  const { PROGRAM } = await import('../helpers/program.ts')
  const dir = temporaryDir()
  const settings = { PORT: '0', VIDIMUS_DATA_DIR: dir, VIDIMUS_LOG: 'warn', ...(await databaseOf(dir)) }
  const env = { PATH: process.env.PATH ?? '', ...settings }
  const child = Bun.spawn(['sh', '-c', `ulimit -n 1000; exec "${PROGRAM}" serve --json`], {
    env,
    stdout: 'pipe',
    stderr: 'pipe',
  })
  await child.stdout.getReader().read()
  child.kill('SIGTERM')
  expect(await child.exited).toBe(0)
  const log = (await new Response(child.stderr).text()).trim().split('\n')
  expect(log.map(line => JSON.parse(line))).toMatchObject([{ level: 'warn', event: 'files.limit_low', count: 1000 }])
})
