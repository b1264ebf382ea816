import type { Database } from 'bun:sqlite'
import ground from '../../drizzle/0000_ground.sql' with { type: 'text' }
import { sha256Hex } from '../hash.ts'

/** All migrations in their order; a test holds this list against the folder. Forward only: an applied file is never edited. */
export const MIGRATIONS: readonly (readonly [id: string, sql: string])[] = [['0000_ground', ground]]

/** The database belongs to a newer program, or a migration was edited after it was applied. */
export class MigrationError extends Error {}

export function migrate(sqlite: Database, now: number, migrations = MIGRATIONS): void {
  sqlite.run(
    'CREATE TABLE IF NOT EXISTS schema_migrations (id TEXT PRIMARY KEY, sha256 TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT',
  )
  refuseNewer(sqlite, migrations)
  for (const [id, sql] of migrations) {
    // One transaction each: a kill in the middle leaves the migration before it, and the next start goes on from there.
    sqlite.transaction(() => apply(sqlite, id, sql, now)).immediate()
  }
}

export function refuseNewer(sqlite: Database, migrations = MIGRATIONS): void {
  const known = new Set(migrations.map(([id]) => id))
  const applied = sqlite.query<{ id: string }, []>('SELECT id FROM schema_migrations ORDER BY id').all()
  const newer = applied.find(({ id }) => !known.has(id))
  if (newer) throw new MigrationError(`the database was written by a newer version (migration ${newer.id})`)
}

function apply(sqlite: Database, id: string, sql: string, now: number): void {
  const sha256 = sha256Hex(sql)
  const applied = sqlite.query<{ sha256: string }, [string]>('SELECT sha256 FROM schema_migrations WHERE id = ?').get(id)
  if (applied && applied.sha256 !== sha256) throw new MigrationError(`migration ${id} was changed after it had been applied`)
  if (applied) return
  for (const statement of sql.split('--> statement-breakpoint')) sqlite.run(statement)
  sqlite.query('INSERT INTO schema_migrations (id, sha256, applied_at) VALUES (?, ?, ?)').run(id, sha256, now)
}
