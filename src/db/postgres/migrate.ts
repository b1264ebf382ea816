import ground from '../../../drizzle/postgres/0000_ground.sql' with { type: 'text' }
import inPerson from '../../../drizzle/postgres/0001_in_person.sql' with { type: 'text' }
import revocationLists from '../../../drizzle/postgres/0002_revocation_lists.sql' with { type: 'text' }
import oidc from '../../../drizzle/postgres/0003_oidc.sql' with { type: 'text' }
import auditFilters from '../../../drizzle/postgres/0004_audit_filters.sql' with { type: 'text' }
import searchAndSources from '../../../drizzle/postgres/0005_search_and_sources.sql' with { type: 'text' }
import shopLines from '../../../drizzle/postgres/0006_shop_lines.sql' with { type: 'text' }
import templateTranslations from '../../../drizzle/postgres/0007_template_translations.sql' with { type: 'text' }
import retentionChosen from '../../../drizzle/postgres/0008_retention_chosen.sql' with { type: 'text' }
import alerts from '../../../drizzle/postgres/0009_alerts.sql' with { type: 'text' }
import fetches from '../../../drizzle/postgres/0010_fetches.sql' with { type: 'text' }
import { sha256Hex } from '../../base/hash.ts'
import { OlderDatabase, refuseBeforeFirstRelease, StartRefusal } from '../refusal.ts'
import { buildIndexes, isBuiltLater, listUnbuilt } from './indexes.ts'
import { type Session, sqlStateOf } from './session.ts'

/**
 * `expand` adds: nodes of the release before still run on it, and a start applies it. `contract` takes away: only
 * `vidimus upgrade --finish` applies it.
 */
export type Migration = { id: string; sql: string; kind: 'expand' | 'contract' }

/** All migrations in order, as those of SQLite (sqlite/migrate.ts). */
export const MIGRATIONS: readonly Migration[] = [
  { id: '0000_ground', sql: ground, kind: 'expand' },
  { id: '0001_in_person', sql: inPerson, kind: 'expand' },
  { id: '0002_revocation_lists', sql: revocationLists, kind: 'expand' },
  { id: '0003_oidc', sql: oidc, kind: 'expand' },
  { id: '0004_audit_filters', sql: auditFilters, kind: 'expand' },
  { id: '0005_search_and_sources', sql: searchAndSources, kind: 'expand' },
  { id: '0006_shop_lines', sql: shopLines, kind: 'expand' },
  { id: '0007_template_translations', sql: templateTranslations, kind: 'expand' },
  { id: '0008_retention_chosen', sql: retentionChosen, kind: 'expand' },
  { id: '0009_alerts', sql: alerts, kind: 'expand' },
  { id: '0010_fetches', sql: fetches, kind: 'expand' },
]

/** Any number: the same one for everybody who changes the schema of a database. */
export const MIGRATION_LOCK = 7_634_021_001
/** A wait for a table makes everybody else wait behind it: short waits, repeated. */
const LOCK_TIMEOUT = '2s'
const TRIES_MAX = 30
const RETRY_MS = 1000

type Applied = { id: string; sha256: string; kind: Migration['kind'] }

type Migrated = { isNew: boolean; upgraded: string[] }

type MigrateOptions = { now: number; mayMigrate: boolean; kinds?: Migration['kind'][]; migrations?: readonly Migration[] }

/** True when a start has nothing to change here. */
export async function isUpToDate(session: Session): Promise<boolean> {
  const applied = await listApplied(session)
  const isExpanded = missingFrom(applied, MIGRATIONS).every(({ kind }) => kind !== 'expand')
  return (
    isExpanded && applied.every(({ id }) => !isOwed(id)) && (await listUnbuilt(session, doneOf(applied, MIGRATIONS))).length === 0
  )
}

/** Structure first, in one short transaction; then, beside nodes that serve, the rows and the indexes that are owed. */
export async function migrate(session: Session, wanted: MigrateOptions): Promise<Migrated> {
  const { mayMigrate, migrations = MIGRATIONS } = wanted
  const migrated = await repeated(() => migrateOnce(session, wanted))
  if (mayMigrate) {
    await repeated(() => fillOwed(session, migrations))
    const done = doneOf(await listApplied(session), migrations)
    await repeated(() => buildIndexes(session, done))
  }
  return migrated
}

/** A table that others hold is asked for again, some seconds later. */
async function repeated<Result>(act: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await act()
    } catch (error) {
      if (tries === TRIES_MAX || !['55P03', '40P01'].includes(sqlStateOf(error) ?? '')) throw error
      await Bun.sleep(RETRY_MS)
    }
  }
}

/** One transaction under one lock: of several nodes that start at once, one migrates and the others find it done. */
const migrateOnce = (
  session: Session,
  { now, mayMigrate, kinds = ['expand'], migrations = MIGRATIONS }: MigrateOptions,
): Promise<Migrated> =>
  underLock(session, async () => {
    const applied = await listApplied(session)
    const isNew = applied.length === 0
    const missing = missingFrom(applied, migrations).filter(({ kind }) => isNew || kinds.includes(kind))
    if (missing.length > 0) {
      if (!mayMigrate && !isNew) throw new OlderDatabase()
      await applyAll(session, missing, { now, isNew })
    }
    return { isNew, upgraded: isNew ? [] : missing.map(({ id }) => id) }
  })

async function underLock<Result>(session: Session, work: () => Promise<Result>): Promise<Result> {
  await session.rows('BEGIN')
  try {
    // This lock holds up nobody but others who migrate, so a wait for it has no limit.
    await session.rows(`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`)
    await session.rows(`SET LOCAL lock_timeout = '${LOCK_TIMEOUT}'`)
    const result = await work()
    await session.rows('COMMIT')
    return result
  } catch (error) {
    await session.rows('ROLLBACK').catch(() => session.drop())
    throw error
  }
}

/** The rows of new tables that are counted from old ones. */
const fillOwed = (session: Session, migrations: readonly Migration[]): Promise<void> =>
  underLock(session, async () => {
    const owed = (await listApplied(session)).filter(({ id }) => isOwed(id))
    for (const { id } of owed) {
      const migration = migrations.find(each => owedBy(each) === id)
      for (const statement of migration ? phasesOf(migration).rows : []) await session.rows(statement)
      await session.rows('DELETE FROM schema_migrations WHERE id = $1', [id])
    }
  })

async function applyAll(session: Session, missing: Migration[], { now, isNew }: { now: number; isNew: boolean }): Promise<void> {
  try {
    if (isNew)
      await session.rows(
        'CREATE TABLE schema_migrations (id text PRIMARY KEY, sha256 text NOT NULL, kind text NOT NULL, applied_at bigint NOT NULL)',
      )
    for (const migration of missing) await (isNew ? applyWhole : applyStructure)(session, migration, now)
  } catch (error) {
    if (sqlStateOf(error) !== '42501') throw error
    throw new StartRefusal(
      'schema_older',
      `the database is ${isNew ? 'empty' : 'of an earlier version than this program'}, and the user of VIDIMUS_DATABASE_URL may not change that; run "vidimus upgrade" with VIDIMUS_DATABASE_OWNER_URL`,
      error,
    )
  }
}

/** The migrations that would be applied, in order. */
export async function listPending(session: Session, migrations = MIGRATIONS): Promise<Migration[]> {
  return missingFrom(await listApplied(session), migrations)
}

export const hasSchema = async (session: Session): Promise<boolean> => (await listApplied(session)).length > 0

/** A database that "vidimus move" copies into has a schema but not yet all rows. */
export async function isBeingMoved(session: Session): Promise<boolean> {
  const [found] = await session.rows<{ name: string | null }>("SELECT to_regclass('move_progress')::text AS name")
  return found?.name !== null
}

/** Throws for a database from before 0.1.0. */
async function listApplied(session: Session): Promise<Applied[]> {
  // The table is named with its schema: the server then says which right is missing, instead of not finding it.
  const [found] = await session.rows<{ name: string | null }>(
    `SELECT coalesce(to_regclass('schema_migrations')::text,
       (SELECT 'public.schema_migrations' FROM pg_class JOIN pg_namespace AS n ON n.oid = relnamespace
        WHERE relname = 'schema_migrations' AND nspname = 'public' AND NOT has_schema_privilege(n.oid, 'USAGE'))) AS name`,
  )
  if (!found?.name) return []
  const applied = await session.rows<Applied>(`SELECT id, sha256, kind FROM ${found.name} ORDER BY id`)
  refuseBeforeFirstRelease(applied, MIGRATIONS[0]!, 'an empty database in VIDIMUS_DATABASE_URL')
  return applied
}

/** A node runs on a schema with additions it does not know, but not on one from which something was taken away. */
function missingFrom(applied: Applied[], migrations: readonly Migration[]): Migration[] {
  const known = new Map(migrations.map(migration => [migration.id, migration]))
  const newer = applied.find(({ id, kind }) => kind === 'contract' && !known.has(id))
  if (newer)
    throw new StartRefusal(
      'schema_newer',
      `the database was changed by a newer version (migration ${newer.id}); start that version`,
    )
  const edited = applied.find(({ id, sha256 }) => known.has(id) && sha256Hex(known.get(id)!.sql) !== sha256)
  if (edited)
    throw new StartRefusal(
      'schema_newer',
      `migration ${edited.id} is another one in this version; start the version that made the database`,
    )
  const done = new Set(applied.map(({ id }) => id))
  return migrations.filter(({ id }) => !done.has(id))
}

const OWED = ' (rows)'
const owedBy = ({ id }: Migration): string => `${id}${OWED}`
const isOwed = (id: string): boolean => id.endsWith(OWED)

const statementsOf = ({ sql }: Migration): string[] =>
  sql.split('--> statement-breakpoint').map(statement => statement.replace(/^(\s|--.*\n)*/, ''))

/** The statements that have been applied, in order. */
function doneOf(applied: Applied[], migrations: readonly Migration[]): string[] {
  const done = new Set(applied.map(({ id }) => id))
  return migrations.filter(({ id }) => done.has(id)).flatMap(statementsOf)
}

/** Rows are the statements at its end that change no table: they need none of the locks of those before. */
function phasesOf(migration: Migration): { structure: string[]; rows: string[] } {
  const statements = statementsOf(migration)
  const atOnce = statements.filter(statement => !isBuiltLater(statement, statements))
  const from = atOnce.findLastIndex(statement => /^(CREATE|ALTER|DROP)\b/.test(statement)) + 1
  return migration.kind === 'contract'
    ? { structure: statements, rows: [] }
    : { structure: atOnce.slice(0, from), rows: atOnce.slice(from) }
}

/** A new database has no rows that anybody could wait for. */
async function applyWhole(session: Session, migration: Migration, now: number): Promise<void> {
  for (const statement of statementsOf(migration)) await session.rows(statement)
  await note(session, migration.id, migration, now)
}

async function applyStructure(session: Session, migration: Migration, now: number): Promise<void> {
  const { structure, rows } = phasesOf(migration)
  for (const statement of structure) await session.rows(statement)
  await note(session, migration.id, migration, now)
  if (rows.length > 0) await note(session, owedBy(migration), migration, now)
}

const note = (session: Session, id: string, { sql, kind }: Migration, now: number): Promise<unknown> =>
  session.rows('INSERT INTO schema_migrations (id, sha256, kind, applied_at) VALUES ($1, $2, $3, $4)', [
    id,
    sha256Hex(sql),
    kind,
    now,
  ])
