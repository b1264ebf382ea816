// One schema for two engines: the generated DDL of each must be what src/db/schema says, and they must be alike.
import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { ENGINES, generate } from '../../scripts/build/migration.ts'
import { temporaryDir } from '../helpers/app.ts'

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

test.each(ENGINES)('the migrations in drizzle/$folder are up to date with the schema', async engine => {
  expect((await generate(engine, 'missing', temporaryDir())).id).toBeUndefined()
})
