import type { Database } from 'bun:sqlite'
import ground from '../../../drizzle/sqlite/0000_ground.sql' with { type: 'text' }
import inPerson from '../../../drizzle/sqlite/0001_in_person.sql' with { type: 'text' }
import revocationLists from '../../../drizzle/sqlite/0002_revocation_lists.sql' with { type: 'text' }
import oidc from '../../../drizzle/sqlite/0003_oidc.sql' with { type: 'text' }
import auditFilters from '../../../drizzle/sqlite/0004_audit_filters.sql' with { type: 'text' }
import searchAndSources from '../../../drizzle/sqlite/0005_search_and_sources.sql' with { type: 'text' }
import shopLines from '../../../drizzle/sqlite/0006_shop_lines.sql' with { type: 'text' }
import templateTranslations from '../../../drizzle/sqlite/0007_template_translations.sql' with { type: 'text' }
import retentionChosen from '../../../drizzle/sqlite/0008_retention_chosen.sql' with { type: 'text' }
import alerts from '../../../drizzle/sqlite/0009_alerts.sql' with { type: 'text' }
import fetches from '../../../drizzle/sqlite/0010_fetches.sql' with { type: 'text' }
import { sha256Hex } from '../../base/hash.ts'
import { refuseBeforeFirstRelease } from '../refusal.ts'

/**
 * All migrations in order; a test compares this list with the folder. Forward only: a released file is never edited. Each has an
 * import and an entry here (`bun run migration`).
 */
export const MIGRATIONS: readonly (readonly [id: string, sql: string])[] = [
  ['0000_ground', ground],
  ['0001_in_person', inPerson],
  ['0002_revocation_lists', revocationLists],
  ['0003_oidc', oidc],
  ['0004_audit_filters', auditFilters],
  ['0005_search_and_sources', searchAndSources],
  ['0006_shop_lines', shopLines],
  ['0007_template_translations', templateTranslations],
  ['0008_retention_chosen', retentionChosen],
  ['0009_alerts', alerts],
  ['0010_fetches', fetches],
]

/** The database belongs to a newer program, or a migration was edited after it was applied. */
export class MigrationError extends Error {
  override name = 'MigrationError'
}

/** Returns the names of the applied migrations. */
export function migrate(sqlite: Database, now: number, migrations = MIGRATIONS): string[] {
  sqlite.run(
    'CREATE TABLE IF NOT EXISTS schema_migrations (id TEXT PRIMARY KEY, sha256 TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT',
  )
  const isNew = countApplied(sqlite, migrations) === 0
  const applyEach = (each: (act: () => boolean) => boolean) =>
    migrations.filter(([id, sql]) => each(() => apply(sqlite, id, sql, now))).map(([id]) => id)
  // One transaction: another process must not take a half-made new database for one of an earlier version.
  if (isNew) return sqlite.transaction(() => applyEach(act => act())).immediate()
  // One transaction each: after a kill the next start continues with the next migration.
  return applyEach(act => sqlite.transaction(act).immediate())
}

/** Throws for a database that this program cannot migrate. Reads only. */
export function countApplied(sqlite: Database, migrations = MIGRATIONS): number {
  const known = new Map(migrations.map(([id, sql]) => [id, sha256Hex(sql)]))
  const applied = sqlite.query<{ id: string; sha256: string }, []>('SELECT id, sha256 FROM schema_migrations ORDER BY id').all()
  const [id, sql] = migrations[0]!
  refuseBeforeFirstRelease(applied, { id, sql }, 'a new VIDIMUS_DATA_DIR')
  const newer = applied.find(({ id }) => !known.has(id))
  if (newer) throw new MigrationError(`the database was written by a newer version (migration ${newer.id})`)
  const edited = applied.find(({ id, sha256 }) => known.get(id) !== sha256)
  if (edited) throw new MigrationError(`migration ${edited.id} was changed after it had been applied`)
  return applied.length
}

function apply(sqlite: Database, id: string, sql: string, now: number): boolean {
  // Checked again inside the transaction: another process may have been faster.
  if (sqlite.query('SELECT 1 FROM schema_migrations WHERE id = ?').get(id)) return false
  for (const statement of sql.split('--> statement-breakpoint')) sqlite.run(statement)
  sqlite.query('INSERT INTO schema_migrations (id, sha256, applied_at) VALUES (?, ?, ?)').run(id, sha256Hex(sql), now)
  return true
}
