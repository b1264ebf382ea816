import { Database } from 'bun:sqlite'
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { MIGRATIONS, migrate } from '../../../src/db/sqlite/migrate.ts'
import { temporaryDir } from '../app.ts'

/** A directory as the program left it that knew only the first migrations, with the rows of this one. */
export function withOldSchema(dir: string, known: number): string {
  const old = temporaryDir()
  copyFileSync(join(dir, 'master.key'), join(old, 'master.key'))
  const sqlite = new Database(join(old, 'vidimus.db'))
  sqlite.run('PRAGMA application_id = 0x56494449')
  sqlite.run('PRAGMA journal_mode = WAL')
  migrate(sqlite, Date.now(), MIGRATIONS.slice(0, known))
  sqlite.run(`ATTACH '${join(dir, 'vidimus.db')}' AS now`)
  for (const name of tablesOf(sqlite, 'main')) {
    if (name === 'schema_migrations') continue
    const columns = columnsOf(sqlite, 'main', name).filter(column => columnsOf(sqlite, 'now', name).includes(column))
    const list = columns.map(column => `"${column}"`).join(', ')
    // Then there was one secret for both environments.
    const kept = name === 'webhook_secrets' && !columns.includes('environment') ? " WHERE environment = 'live'" : ''
    sqlite.run(`INSERT INTO main."${name}" (${list}) SELECT ${list} FROM now."${name}"${kept}`)
  }
  sqlite.run('DETACH now')
  sqlite.close()
  return old
}

const tablesOf = (sqlite: Database, schema: string): string[] =>
  sqlite
    .query<{ name: string }, []>(`SELECT name FROM ${schema}.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`)
    .all()
    .map(({ name }) => name)

const columnsOf = (sqlite: Database, schema: string, table: string): string[] =>
  sqlite
    .query<{ name: string }, []>(`PRAGMA ${schema}.table_info("${table}")`)
    .all()
    .map(({ name }) => name)
