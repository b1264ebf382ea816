import { beforeAll, expect, test } from 'bun:test'
import { X509Certificate } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryDir } from '../helpers/app.ts'
import { BRAINPOOL } from '../helpers/brainpool.ts'
import { DAY_MS, issue, unknownCritical } from '../helpers/certificates.ts'
import { vidimus, vidimusJson } from '../helpers/command.ts'
import { makeRoot } from '../helpers/openssl.ts'

type Anchor = { id: string; mode: string; label: string; trusted_for: string | null; environment: string; subject: string }
type Anchors = { data: Anchor[] }

const PID = 'urn:eudi:pid:1'
const MDL = 'org.iso.18013.5.1.mDL'

const files = temporaryDir()
const dir = join(temporaryDir(), 'data')

beforeAll(async () => {
  makeRoot(files, 'root', '/CN=Test Root/C=UT')
  makeRoot(files, 'other', '/CN=Other Root')
  const [root, other] = ['root.pem', 'other.pem'].map(name => readFileSync(join(files, name), 'utf8'))
  writeFileSync(join(files, 'both.pem'), `${other}${root}`)
  writeFileSync(join(files, 'twice.pem'), `${root}${root}`)
  writeFileSync(join(files, 'nonsense.pem'), 'nonsense')
  const doubled = await issue({
    name: 'CN=Doubled',
    notAfter: Date.now() + DAY_MS,
    extensions: [unknownCritical(), unknownCritical()],
  })
  writeFileSync(join(files, 'doubled.pem'), new X509Certificate(doubled.der).toString())
  writeFileSync(join(files, 'brainpool.pem'), BRAINPOOL)
  await vidimusJson(dir, 'tenant', 'create', '--name', 'Shop')
})

const add = (name: string, ...flags: string[]) => ['trust', 'add', join(files, name), ...flags]
const anchors = async (from = dir) => (await vidimusJson<Anchors>(from, 'trust', 'list')).data

test('trust add trusts every certificate of a file, list shows them, and remove ends it', async () => {
  const own = join(temporaryDir(), 'data')
  const pid = await vidimusJson<Anchors>(own, ...add('root.pem', '--env', 'live', '--for', PID))
  expect(pid.data).toMatchObject([
    { environment: 'live', label: 'Test Root', mode: 'auto', trusted_for: PID, subject: 'CN=Test Root, C=UT' },
  ])
  const licence = await vidimusJson<Anchors>(own, ...add('both.pem', '--env', 'test', '--for', MDL))
  expect(licence.data.map(({ label }) => label)).toEqual(['Other Root', 'Test Root'])
  const ids = (await anchors(own)).map(({ id }) => id)
  expect(ids.toSorted()).toEqual([...pid.data, ...licence.data].map(({ id }) => id).toSorted())
  for (const id of ids) await vidimusJson(own, 'trust', 'remove', id)
  expect((await vidimus(own, ['trust', 'list'])).stdout).toMatch(/^No issuers are trusted yet/)
})

test('trust add --use says what the certificate may sign, list shows it, and both is the default', async () => {
  const own = join(temporaryDir(), 'data')
  const trust = async (name: string, ...flags: string[]) =>
    (await vidimusJson<{ data: { use: string }[] }>(own, ...add(name, '--env', 'live', '--for', PID, ...flags))).data[0]?.use
  expect(await trust('root.pem', '--use', 'documents')).toBe('documents')
  expect(await trust('other.pem', '--use', 'status')).toBe('status')
  const { stdout } = await vidimus(own, ['trust', 'list'])
  expect(stdout).toContain(`${PID} (documents)`)
  expect(stdout).toContain(`${PID} (status lists)`)
  const byType = await vidimusJson<{ data: { issuers: { label: string }[] }[] }>(own, 'trust', 'list', '--types')
  expect(byType.data.flatMap(({ issuers }) => issuers.map(({ label }) => label))).toEqual(['Test Root'])
  await vidimusJson(own, 'trust', 'add', join(files, 'root.pem'), '--env', 'test')
  expect((await vidimusJson<{ data: { use: string }[] }>(own, 'trust', 'list')).data.map(({ use }) => use)).toContain('both')
  const wrong = await vidimus(own, add('root.pem', '--env', 'test', '--use', 'lists'))
  expect([wrong.exitCode, wrong.stderr]).toEqual([2, expect.stringContaining('is not one of status, documents, both')])
})

test('a certificate is trusted once for an environment and a type: a second time is refused, naming the first', async () => {
  const own = join(temporaryDir(), 'data')
  const trust = (name: string, ...flags: string[]) => vidimusJson<Anchors>(own, ...add(name, ...flags))
  const { data } = await trust('root.pem', '--env', 'live', '--for', PID)
  for (const name of ['root.pem', 'both.pem']) {
    const { exitCode, stderr } = await vidimus(own, add(name, '--env', 'live', '--for', PID))
    const message = `sessions for ${PID} already (${data[0]?.id}); "vidimus trust remove" removes it\n`
    expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: expect.stringContaining(message) })
  }
  await trust('root.pem', '--env', 'live', '--for', MDL)
  await trust('root.pem', '--env', 'test', '--for', PID)
  await trust('root.pem', '--env', 'live')
  expect((await vidimus(own, add('root.pem', '--env', 'live'))).exitCode).toBe(1)
  expect(await anchors(own)).toHaveLength(4)
})

test('a certificate that signs documents may be added once more for status lists, and for each use once', async () => {
  const own = join(temporaryDir(), 'data')
  await vidimusJson(own, ...add('root.pem', '--env', 'live', '--for', PID))
  await vidimusJson(own, ...add('root.pem', '--env', 'live', '--for', PID, '--use', 'status'))
  for (const use of ['status', 'documents', 'both'])
    expect([use, (await vidimus(own, add('root.pem', '--env', 'live', '--for', PID, '--use', use))).exitCode]).toEqual([use, 1])
  expect(await anchors(own)).toHaveLength(2)
})

test('an anchor without --mode judges by the type of the document, and the list says so', async () => {
  const own = join(temporaryDir(), 'data')
  const modeOf = async (...flags: string[]) => (await vidimusJson<Anchors>(own, ...add('root.pem', ...flags))).data[0]?.mode
  expect(await modeOf('--env', 'live')).toBe('auto')
  expect(await modeOf('--env', 'live', '--for', MDL)).toBe('auto')
  expect(await modeOf('--env', 'live', '--for', PID, '--mode', 'iso')).toBe('iso')
  expect(await modeOf('--env', 'test', '--mode', 'pkix')).toBe('pkix')
  const { stdout } = await vidimus(own, ['trust', 'list'])
  expect(stdout.match(/ by type /g)).toHaveLength(2)
})

const ONE_TYPE = /^vidimus: --for takes one type; call it once for each type; --help shows how to call it\n$/

test.each([
  ['trust', 2, /needs a subcommand: trust add, trust list, trust remove/],
  ['trust add root.pem', 2, /--env is missing/],
  ['trust add root.pem --env prod', 2, /not one of test, live/],
  ['trust add root.pem --env live --mode x', 2, /not one of iso, pkix/],
  [`trust add root.pem --env live --for ${PID} --for ${MDL}`, 2, ONE_TYPE],
  [`trust add root.pem --env live --for ${PID},${MDL}`, 2, ONE_TYPE],
  ['trust add root.pem --env live --for urn:eudi:pid:*', 1, /"\*" in a type counts in lists only; trust the issuer for each/],
  ['trust add missing.pem --env live', 1, /cannot read/],
  ['trust add nonsense.pem --env live', 1, /no readable certificate/],
  ['trust add doubled.pem --env live', 1, /the certificate of Doubled is not well-formed \(RFC 5280\); get another one/],
  [
    'trust add brainpool.pem --env live',
    1,
    /the key of Brainpool Issuer cannot be used here \(only P-256, P-384, P-521, Ed25519, or RSA from 2048 bits\); ask the issuer/,
  ],
  ['trust add twice.pem --env live', 1, /the certificate of Test Root is in the file twice; give it once/],
  [
    'trust add root.key --env live',
    1,
    /root\.key: this is a private key, not a certificate; give the certificate of the issuer\n$/,
  ],
  ['trust remove anc_x', 1, /there is no anchor/],
])('"%s" exits with %d, says what to do, and trusts nothing', async (call, exitCode, says) => {
  const args = call.split(' ').map(word => (/\.(pem|key)$/.test(word) ? join(files, word) : word))
  expect(await vidimus(dir, args)).toEqual({ exitCode, stdout: '', stderr: expect.stringMatching(says) })
  expect(await anchors()).toEqual([])
})
