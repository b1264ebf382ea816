import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { decodeProtectedHeader } from 'jose'
import type { Verification } from '../../src/verifications/schema.ts'
import { call, temporaryDir } from '../helpers/app.ts'
import { serve, stopServing } from '../helpers/cli.ts'
import { vidimus, vidimusJson } from '../helpers/command.ts'

afterAll(stopServing)

type Anchor = {
  id: string
  environment: string
  label: string
  mode: string
  trusted_for: string | null
  subject: string
  not_after: string
}
type Signing = {
  client_id: string
  subject: string
  days_left: number
  expires_soon: boolean
  chain: string
  authority: string | null
}

const openssl = (args: string[]) => execFileSync('openssl', args, { stdio: ['ignore', 'pipe', 'ignore'] }).toString()

let dir: string
let files: string
const file = (name: string) => join(files, name)

beforeAll(async () => {
  dir = temporaryDir()
  files = temporaryDir()
  const ec = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
  openssl([
    'req',
    '-x509',
    ...ec,
    '-days',
    '30',
    '-subj',
    '/CN=Test Root/C=UT',
    '-keyout',
    file('ca.key'),
    '-out',
    file('ca.pem'),
  ])
  openssl([
    'req',
    '-x509',
    ...ec,
    '-days',
    '30',
    '-subj',
    '/CN=Other Root',
    '-keyout',
    file('other.key'),
    '-out',
    file('other.pem'),
  ])
  writeFileSync(file('two.pem'), readFileSync(file('ca.pem'), 'utf8') + readFileSync(file('other.pem'), 'utf8'))
  writeFileSync(file('nonsense.pem'), 'nonsense')
  // The first start makes the signing key.
  const first = await serve(dir)
  first.process.kill('SIGTERM')
  await first.process.exited
})

describe('vidimus trust', () => {
  test('add, list and remove every certificate of a file; without --mode the type of the document decides', async () => {
    const added = await vidimusJson<{ data: Anchor[] }>(
      dir,
      'trust',
      'add',
      file('ca.pem'),
      '--env',
      'live',
      '--for',
      'urn:eudi:pid:1',
    )
    expect(added.data).toMatchObject([
      { environment: 'live', label: 'Test Root', mode: 'auto', trusted_for: 'urn:eudi:pid:1', subject: 'CN=Test Root, C=UT' },
    ])
    const licence = await vidimusJson<{ data: Anchor[] }>(
      dir,
      'trust',
      'add',
      file('two.pem'),
      '--env',
      'test',
      '--for',
      'org.iso.18013.5.1.mDL',
    )
    expect(licence.data.map(({ mode, label }) => [mode, label])).toEqual([
      ['auto', 'Test Root'],
      ['auto', 'Other Root'],
    ])
    const listed = await vidimusJson<{ data: Anchor[] }>(dir, 'trust', 'list')
    expect(listed.data.map(({ id }) => id).sort()).toEqual([...added.data, ...licence.data].map(({ id }) => id).sort())
    for (const { id } of listed.data) await vidimusJson(dir, 'trust', 'remove', id)
    expect((await vidimus(dir, ['trust', 'list'])).stdout).toMatch(/^No issuers are trusted yet/)
  })

  test.each([
    [['trust', 'add', 'nonsense.pem', '--env', 'live'], 1, /no readable certificate/],
    [['trust', 'add', 'missing.pem', '--env', 'live'], 1, /cannot read/],
    [['trust', 'add', 'ca.pem'], 2, /--env is missing/],
    [['trust', 'add', 'ca.pem', '--env', 'prod'], 2, /not one of test, live/],
    [['trust', 'add', 'ca.pem', '--env', 'live', '--mode', 'x'], 2, /not one of iso, pkix/],
    [['trust', 'remove', 'anc_x'], 1, /there is no anchor/],
    [['trust'], 2, /what to do: trust add, trust list, trust remove/],
    [['signing', 'import', '--chain', 'ca.pem', '--key', 'other.key'], 1, /not for this key; put the leaf first/],
    [['signing', 'import', '--chain', 'ca.pem', '--key', 'ca.key'], 1, /self-signed/],
    [['signing', 'import', '--chain', 'nonsense.pem'], 1, /no readable certificate/],
    [['signing', 'import', '--chain', 'ca.pem', '--key', 'nonsense.pem'], 1, /no readable private key/],
    [['signing', 'import'], 2, /--chain is missing/],
  ] as [string[], number, RegExp][])('%j exits %d and says what to do', async (args, code, message) => {
    const run = await vidimus(
      dir,
      args.map(word => (/\.(pem|key)$/.test(word) ? file(word) : word)),
    )
    expect([run.exitCode, run.stdout]).toEqual([code, ''])
    expect(run.stderr).toMatch(message)
    expect(run.stderr).not.toContain('    at ')
  })
})

describe('vidimus signing', () => {
  test('show, csr and import beside a running server: new sessions use the new certificate at once, open ones keep theirs', async () => {
    const own = temporaryDir()
    const env = { VIDIMUS_PUBLIC_URL: 'https://verify.shop.example' }
    const { url, first } = await serve(own, ['--dev'], env)
    const key = first.test_key ?? ''
    const create = async () =>
      (await call<Verification>(url, 'POST', '/v1/verifications', { key, body: { template: 'age_over_18' } })).body
    const x5c = async ({ id }: Verification) => decodeProtectedHeader((await call(url, 'GET', `/wallet/request/${id}`)).text).x5c
    const clientId = ({ wallet_uri }: Verification) => new URL(wallet_uri ?? '').searchParams.get('client_id') ?? ''

    const before = await vidimusJson<Signing>(own, 'signing', 'show')
    expect(before).toMatchObject({
      subject: 'CN=Vidimus verify.shop.example',
      days_left: 729,
      expires_soon: false,
      authority: expect.stringContaining('BEGIN'),
    })
    const open = await create()
    expect(clientId(open)).toBe(before.client_id)
    const [openLeaf] = (await x5c(open)) ?? []

    const csr = await vidimus(own, ['signing', 'csr'], env)
    expect(csr.exitCode).toBe(0)
    writeFileSync(file('request.pem'), csr.stdout)
    expect(openssl(['req', '-in', file('request.pem'), '-noout', '-verify', '-text'])).toContain('DNS:verify.shop.example')
    openssl([
      'x509',
      '-req',
      '-in',
      file('request.pem'),
      '-CA',
      file('ca.pem'),
      '-CAkey',
      file('ca.key'),
      '-days',
      '20',
      '-set_serial',
      '7',
      '-out',
      file('leaf.pem'),
    ])
    writeFileSync(file('chain.pem'), readFileSync(file('leaf.pem'), 'utf8') + readFileSync(file('ca.pem'), 'utf8'))

    const after = await vidimusJson<Signing>(own, 'signing', 'import', '--chain', file('chain.pem'))
    expect(after).toMatchObject({ subject: 'CN=verify.shop.example', authority: null, expires_soon: true })
    expect(after.client_id).not.toBe(before.client_id)
    const fresh = await create()
    expect(clientId(fresh)).toBe(after.client_id)
    // The root is not sent (HAIP § 5), and the open session goes on under the certificate it began with.
    expect(await x5c(fresh)).toHaveLength(1)
    expect(await x5c(open)).toEqual([openLeaf ?? ''])
    const { text } = await call(url, 'GET', '/metrics')
    expect(Number(/^vidimus_signing_certificate_seconds_left (\d+)$/m.exec(text)?.[1])).toBeLessThanOrEqual(20 * 86_400)
    expect((await vidimus(own, ['signing', 'show'])).stdout).toContain('It expires soon')
  })

  test('a key of your own can be brought, and a service that starts near the end of its certificate says so in the log', async () => {
    const own = temporaryDir()
    await (await serve(own)).process.kill()
    openssl(['ecparam', '-name', 'prime256v1', '-genkey', '-noout', '-out', file('own.key')])
    openssl(['req', '-new', '-key', file('own.key'), '-subj', '/CN=own.example', '-out', file('own.csr')])
    openssl([
      'x509',
      '-req',
      '-in',
      file('own.csr'),
      '-CA',
      file('ca.pem'),
      '-CAkey',
      file('ca.key'),
      '-days',
      '9',
      '-set_serial',
      '8',
      '-out',
      file('own.pem'),
    ])
    const imported = await vidimusJson<Signing>(own, 'signing', 'import', '--chain', file('own.pem'), '--key', file('own.key'))
    expect(imported).toMatchObject({ subject: 'CN=own.example', days_left: 8 })
    const { process: child } = await serve(own)
    child.kill('SIGTERM')
    expect(await new Response(child.stderr).text()).toContain('signing.certificate_expires')
  })
})
