// Commands that write to a disk that is full: each says which disk, leaves nothing behind, and works once there is room.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cleanUp, createVerification, startWithTenant } from '../helpers/app.ts'
import { vidimus } from '../helpers/cli.ts'
import { smallDisk, unmountAll } from '../helpers/crash/small-disk.ts'
import { isOnPostgres } from '../helpers/database.ts'
import { namesIn } from '../helpers/directories.ts'

afterAll(unmountAll)
afterAll(cleanUp)

const disk = smallDisk(4 * 1024 * 1024)
const skipped = disk ? '' : 'SKIPPED, because nobody may mount a disk here: '
let dir: string

beforeAll(async () => {
  const { app, key } = await startWithTenant({ now: Date.now() })
  await createVerification(app, key)
  await app.stop()
  dir = app.dir
})

const FULL = 'the disk is full; make room, then call this again'

const ofItsDisk = (file: string) => `the disk of ${file} is full; make room there, or choose another`
const BACKUP = ['backup', ['backup', 'copy.db'], ofItsDisk] as const

test.skipIf(!disk).each([
  // PostgreSQL has its own tools for it.
  ...(isOnPostgres ? [] : [BACKUP]),
  ['audit export', ['audit', 'export', 'audit.jsonl'], ofItsDisk],
  ['trust bundle export', ['trust', 'bundle', 'export', 'trust.bundle'], ofItsDisk],
  ['tls init', ['tls', 'init', '--host', 'shop.example', '--out', 'tls'], () => FULL],
] as const)(`${skipped}%s says that the disk is full, and works once there is room`, async (_, words, message) => {
  const target = join(disk!.dir, words.at(-1)!)
  const args = [...words.slice(0, -1), target]
  const filler = join(disk!.dir, 'filler')
  fill(filler)
  const { exitCode, stderr } = await vidimus(dir, args)
  expect(stderr).toBe(`vidimus: ${message(target)}\n`)
  expect(exitCode).toBe(1)
  expect(namesIn(disk!.dir).filter(each => each !== 'tls')).toEqual(['filler'])
  rmSync(filler)
  expect(await vidimus(dir, args)).toMatchObject({ exitCode: 0 })
  rmSync(target, { recursive: true })
})

/** Until not one page is left. */
function fill(file: string): void {
  for (const bytes of [1024 * 1024, 4096]) {
    try {
      for (;;) writeFileSync(file, Buffer.alloc(bytes), { flag: 'a' })
    } catch {
      // Full for pieces of this size.
    }
  }
}

test('an answer that cannot be written is a failure with a message', async () => {
  const shell = ['sh', '-c', 'exec "$@" > /dev/full', 'sh']
  const { exitCode, stderr } = await vidimus(dir, ['tenant', 'list'], {}, shell)
  expect(stderr).toBe('vidimus: cannot write the output (ENOSPC); check what was done before you run this again\n')
  expect(exitCode).toBe(1)
})
