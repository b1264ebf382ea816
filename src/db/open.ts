import type { Opened, Opening } from './opening.ts'
import { openSqlite } from './sqlite/engine.ts'

export type { OnWait, Role, Space } from './opening.ts'

/** An error of a server's statement as a refusal that says what to do; other errors as they are. */
export const refusalOf = async ({ database }: Pick<Opening['config'], 'database'>, error: unknown): Promise<unknown> =>
  database ? (await import('./postgres/open.ts')).refusalFrom(error) : error

/** Asks which database is used, as storage/ does for commands. Nobody else asks. */
export const openEngine = async (opening: Opening): Promise<Opened> => {
  const { database } = opening.config
  if (!database) return await openSqlite(opening)
  // Loaded here: a start on SQLite does not wait for it.
  const { openPostgres } = await import('./postgres/engine.ts')
  return await openPostgres(opening, database)
}
