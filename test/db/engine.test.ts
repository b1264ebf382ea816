import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createStorage, openReader, openWriter, type Storage } from '../../src/db/sqlite/storage.ts'

const dir = mkdtempSync(join(tmpdir(), 'vidimus-engine-'))
const opened: Storage[] = []
let files = 0

afterAll(async () => {
  for (const engine of opened) await engine.close()
  rmSync(dir, { recursive: true, force: true })
})

const newFile = () => join(dir, `${++files}.db`)

function openEngine(file = newFile()): Storage {
  const writer = openWriter(file)
  writer.run('CREATE TABLE IF NOT EXISTS notes (n INTEGER PRIMARY KEY)')
  const engine = createStorage(writer, openReader(file))
  opened.push(engine)
  return engine
}

test('a published payload reaches every subscriber of its topic, and nobody after unsubscribing', () => {
  const { publish, subscribe } = openEngine()
  const heard: string[] = []
  const leave = subscribe('session', id => heard.push(`first ${id}`))
  subscribe('session', id => heard.push(`second ${id}`))
  subscribe('owed', id => heard.push(`owed ${id}`))
  publish('session', 'vs_1')
  leave()
  publish('session', 'vs_2')
  publish('cancel', 'vs_3')
  expect(heard).toEqual(['first vs_1', 'second vs_1', 'second vs_2'])
})

test('a subscriber hears an empty payload when another process has written, and nothing of its own writes', async () => {
  const file = newFile()
  const mine = openEngine(file)
  const other = openEngine(file)
  const heard: string[] = []
  let wake = () => {}
  mine.subscribe('owed', payload => {
    heard.push(payload)
    wake()
  })
  await mine.write(tx => tx.run('INSERT INTO notes VALUES (1)'))
  const noticed = new Promise<void>(resolve => {
    wake = resolve
  })
  await other.write(tx => tx.run('INSERT INTO notes VALUES (2)'))
  await noticed
  expect(heard).toEqual([''])
})

test('a poll whose read fails is repeated, and ends nothing', async () => {
  const file = newFile()
  const writer = openWriter(file)
  writer.run('CREATE TABLE notes (n INTEGER PRIMARY KEY)')
  const mine = createStorage(writer, openReader(file))
  opened.push(mine)
  const other = openEngine(file)
  // The connection keeps its statements: the engine gets this one.
  const version = writer.query<{ data_version: number }, []>('PRAGMA data_version')
  const get = version.get.bind(version)
  let failures = 0
  const heard = new Promise<string>(resolve => mine.subscribe('session', resolve))
  version.get = () => {
    if (failures++ < 2) throw new Error('disk I/O error')
    return get()
  }
  await other.write(tx => tx.run('INSERT INTO notes VALUES (1)'))
  expect(await heard).toBe('')
  expect(failures).toBeGreaterThan(2)
})

test('a settings version that one process raises is seen by another', async () => {
  const file = newFile()
  const mine = openEngine(file)
  const other = openEngine(file)
  const before = await mine.settingsVersion()
  await other.writeSettings(tx => tx.run('INSERT INTO notes VALUES (1)'))
  await new Promise<void>(resolve => setImmediate(resolve))
  expect(await mine.settingsVersion()).not.toBe(before)
})

test('one process leads every job, and says which database it is', () => {
  const { whenLeader, describe } = openEngine()
  const job = { name: 'sweep', everyMs: 1000, run: async () => {} }
  expect(whenLeader(job)).toBe(job)
  expect(describe()).toEqual({ name: 'SQLite', version: expect.stringMatching(/^3\.\d+\.\d+$/) })
})
