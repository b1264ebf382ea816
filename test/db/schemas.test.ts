// One schema page for two engines: the generated DDL of each must be what schema.ts says, and they must be alike.
import { expect, test } from 'bun:test'
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { temporaryDir } from '../helpers/app.ts'
import { runOf } from '../helpers/run.ts'

const ROOT = resolve(import.meta.dir, '../..')

type Snapshot = { tables: Record<string, { name: string; columns: Record<string, { notNull: boolean }> }> }

/** Tables with their columns, as the newest snapshot of the generator has them. It does not make PostgreSQL's unlogged ones. */
function tablesOf(engine: 'sqlite' | 'postgres'): Record<string, string[]> {
  const folder = join(ROOT, 'drizzle', engine, 'meta')
  const newest = readdirSync(folder)
    .filter(name => name.endsWith('_snapshot.json'))
    .sort()
    .at(-1)!
  const { tables } = JSON.parse(readFileSync(join(folder, newest), 'utf8')) as Snapshot
  const described = Object.values(tables).map(({ name, columns }): [string, string[]] => [
    name,
    Object.entries(columns)
      .map(([column, { notNull }]) => (notNull ? column : `${column}?`))
      .sort(),
  ])
  return Object.fromEntries(described.filter(([name]) => name !== 'portraits').sort())
}

test('both engines have the same tables, columns and nullable columns', () => {
  expect(tablesOf('postgres')).toEqual(tablesOf('sqlite'))
})

const SCHEMA = join(ROOT, 'src/db/schema')

test.each([
  ['SQLite', 'sqlite', ''],
  ['PostgreSQL', 'postgres', 'postgres:'],
] as const)('the migrations of %s are up to date with schema/', async (_, engine, url) => {
  const dir = temporaryDir()
  cpSync(join(ROOT, 'drizzle', engine), join(dir, 'out'), { recursive: true })
  const before = readdirSync(join(dir, 'out'))
  const dialect = engine === 'postgres' ? 'postgresql' : 'sqlite'
  const apart = engine === 'postgres' ? ['audit-entries.ts', 'portraits.ts'] : ['audit-entries.ts']
  const schema = readdirSync(SCHEMA).filter(name => !apart.includes(name))
  const config = { dialect, schema: schema.map(name => join(SCHEMA, name)), out: './out' }
  writeFileSync(join(dir, 'config.json'), JSON.stringify(config))
  const child = Bun.spawn(
    [process.execPath, join(ROOT, 'node_modules/.bin/drizzle-kit'), 'generate', '--config', join(dir, 'config.json')],
    {
      cwd: dir,
      env: { ...process.env, VIDIMUS_DATABASE_URL: url },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    },
  )
  const { exitCode, stdout, stderr } = await runOf(child)
  expect({ exitCode, isUpToDate: stdout.includes('No schema changes'), said: exitCode === 0 ? '' : stdout + stderr }).toEqual({
    exitCode: 0,
    isUpToDate: true,
    said: '',
  })
  expect(readdirSync(join(dir, 'out'))).toEqual(before)
})
