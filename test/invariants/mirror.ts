// A PostgreSQL database as a SQLite file, as of one moment: the invariants are written once, and read from there.
import { Database } from 'bun:sqlite'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SQL } from 'bun'

const MIGRATIONS = join(import.meta.dir, '../../drizzle/sqlite')
const ROWS_AT_ONCE = 500

/** Writes `vidimus.db` and the erasure logs of all nodes into a folder. */
export async function mirror(url: string, nodeDirs: readonly string[], into: string): Promise<void> {
  const sqlite = new Database(join(into, 'vidimus.db'), { create: true })
  const client = new SQL(url, { max: 1 })
  try {
    sqlite.run('PRAGMA foreign_keys = OFF')
    for (const file of readdirSync(MIGRATIONS)
      .filter(name => name.endsWith('.sql'))
      .sort()) {
      const statements = readFileSync(join(MIGRATIONS, file), 'utf8').split('--> statement-breakpoint')
      for (const statement of statements) sqlite.run(statement)
    }
    await client.begin('ISOLATION LEVEL REPEATABLE READ READ ONLY', async tx => {
      const links = (await tx.unsafe('SELECT entry_id, seq FROM audit_links')) as { entry_id: string; seq: string }[]
      const seqOf = new Map(links.map(({ entry_id, seq }) => [String(entry_id), Number(seq)]))
      for (const table of tablesOf(sqlite)) await copy(tx, sqlite, table, seqOf)
    })
  } finally {
    sqlite.close()
    await client.close()
  }
  mirrorErasures(nodeDirs, into)
}

const tablesOf = (sqlite: Database): string[] =>
  sqlite
    .query<{ name: string }, []>("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    .all()
    .map(({ name }) => name)

async function copy(tx: SQL, sqlite: Database, table: string, seqOf: Map<string, number>): Promise<void> {
  const columns = sqlite.query<{ name: string; type: string }, []>(`SELECT name, type FROM pragma_table_info('${table}')`).all()
  const names = columns.map(({ name }) => name)
  const insert = sqlite.prepare(`INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`)
  const rows = (await tx.unsafe(`SELECT ${names.join(', ')} FROM ${table}`).values()) as unknown[][]
  for (let from = 0; from < rows.length; from += ROWS_AT_ONCE) {
    sqlite.transaction(() => {
      for (const row of rows.slice(from, from + ROWS_AT_ONCE)) {
        // A session keeps the id of its entry, which is not its place on the chain.
        const values = row.map((value, i) =>
          value === null
            ? null
            : names[i] === 'audit_seq'
              ? (seqOf.get(String(value)) ?? null)
              : columns[i]!.type === 'INTEGER'
                ? Number(value)
                : value,
        )
        insert.run(...(values as (string | number | null | Uint8Array)[]))
      }
    })()
  }
}

/** Each node notes the erasures it carried out. */
function mirrorErasures(nodeDirs: readonly string[], into: string): void {
  const logs = nodeDirs.map(dir => join(dir, 'backups/erasures.log')).filter(file => existsSync(file))
  if (logs.length === 0) return
  const texts = logs.map(file => readFileSync(file, 'utf8').split('\n'))
  const since = Math.min(...texts.map(([heading = '']) => Number(/since (\d+)/.exec(heading)?.[1] ?? 0)))
  mkdirSync(join(into, 'backups'), { recursive: true })
  writeFileSync(
    join(into, 'backups/erasures.log'),
    [`vidimus erasures since ${since} of ${'0'.repeat(64)}`, ...texts.flatMap(([, ...lines]) => lines)].join('\n'),
  )
}
