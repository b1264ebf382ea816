// Commands of root in the data directory of a service that runs as another user: the service still starts, or names the file
// that keeps it from starting.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { chmodSync, chownSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { REFUSALS } from '../../src/db/refusal.ts'
import { createVerification, startApp, temporaryDir } from '../helpers/app.ts'
import { serve, stopServing, vidimus, vidimusJson } from '../helpers/cli.ts'
import { copyOf } from '../helpers/directories.ts'

afterAll(stopServing)

const SERVICE = 65_534
const AS_SERVICE = ['setpriv', `--reuid=${SERVICE}`, `--regid=${SERVICE}`, '--clear-groups']

const isRoot = process.getuid?.() === 0
const canBeService = isRoot && runsAsService()
if (!isRoot) process.stderr.write('SKIPPED: only root can make files of somebody else\n')
else if (!canBeService) process.stderr.write(`SKIPPED: user ${SERVICE} cannot run ${process.execPath} here\n`)

function runsAsService(): boolean {
  const { success } = Bun.spawnSync([...AS_SERVICE, process.execPath, '--version'], { stderr: 'ignore' })
  return success
}

let dir: string
let backup: string

beforeAll(async () => {
  const app = await startApp({ now: Date.now() })
  const { key } = await app.tenant()
  await createVerification(app, key)
  await app.stop()
  dir = app.dir
  backup = join(temporaryDir(), 'backup.db')
  await vidimusJson(dir, 'backup', backup)
})

const pathsIn = (own: string) => ['', ...readdirSync(own, { recursive: true }).map(String)].map(name => join(own, name))

function ofService(): string {
  const own = copyOf(dir)
  for (const path of pathsIn(own)) chownSync(path, SERVICE, SERVICE)
  return own
}

const foreignIn = (own: string) => pathsIn(own).filter(path => statSync(path).uid !== SERVICE || statSync(path).gid !== SERVICE)

async function expectStart(own: string): Promise<void> {
  if (!canBeService) return
  const server = await serve(own, [], {}, AS_SERVICE)
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
  server.process.kill('SIGKILL')
  await server.process.exited
}

test.if(isRoot)('the new master key after a rekey by root is of the owner of the old one, and the service starts', async () => {
  const own = ofService()
  await vidimusJson(own, 'rekey')
  expect(foreignIn(own)).toEqual([])
  await expectStart(own)
})

test.if(isRoot)('everything after a restore by root is of the owner of what was there, and the service starts', async () => {
  const own = ofService()
  rmSync(join(own, 'backups'), { recursive: true, force: true })
  await vidimusJson(own, 'restore', backup)
  expect(readdirSync(join(own, 'backups'))).toContain('erasures.log')
  expect(foreignIn(own)).toEqual([])
  await expectStart(own)
})

test.if(isRoot)('everything after a restore by root into a directory that has only the keys is of its owner', async () => {
  const own = ofService()
  for (const name of readdirSync(own)) if (!name.endsWith('.key')) rmSync(join(own, name), { recursive: true })
  await vidimusJson(own, 'restore', backup, '--without-erasures')
  expect(readdirSync(own)).toContain('server.lock')
  expect(foreignIn(own)).toEqual([])
  await expectStart(own)
})

test.if(canBeService)('a file that the service may not use is named by its refusal, whoever found it', async () => {
  for (const name of ['master.key', 'vidimus.db', 'server.lock']) {
    const own = ofService()
    chownSync(join(own, name), 0, 0)
    const { exitCode, stderr } = await vidimus(own, ['serve'], { PORT: '0' }, AS_SERVICE)
    expect([name, exitCode]).toEqual([name, REFUSALS.directory_unusable])
    expect(stderr).toMatch(/^vidimus: cannot use [^\n]+; mend its permissions, [^\n]+ VIDIMUS_DATA_DIR\n$/)
    expect(stderr).toContain(`cannot use ${join(own, name)} (`)
  }
})

test.if(canBeService)('a database that the service may only read is named by every call that opens it', async () => {
  const own = ofService()
  const file = join(own, 'vidimus.db')
  chmodSync(file, 0o400)
  const refusal = `cannot use ${file} (EACCES); mend its permissions, make room, or choose another directory with VIDIMUS_DATA_DIR`
  for (const args of [['serve'], ['tenant', 'list'], ['upgrade']]) {
    const { exitCode, stderr } = await vidimus(own, args, { PORT: '0' }, AS_SERVICE)
    expect({ args, exitCode, stderr }).toEqual({ args, exitCode: REFUSALS.directory_unusable, stderr: `vidimus: ${refusal}\n` })
  }
  expect((await vidimus(own, ['doctor'], {}, AS_SERVICE)).stdout).toContain(`Cannot use ${file} (EACCES).`)
})

test.if(canBeService)('a master key of mode 400 is not blamed for a closed file of the database', async () => {
  const own = ofService()
  const log = join(own, 'vidimus.db-wal')
  chmodSync(join(own, 'master.key'), 0o400)
  await expectStart(own)
  writeFileSync(log, '')
  chownSync(log, 0, 0)
  chmodSync(log, 0o600)
  const { stderr } = await vidimus(own, ['serve'], { PORT: '0' }, AS_SERVICE)
  expect(stderr).toStartWith(`vidimus: cannot use ${log} (`)
})

test.if(canBeService)(
  'rekey in a directory that cannot be written names the directory, before it speaks of the key in it',
  async () => {
    const own = ofService()
    chmodSync(own, 0o555)
    const { exitCode, stderr } = await vidimus(own, ['rekey'], {}, AS_SERVICE)
    expect(stderr).toBe(
      `vidimus: cannot use ${own} (EACCES); mend its permissions, make room, or choose another directory with VIDIMUS_DATA_DIR\n`,
    )
    expect(exitCode).toBe(REFUSALS.directory_unusable)
    chmodSync(own, 0o755)
    expect((await vidimus(own, ['rekey'], {}, AS_SERVICE)).exitCode).toBe(0)
  },
)

test.if(canBeService)(
  'a wrapping key that the service may not read is named as closed, by its refusal and by doctor',
  async () => {
    const own = ofService()
    const file = join(own, 'wrapping-1.key')
    chownSync(file, 0, 0)
    const { exitCode, stderr } = await vidimus(own, ['serve'], { PORT: '0' }, AS_SERVICE)
    expect(stderr).toBe(`vidimus: cannot use ${file} (EACCES); let the user of the service read it\n`)
    expect(exitCode).toBe(REFUSALS.directory_unusable)
    const { stdout } = await vidimus(own, ['doctor'], {}, AS_SERVICE)
    expect(stdout).toMatch(/problem {2}wrapping_keys +This user may not read .*\n +Let the user of the service read it\./)
  },
)
