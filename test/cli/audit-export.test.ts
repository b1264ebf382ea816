// `vidimus audit export FILE --force`: an export that replaces a file is as private as a new one.
import { Database } from 'bun:sqlite'
import { expect, spyOn, test } from 'bun:test'
import { chmodSync, mkdirSync, readdirSync, readFileSync, symlinkSync, watch, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createVerification, startApp, temporaryDir } from '../helpers/app.ts'
import { vidimus as runVidimus } from '../helpers/cli.ts'
import { vidimus, vidimusJson } from '../helpers/command.ts'
import { canInject, injecting, titled } from '../helpers/crash/system-calls.ts'
import { databaseOf, isOnPostgres } from '../helpers/database.ts'
import { modeOf, namesIn } from '../helpers/directories.ts'
import { PROGRAM } from '../helpers/program.ts'

test('an export that replaces a file has mode 600, whatever the mode of the file was, also behind a link', async () => {
  const dir = await directoryWithRecords()
  const folder = temporaryDir()
  const target = join(folder, 'audit.jsonl')
  const link = join(folder, 'link.jsonl')
  symlinkSync(target, link)
  for (const name of [target, link]) {
    writeFileSync(target, 'old')
    chmodSync(target, 0o644)
    expect(await vidimusJson<object>(dir, 'audit', 'export', name, '--force')).toMatchObject({ ok: true, file: name })
    expect([name, modeOf(target)]).toEqual([name, '600'])
    expect(readFileSync(target, 'utf8')).toContain('to sell a bottle')
  }
  expect(namesIn(folder)).toEqual(['audit.jsonl', 'link.jsonl'])
})

test('an export that cannot be written changes nothing and leaves no file behind', async () => {
  const dir = await directoryWithRecords()
  const folder = temporaryDir()
  mkdirSync(join(folder, 'mine'))
  for (const name of [join(folder, 'mine'), join(folder, 'nowhere', 'audit.jsonl')]) {
    const { exitCode, stderr } = await vidimus(dir, ['audit', 'export', name, '--force'])
    expect([name, exitCode]).toEqual([name, 1])
    expect(stderr).toBe(`vidimus: cannot write ${name}; give a path in a directory that exists and is yours\n`)
  }
  expect(readdirSync(folder, { recursive: true })).toEqual(['mine'])
})

test('an export that is killed leaves nothing under its name, and the next one removes what it left', async () => {
  const dir = await directoryWithRecords()
  const folder = temporaryDir()
  const { PATH = '', HOME = '' } = process.env
  const { promise: hasBegun, resolve: begin } = Promise.withResolvers<void>()
  const watcher = watch(folder, () => begin())
  const child = Bun.spawn([PROGRAM, 'audit', 'export', join(folder, 'audit.jsonl')], {
    env: { PATH, HOME, VIDIMUS_DATA_DIR: dir, ...(await databaseOf(dir)) },
    stdout: 'ignore',
    stderr: 'ignore',
  })
  await hasBegun
  child.kill('SIGKILL')
  await child.exited
  watcher.close()
  // The kill may come too late: then the export is whole.
  const finished = namesIn(folder).filter(name => name === 'audit.jsonl')
  for (const name of finished)
    expect(await vidimusJson(dir, 'audit', 'verify', '--file', join(folder, name))).toMatchObject({ ok: true })
  await vidimusJson(dir, 'audit', 'export', join(folder, 'later.jsonl'))
  expect(namesIn(folder)).toEqual([...finished, 'later.jsonl'])
})

test('an export, a bundle and a backup without --force leave a file alone that appears while they are written', async () => {
  const dir = await directoryWithRecords()
  const verbs = [['audit', 'export'], ['trust', 'bundle', 'export'], ...(isOnPostgres ? [] : [['backup']])]
  for (const verb of verbs) {
    const target = join(temporaryDir(), 'new')
    // Only the lock of a part is taken in this way: the file was looked for before.
    const query = spyOn(Database.prototype, 'query').mockImplementation(function (this: Database, sql: string) {
      if (sql === 'BEGIN EXCLUSIVE') writeFileSync(target, 'mine')
      return this.prepare(sql) as never
    })
    try {
      const { exitCode, stderr } = await vidimus(dir, [...verb, target])
      expect(stderr).toBe(`vidimus: ${target} exists already; choose another name, or replace it with --force\n`)
      expect([exitCode, readFileSync(target, 'utf8'), namesIn(dirname(target))]).toEqual([1, 'mine', ['new']])
    } finally {
      query.mockRestore()
    }
  }
})

test.skipIf(!canInject)(titled('an export to a disk without links is written whole under its name'), async () => {
  const dir = await directoryWithRecords()
  const target = join(temporaryDir(), 'audit.jsonl')
  const exported = await runVidimus(dir, ['audit', 'export', target], {}, injecting('?link,linkat', 'error=EPERM'))
  expect(exported).toMatchObject({ exitCode: 0, stderr: '' })
  expect(await vidimusJson(dir, 'audit', 'verify', '--file', target)).toMatchObject({ ok: true })
  expect([modeOf(target), namesIn(dirname(target))]).toEqual(['600', ['audit.jsonl']])
})

async function directoryWithRecords(): Promise<string> {
  const app = await startApp({ now: Date.now() })
  const { key } = await app.tenant()
  await createVerification(app, key, { purpose: 'to sell a bottle' })
  await app.stop()
  return app.dir
}
