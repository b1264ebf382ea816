import { afterAll, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cleanUp, temporaryDir } from '../helpers/app.ts'
import { DAY_MS, pemOf } from '../helpers/certificates.ts'
import { vidimus, vidimusJson } from '../helpers/command.ts'
import { makeIssuers, pidList } from '../helpers/trusted-lists.ts'
import { makeSigner } from '../trust-lists/make.ts'

afterAll(cleanUp)

// Commands have the real clock.
const today = Date.now()
const files = temporaryDir()
const signer = await makeSigner({ notBefore: today - 30 * DAY_MS, notAfter: today + 300 * DAY_MS })
const issuers = await makeIssuers(3)

function fileOf(name: string, content: Uint8Array | string): string {
  const file = join(files, name)
  writeFileSync(file, content)
  return file
}

const dates = { issuedAt: today - DAY_MS, nextUpdate: today + 30 * DAY_MS }
const list = fileOf('list.jwt', pidList(signer, issuers.slice(0, 2), { ...dates, sequence: 1 }))
const newer = fileOf('newer.jwt', pidList(signer, issuers.slice(1, 2), { ...dates, issuedAt: today, sequence: 2 }))

const newDir = () => join(temporaryDir(), 'data')
const newFile = () => join(temporaryDir(), 'trust.bundle')
const addList = (dir: string) =>
  vidimusJson<{ id: string }>(
    dir,
    ...['trust', 'source', 'add', list, '--kind', 'lote', '--env', 'live', '--label', 'PID list', '--signer', signer.fingerprint],
  )
const bundle = (dir: string, ...args: string[]) => vidimus(dir, ['trust', 'bundle', ...args])

type Exported = { file: string; signer: string; bytes: number; sources: number; anchors: number; blocks: number }
type Item = { what: string; environment: string; name: string; outcome: string; detail?: string }
type Imported = { signer: string; signature_valid: boolean; signer_accepted: boolean; items: Item[] }

async function home(): Promise<{ dir: string; file: string; exported: Exported }> {
  const [dir, file] = [newDir(), newFile()]
  await addList(dir)
  await vidimusJson(dir, 'trust', 'add', fileOf('own.pem', pemOf(issuers[2]!.der)), '--env', 'live', '--label', 'Own')
  return { dir, file, exported: await vidimusJson<Exported>(dir, 'trust', 'bundle', 'export', file) }
}

test('trust bundle export writes a file for anybody to read, and prints the fingerprint to accept', async () => {
  const { dir, file, exported } = await home()
  expect(exported).toMatchObject({ file, sources: 1, anchors: 1, blocks: 0, bytes: statSync(file).size })
  expect(exported.signer).toMatch(/^[0-9a-f]{64}$/)
  const { stdout, exitCode } = await bundle(dir, 'export', file, '--force', '--env', 'test')
  expect([exitCode, stdout]).toEqual([
    0,
    `${file} holds 0 lists, 0 issuers of your own, 0 blocks and 0 lists of revoked documents.\nA machine that accepts new sources from it needs this once: --from ${exported.signer}\n`,
  ])
  expect(readdirSync(join(file, '..'))).toEqual(['trust.bundle'])
})

test('trust bundle export replaces no file without --force, and needs a directory that exists', async () => {
  const { dir, file } = await home()
  const before = readFileSync(file)
  expect(await bundle(dir, 'export', file)).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('exists already') })
  expect(readFileSync(file)).toEqual(before)
  const nowhere = join(file, 'nowhere', 'x')
  expect(await bundle(dir, 'export', nowhere)).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('cannot write') })
})

test('trust bundle export removes the parts that killed ones left', async () => {
  const { dir, file } = await home()
  for (const left of ['.0a1b2c3d.part', '.0a1b2c3d.part-lock']) writeFileSync(file + left, '')
  expect(await bundle(dir, 'export', file, '--force')).toMatchObject({ exitCode: 0 })
  expect(readdirSync(join(file, '..'))).toEqual(['trust.bundle'])
})

test('trust bundle import takes everything from an accepted installation, on a machine that is new', async () => {
  const { file, exported } = await home()
  const venue = newDir()
  const imported = await vidimusJson<Imported>(venue, 'trust', 'bundle', 'import', file, '--from', exported.signer)
  expect(imported).toMatchObject({ signer: exported.signer, signature_valid: true, signer_accepted: true })
  expect(imported.items.map(({ what, name, outcome }) => `${what} ${name} ${outcome}`)).toEqual([
    'list PID list added',
    'anchor Own added',
  ])
  const again = await bundle(venue, 'import', file)
  expect(again).toMatchObject({ exitCode: 0, stderr: '' })
  expect(again.stdout).toMatch(/list {4}live {2}PID list {2}the same as here\nissuer {2}live {2}Own {7}here already\n$/)
})

test('trust bundle import says what was not taken, and how to take it', async () => {
  const { file, exported } = await home()
  const venue = newDir()
  const { exitCode, stdout, stderr } = await bundle(venue, 'import', file)
  expect(exitCode).toBe(0)
  expect(stdout).toContain('not taken: it is new here, and the signer of the bundle is not accepted')
  expect(stderr).toContain(`--from ${exported.signer}`)
  expect((await vidimusJson<{ data: object[] }>(venue, 'trust', 'source', 'list')).data).toEqual([])
})

test('trust bundle import ends with 1 when a list is refused', async () => {
  const { file, exported } = await home()
  const venue = newDir()
  const { id } = await addList(venue)
  await vidimusJson(venue, 'trust', 'source', 'refresh', id, '--file', newer)
  const { exitCode, stdout } = await bundle(venue, 'import', file, '--from', exported.signer)
  expect([exitCode, stdout.includes('refused: issued')]).toEqual([1, true])
})

test('trust bundle import refuses an older bundle without --older, and a wrong fingerprint', async () => {
  const { dir, file, exported } = await home()
  const venue = newDir()
  const second = newFile()
  await vidimusJson(dir, 'trust', 'bundle', 'export', second)
  await vidimusJson(venue, 'trust', 'bundle', 'import', second, '--from', exported.signer)
  expect(await bundle(venue, 'import', file)).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('--older') })
  expect(await bundle(venue, 'import', file, '--older')).toMatchObject({ exitCode: 0 })
  const wrong = await bundle(venue, 'import', second, '--from', 'ab'.repeat(32))
  expect(wrong).toMatchObject({ exitCode: 1, stderr: expect.stringContaining(`made by ${exported.signer}`) })
  const short = await bundle(venue, 'import', second, '--from', 'abc')
  expect(short).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('is not a SHA-256 fingerprint') })
})

test('trust bundle inspect shows what is in it without a database', async () => {
  const { file, exported } = await home()
  const dir = newDir()
  const { exitCode, stdout } = await bundle(dir, 'inspect', file)
  expect(exitCode).toBe(0)
  expect(stdout).toContain(`made by localhost:3000 (${exported.signer})`)
  expect(stdout).toContain(`signed by ${signer.fingerprint}`)
  expect(stdout).toContain('Own')
  expect(await vidimusJson(dir, 'trust', 'bundle', 'inspect', file)).toMatchObject({
    signature_valid: true,
    sources: [{ label: 'PID list', sequence: 1, entries: 2, signer: signer.fingerprint }],
    anchors: [{ label: 'Own' }],
  })
  expect(existsSync(dir)).toBe(false)
})

test('trust bundle import and inspect read a pipe to its end', async () => {
  const { file, exported } = await home()
  for (const verb of ['inspect', 'import']) {
    const pipe = newFile()
    Bun.spawnSync(['mkfifo', pipe])
    // In two pieces: the first is not the whole.
    const writer = Bun.spawn(['sh', '-c', '{ head -c 100 "$0"; tail -c +101 "$0"; } > "$1"', file, pipe])
    expect(await bundle(newDir(), verb, pipe)).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(exported.signer) })
    expect(await writer.exited).toBe(0)
  }
})

test('trust bundle import and inspect refuse a file that is missing, no bundle, or too large', async () => {
  const large = fileOf('large.bundle', Buffer.alloc(17 * 1024 * 1024, 'A'))
  for (const verb of ['import', 'inspect']) {
    expect(await bundle(newDir(), verb, join(files, 'none'))).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('cannot read'),
    })
    expect(await bundle(newDir(), verb, list)).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('no trust bundle') })
    expect(await bundle(newDir(), verb, large)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('larger than 16 MiB'),
    })
  }
})

test('trust bundle --help shows both sides of the way', async () => {
  const { stdout } = await bundle(newDir(), '--help')
  expect(stdout).toContain('vidimus trust bundle export trust.bundle --env live')
  expect(stdout).toContain('vidimus trust bundle import trust.bundle --from FINGERPRINT')
})
