import type { Opened, Opening } from './opening.ts'
import { openPostgres } from './postgres/engine.ts'
import { openSqlite } from './sqlite/engine.ts'

export type { Role, Space } from './opening.ts'

/** The only place that asks which database is used. */
export const openEngine = (opening: Opening): Promise<Opened> => {
  const { database } = opening.config
  return database ? openPostgres(opening, database) : openSqlite(opening)
}
