import { beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryDir } from '../helpers/app.ts'
import { vidimus, vidimusJson } from '../helpers/command.ts'

// Said here because the runner forgets what was said for all files after the first one.
setDefaultTimeout(60_000)

type Anchors = { data: { id: string; mode: string; trusted_for: string | null; environment: string }[] }

const PID = 'urn:eudi:pid:1'
const MDL = 'org.iso.18013.5.1.mDL'

const files = temporaryDir()
let dir: string

beforeAll(async () => {
  dir = join(temporaryDir(), 'data')
  for (const name of ['root', 'other']) {
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', join(files, `${name}.key`)]
    const certificate = ['-days', '30', '-subj', `/CN=${name}`, '-out', join(files, `${name}.pem`)]
    execFileSync('openssl', ['req', '-x509', ...key, ...certificate], { stdio: 'ignore' })
  }
  const [root, other] = ['root.pem', 'other.pem'].map(name => readFileSync(join(files, name), 'utf8'))
  writeFileSync(join(files, 'both.pem'), `${other}${root}`)
  writeFileSync(join(files, 'twice.pem'), `${root}${root}`)
  await vidimusJson(dir, 'tenant', 'create', '--name', 'Shop')
})

const add = (name: string, ...flags: string[]) => ['trust', 'add', join(files, name), ...flags]
const anchors = async () => (await vidimusJson<Anchors>(dir, 'trust', 'list')).data

test.each([
  ['--for given twice', ['--for', PID, '--for', MDL]],
  ['--for with a list', ['--for', `${PID},${MDL}`]],
])('%s is a wrong call, which says to call once for each type, and nothing is trusted', async (_, flags) => {
  const { exitCode, stdout, stderr } = await vidimus(dir, add('root.pem', '--env', 'live', ...flags))
  expect({ exitCode, stdout, stderr }).toEqual({
    exitCode: 2,
    stdout: '',
    stderr: 'vidimus: --for takes one type; call it once for each type; --help shows how to call it\n',
  })
  expect(await anchors()).toEqual([])
})

test('a certificate is trusted once for an environment and a type: a second time is refused, naming the first', async () => {
  const own = join(temporaryDir(), 'data')
  const trust = (name: string, ...flags: string[]) => vidimusJson<Anchors>(own, ...add(name, ...flags))
  const { data } = await trust('root.pem', '--env', 'live', '--for', PID)
  for (const name of ['root.pem', 'both.pem']) {
    const { exitCode, stderr } = await vidimus(own, add(name, '--env', 'live', '--for', PID))
    const message = `root is trusted in live sessions for ${PID} already (${data[0]?.id}); "vidimus trust remove" removes it\n`
    expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: expect.stringContaining(message) })
  }
  await trust('root.pem', '--env', 'live', '--for', MDL)
  await trust('root.pem', '--env', 'test', '--for', PID)
  await trust('root.pem', '--env', 'live')
  expect((await vidimus(own, add('root.pem', '--env', 'live'))).exitCode).toBe(1)
  expect((await vidimusJson<Anchors>(own, 'trust', 'list')).data).toHaveLength(4)
})

test('a file that holds a certificate twice is refused, and nothing is trusted', async () => {
  const { exitCode, stderr } = await vidimus(dir, add('twice.pem', '--env', 'live'))
  expect({ exitCode, stderr }).toEqual({
    exitCode: 1,
    stderr: expect.stringContaining('the certificate of root is in the file twice; give it once'),
  })
  expect(await anchors()).toEqual([])
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

test('a private key is told as one, with what to give instead', async () => {
  const { exitCode, stderr } = await vidimus(dir, add('root.key', '--env', 'live'))
  expect({ exitCode, stderr }).toEqual({
    exitCode: 1,
    stderr: expect.stringMatching(/root\.key: this is a private key, not a certificate; give the certificate of the issuer\n$/),
  })
})
