// Bun.SQL once returned the rows of one query to another (oven-sh/bun#33627). Rows that lead to claims are compared
// with what was asked for: such a mistake is an error, and shows nobody the claims of somebody else.
import type { Db } from './engine.ts'

export class ForeignRow extends Error {
  override name = 'ForeignRow'
}

/** Throws unless the row has every value that was asked for. PostgreSQL drops the connections it may have come from. */
export function refuseForeign<Row extends object>(db: Db, row: Row, asked: { [Name in keyof Row]?: Row[Name] }): void {
  for (const name in asked) if (asked[name] !== undefined && row[name] !== asked[name]) distrust(db)
}

function distrust(db: Db): never {
  const error = new ForeignRow('the database returned a row that was not asked for')
  const { $client } = db as unknown as { $client?: { distrust?(error: ForeignRow): void } }
  $client?.distrust?.(error)
  throw error
}
