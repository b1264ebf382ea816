import type { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { is } from 'drizzle-orm'
import { getTableConfig, type SQLiteColumn, SQLiteSyncDialect, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { countApplied, MIGRATIONS, MigrationError, migrate } from '../../src/db/sqlite/migrate.ts'
import { openWriter } from '../../src/db/sqlite/storage.ts'

const FOLDER = resolve(import.meta.dir, '../../drizzle/sqlite')
/** Of every feature; `audit-entries` names tables of PostgreSQL. */
const SCHEMA = await Promise.all(
  readdirSync(resolve(import.meta.dir, '../../src/db/schema'))
    .filter(name => name !== 'audit-entries.ts')
    .map(async name => Object.values<unknown>(await import(`../../src/db/schema/${name}`))),
)
const AT = Date.parse('2026-03-04T12:00:00.000Z')

const dir = mkdtempSync(join(tmpdir(), 'vidimus-migrate-'))
process.on('exit', () => rmSync(dir, { recursive: true, force: true }))
let files = 0

const newDatabase = (): Database => openWriter(join(dir, `${++files}.db`))

/** Everything a database holds, structure and rows. */
function contentOf(sqlite: Database): unknown {
  const tables = sqlite.query<{ name: string; sql: string | null }, []>('SELECT name, sql FROM sqlite_schema ORDER BY name').all()
  const rows = tables
    .filter(({ sql }) => sql?.startsWith('CREATE TABLE'))
    .map(({ name }) => [name, sqlite.query(`SELECT * FROM "${name}"`).all()])
  return { tables, rows }
}

describe('the list of migrations', () => {
  test('is the folder, in its order, with the text of each file', () => {
    const names = readdirSync(FOLDER)
      .filter(name => name.endsWith('.sql'))
      .sort()
    expect(names.length).toBeGreaterThan(0)
    expect(MIGRATIONS.map(([id]) => `${id}.sql`)).toEqual(names)
    for (const [id, sql] of MIGRATIONS) expect(sql).toBe(readFileSync(join(FOLDER, `${id}.sql`), 'utf8'))
  })

  test('is what the journal of the generator names', () => {
    const journal = JSON.parse(readFileSync(join(FOLDER, 'meta/_journal.json'), 'utf8')) as { entries: { tag: string }[] }
    expect(MIGRATIONS.map(([id]) => id)).toEqual(journal.entries.map(({ tag }) => tag))
  })

  test('is numbered without a gap', () => {
    MIGRATIONS.forEach(([id], i) => {
      expect(id).toStartWith(`${String(i).padStart(4, '0')}_`)
    })
  })
})

describe('migrating', () => {
  test('a new file gets every migration, with the time it was applied', () => {
    const sqlite = newDatabase()
    migrate(sqlite, AT)
    expect(sqlite.query('SELECT id, applied_at FROM schema_migrations ORDER BY id').all()).toEqual(
      MIGRATIONS.map(([id]) => ({ id, applied_at: AT })),
    )
    expect(countApplied(sqlite)).toBe(MIGRATIONS.length)
  })

  test('a second time changes nothing', () => {
    const sqlite = newDatabase()
    migrate(sqlite, AT)
    sqlite.run("INSERT INTO installation (name, value) VALUES ('kept', x'01')")
    const before = contentOf(sqlite)
    const changesBefore = sqlite.query('SELECT total_changes() AS count').get()
    migrate(sqlite, AT + 1000)
    expect(contentOf(sqlite)).toEqual(before)
    expect(sqlite.query('SELECT total_changes() AS count').get()).toEqual(changesBefore)
  })

  test('a later migration is applied to what is there, and keeps it', () => {
    const sqlite = newDatabase()
    migrate(sqlite, AT)
    sqlite.run("INSERT INTO tenants (id, name, plan, created_at) VALUES ('ten_1', 'Shop', 'standard', 1)")
    const later = [...MIGRATIONS, ['9999_later', 'ALTER TABLE tenants ADD COLUMN colour text']] as const
    migrate(sqlite, AT + 1000, later)
    expect(sqlite.query('SELECT id, colour FROM tenants').all()).toEqual([{ id: 'ten_1', colour: null }])
    expect(sqlite.query("SELECT applied_at FROM schema_migrations WHERE id = '9999_later'").get()).toEqual({
      applied_at: AT + 1000,
    })
  })

  test('a migration that was edited after it had been applied is refused, and nothing is changed', () => {
    const sqlite = newDatabase()
    migrate(sqlite, AT, [...MIGRATIONS, ['9000_note', 'ALTER TABLE tenants ADD COLUMN note text']])
    const before = contentOf(sqlite)
    const edited = [
      ...MIGRATIONS,
      ['9000_note', 'ALTER TABLE tenants ADD COLUMN remark text'],
      ['9999_later', 'CREATE TABLE later (id text)'],
    ] as const
    expect(() => migrate(sqlite, AT, edited)).toThrow(MigrationError)
    expect(() => migrate(sqlite, AT, edited)).toThrow('migration 9000_note was changed')
    expect(contentOf(sqlite)).toEqual(before)
  })

  test('a database of a newer version is refused by the name of its migration, and nothing is changed', () => {
    const sqlite = newDatabase()
    migrate(sqlite, AT, [...MIGRATIONS, ['9999_later', 'CREATE TABLE later (id text)']])
    const before = contentOf(sqlite)
    expect(() => countApplied(sqlite)).toThrow(MigrationError)
    expect(() => migrate(sqlite, AT)).toThrow('a newer version (migration 9999_later)')
    expect(contentOf(sqlite)).toEqual(before)
  })

  test('one that stops half-way leaves the one before it whole and nothing of its own; the next start goes on', () => {
    const sqlite = newDatabase()
    const first = ['0000_first', 'CREATE TABLE first (id text);--> statement-breakpoint\nINSERT INTO first VALUES (1)'] as const
    const statements = [
      'CREATE TABLE second (id text)',
      'INSERT INTO second SELECT id FROM first',
      'DELETE FROM first',
      'stop here',
    ]
    const broken = ['0001_second', statements.join(';--> statement-breakpoint\n')] as const
    const third = ['0002_third', 'CREATE TABLE third (id text)'] as const

    migrate(sqlite, AT, [first])
    expect(() => migrate(sqlite, AT, [first, broken, third])).toThrow()
    expect(sqlite.query('SELECT id FROM schema_migrations').all()).toEqual([{ id: '0000_first' }])
    expect(sqlite.query('SELECT id FROM first').all()).toEqual([{ id: '1' }])
    expect(sqlite.query("SELECT name FROM sqlite_schema WHERE name IN ('second', 'third')").all()).toEqual([])
    expect(sqlite.inTransaction).toBe(false)

    const mended = ['0001_second', statements.slice(0, 3).join(';--> statement-breakpoint\n')] as const
    migrate(sqlite, AT + 1000, [first, mended, third])
    expect(sqlite.query('SELECT id, applied_at FROM schema_migrations').all()).toEqual([
      { id: '0000_first', applied_at: AT },
      { id: '0001_second', applied_at: AT + 1000 },
      { id: '0002_third', applied_at: AT + 1000 },
    ])
    expect(sqlite.query('SELECT id FROM second').all()).toEqual([{ id: '1' }])
  })

  test('a process that is killed in the middle leaves the migration before it whole, and the next one goes on', async () => {
    const file = join(dir, `${++files}.db`)
    // A function that ends the process: called in the middle of the second migration's SQL.
    const script = `
      import { migrate } from ${JSON.stringify(resolve(import.meta.dir, '../../src/db/sqlite/migrate.ts'))}
      import { openWriter } from ${JSON.stringify(resolve(import.meta.dir, '../../src/db/sqlite/storage.ts'))}
      const sqlite = openWriter(${JSON.stringify(file)})
      const run = sqlite.run.bind(sqlite)
      sqlite.run = (sql, ...rest) => sql.includes('die here') ? process.kill(process.pid, 'SIGKILL') : run(sql, ...rest)
      const second = 'CREATE TABLE second (id text);--> statement-breakpoint\\nSELECT 1 -- die here'
      const first = ['0000_first', 'CREATE TABLE first (id text)']
      migrate(sqlite, 1, [first])
      migrate(sqlite, 1, [first, ['0001_second', second]])`
    const child = Bun.spawn([process.execPath, '-e', script], { stdout: 'ignore', stderr: 'pipe' })
    expect(await child.exited).toBe(137)
    const sqlite = openWriter(file)
    const tables = () =>
      sqlite
        .query<{ name: string }, []>("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
        .all()
        .map(({ name }) => name)
    expect(tables()).toEqual(['first', 'schema_migrations'])
    migrate(sqlite, AT, [
      ['0000_first', 'CREATE TABLE first (id text)'],
      ['0001_second', 'CREATE TABLE second (id text)'],
    ])
    expect(tables()).toEqual(['first', 'schema_migrations', 'second'])
    sqlite.close()
  })

  test('a new database has all of them or none, so that nobody takes it for an older one', () => {
    const sqlite = newDatabase()
    const broken = [
      ['0000_first', 'CREATE TABLE first (id text)'],
      ['0001_second', 'stop here'],
    ] as const
    expect(() => migrate(sqlite, AT, broken)).toThrow()
    expect(sqlite.query('SELECT id FROM schema_migrations').all()).toEqual([])
    expect(sqlite.query("SELECT name FROM sqlite_schema WHERE name = 'first'").all()).toEqual([])
  })

  test('processes that migrate at once apply everything once', async () => {
    const file = join(dir, `${++files}.db`)
    const script = `
      import { migrate } from ${JSON.stringify(resolve(import.meta.dir, '../../src/db/sqlite/migrate.ts'))}
      import { openWriter } from ${JSON.stringify(resolve(import.meta.dir, '../../src/db/sqlite/storage.ts'))}
      migrate(openWriter(${JSON.stringify(file)}), 1)`
    const children = [1, 2, 3].map(() => Bun.spawn([process.execPath, '-e', script], { stderr: 'pipe' }))
    expect(await Promise.all(children.map(child => child.exited))).toEqual([0, 0, 0])
    const sqlite = openWriter(file)
    expect(sqlite.query('SELECT id FROM schema_migrations').all()).toHaveLength(MIGRATIONS.length)
    sqlite.close()
  })
})

describe('schema/ and the migrations agree on', () => {
  const migrated = newDatabase()
  migrate(migrated, AT)
  const tables = SCHEMA.flat().filter(each => is(each, SQLiteTable))
  const configs = tables.map(getTableConfig)
  type TableConfig = (typeof configs)[number]
  const dialect = new SQLiteSyncDialect()

  test('the tables', () => {
    const stored = migrated
      .query<{ name: string }, []>(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name",
      )
      .all()
      .map(({ name }) => name)
    expect(configs.map(({ name }) => name).sort()).toEqual(stored.filter(name => name !== 'schema_migrations'))
  })

  for (const config of configs) {
    test(`the columns, keys and indexes of ${config.name}`, () => {
      expect(declaredColumns(config)).toEqual(storedColumns(config.name))
      expect(declaredIndexes(config)).toEqual(storedIndexes(config.name))
      expect(declaredReferences(config)).toEqual(storedReferences(config.name))
    })
  }

  const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1)

  type Column = { name: string; type: string; notNull: boolean; default: string | null; key: number }

  /** In any order: a migration adds a column at the end, wherever the schema has it. */
  function declaredColumns({ columns, primaryKeys }: TableConfig): Column[] {
    const composite = primaryKeys[0]?.columns.map(({ name }) => name) ?? []
    return columns
      .map(column => ({
        name: column.name,
        type: column.getSQLType().toUpperCase(),
        notNull: column.notNull,
        // As SQL writes it: text in single quotes.
        default: column.default === undefined ? null : JSON.stringify(column.default).replaceAll('"', "'"),
        key: column.primary ? 1 : composite.indexOf(column.name) + 1,
      }))
      .sort(byName)
  }

  function storedColumns(table: string): Column[] {
    type Info = { name: string; type: string; notnull: number; dflt_value: string | null; pk: number }
    return migrated
      .query<Info, []>(`PRAGMA table_info("${table}")`)
      .all()
      .map(({ name, type, notnull, dflt_value, pk }) => ({
        name,
        type: type.toUpperCase(),
        notNull: notnull === 1,
        default: dflt_value,
        key: pk,
      }))
      .sort(byName)
  }

  type Index = { name: string; unique: boolean; columns: string[]; where: string | null }

  function declaredIndexes({ indexes }: TableConfig): Index[] {
    return indexes
      .map(({ config: { name, unique, columns, where } }) => ({
        name,
        unique,
        columns: columns.map(column => (column as SQLiteColumn).name),
        where: where ? dialect.sqlToQuery(where).sql : null,
      }))
      .sort(byName)
  }

  function storedIndexes(table: string): Index[] {
    type Info = { name: string; unique: number; origin: string }
    return migrated
      .query<Info, []>(`PRAGMA index_list("${table}")`)
      .all()
      .filter(({ origin }) => origin === 'c')
      .map(({ name, unique }) => ({ name, unique: unique === 1, columns: indexColumns(name), where: whereOf(name) }))
      .sort(byName)
  }

  const indexColumns = (index: string): string[] =>
    migrated
      .query<{ name: string }, []>(`PRAGMA index_info("${index}")`)
      .all()
      .map(({ name }) => name)

  function whereOf(index: string): string | null {
    const { sql } = migrated.query<{ sql: string }, [string]>('SELECT sql FROM sqlite_schema WHERE name = ?').get(index)!
    return / WHERE (.*)$/s.exec(sql)?.[1] ?? null
  }

  type Reference = { table: string; from: string[]; to: string[] }
  const byText = (a: Reference, b: Reference) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)

  function declaredReferences({ foreignKeys }: TableConfig): Reference[] {
    return foreignKeys
      .map(key => key.reference())
      .map(({ columns, foreignTable, foreignColumns }) => ({
        table: getTableConfig(foreignTable).name,
        from: columns.map(({ name }) => name),
        to: foreignColumns.map(({ name }) => name),
      }))
      .sort(byText)
  }

  function storedReferences(table: string): Reference[] {
    type Info = { id: number; table: string; from: string; to: string }
    const rows = migrated.query<Info, []>(`PRAGMA foreign_key_list("${table}")`).all()
    const byId = Map.groupBy(rows, ({ id }) => id)
    return [...byId.values()]
      .map(each => ({ table: each[0]!.table, from: each.map(({ from }) => from), to: each.map(({ to }) => to) }))
      .sort(byText)
  }

  test('every reference to rows of a tenant carries the tenant', () => {
    const crossing = configs.flatMap(({ name, columns, foreignKeys }) => {
      const ofTenant = columns.some(column => column.name === 'tenant_id')
      return foreignKeys
        .map(key => key.reference())
        .filter(({ foreignTable }) => getTableConfig(foreignTable).columns.some(column => column.name === 'tenant_id'))
        .filter(({ columns: from }) => !ofTenant || !from.some(column => column.name === 'tenant_id'))
        .map(({ foreignTable }) => `${name} -> ${getTableConfig(foreignTable).name}`)
    })
    expect(crossing).toEqual([])
  })
})
