// Indexes of tables that may hold many rows are built outside the transaction of their migration, while nodes of the release
// before read and write. A build that was cut off leaves an invalid index, which the next start or upgrade builds again.
import { StartRefusal } from '../refusal.ts'
import { type Session, sqlStateOf } from './session.ts'

const LOOK_AGAIN_MS = 1000
const CREATE_INDEX = /^CREATE (?:UNIQUE )?INDEX "?(\w+)"? ON "?(\w+)"?/
const DROP_INDEX = /^DROP INDEX "?(\w+)"?/
const CREATE_TABLE = /^CREATE (?:UNLOGGED )?TABLE "?(\w+)"?/

/** True for an index of a table that another of these statements makes: it has no rows yet. */
const isOnNewTable = (statement: string, statements: string[]): boolean => {
  const [, , table] = CREATE_INDEX.exec(statement) ?? []
  return statements.some(each => CREATE_TABLE.exec(each)?.[1] === table)
}

/** True for an index that is built while the table is in use. */
export const isBuiltLater = (statement: string, statements: string[]): boolean =>
  CREATE_INDEX.test(statement) && !isOnNewTable(statement, statements)

/** Builds what is missing, one at a time. An index that another node builds is waited for. */
export async function buildIndexes(session: Session, statements: string[]): Promise<void> {
  for (;;) {
    const [next] = await listUnbuilt(session, statements)
    if (!next) return
    if (next.isUnderWay) await Bun.sleep(LOOK_AGAIN_MS)
    else await build(session, next)
  }
}

type Unbuilt = { name: string; statement: string; isThere: boolean; isUnderWay: boolean }

/** The indexes that these statements leave, and that are missing or invalid. */
export async function listUnbuilt(session: Session, statements: string[]): Promise<Unbuilt[]> {
  const found = await session.rows<{ name: string; valid: boolean; under_way: boolean }>(
    `SELECT c.relname AS name, i.indisvalid AS valid,
       EXISTS (SELECT FROM pg_stat_progress_create_index AS p WHERE p.index_relid = i.indexrelid) AS under_way
     FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid
     WHERE c.relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = to_regclass('schema_migrations'))`,
  )
  const known = new Map(found.map(index => [index.name, index]))
  return [...wantedOf(statements)]
    .filter(([name]) => !known.get(name)?.valid)
    .map(([name, statement]) => ({
      name,
      statement,
      isThere: known.has(name),
      isUnderWay: known.get(name)?.under_way ?? false,
    }))
}

function wantedOf(statements: string[]): Map<string, string> {
  const wanted = new Map<string, string>()
  for (const statement of statements) {
    const [, created] = CREATE_INDEX.exec(statement) ?? []
    if (created) wanted.set(created, statement)
    const [, dropped] = DROP_INDEX.exec(statement) ?? []
    if (dropped) wanted.delete(dropped)
  }
  return wanted
}

async function build(session: Session, { name, statement, isThere }: Unbuilt): Promise<void> {
  try {
    await session.rows(
      isThere ? `REINDEX INDEX CONCURRENTLY "${name}"` : statement.replace(/ INDEX /, ' INDEX CONCURRENTLY IF NOT EXISTS '),
    )
  } catch (error) {
    if (sqlStateOf(error) !== '42501') throw error
    throw new StartRefusal(
      'schema_older',
      `the index ${name} is missing or unfinished, and the user of VIDIMUS_DATABASE_URL may not build it; run "vidimus upgrade" with VIDIMUS_DATABASE_OWNER_URL`,
      error,
    )
  }
}
