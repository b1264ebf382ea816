import type { Database } from 'bun:sqlite'

/** Result of one invariant. */
export type Checked = { name: string; what: string; violations: string[]; counts: Record<string, number> }

/** Places named per kind of violation: one is enough to look, and a damaged file may have millions. */
const NAMED_MAX = 10

export function named(problem: string, places: readonly string[]): string[] {
  const rest = places.length - NAMED_MAX
  return [...places.slice(0, NAMED_MAX).map(place => `${problem}: ${place}`), ...(rest > 0 ? [`${problem}: ${rest} more`] : [])]
}

/** Each query gives a row per violation, whose first column says where. */
export function violationsOf(sqlite: Database, queries: Record<string, string>): string[] {
  return Object.entries(queries).flatMap(([problem, query]) => {
    const places = sqlite.query<Record<string, unknown>, []>(query).all()
    return named(
      problem,
      places.map(row => String(Object.values(row)[0])),
    )
  })
}

export const countOf = (sqlite: Database, table: string): number =>
  sqlite.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${table}`).get()?.n ?? 0

/** A session's id opens its wallet routes: here its beginning is enough to find it. */
export const shortened = (id: string): string => `${id.slice(0, 11)}…`
