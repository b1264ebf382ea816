// Statements of many kinds on few connections, each with a tag that its rows must show: no row may reach another's caller.
import type { Session } from '../../src/db/postgres/session.ts'

type Row = Record<string, unknown>

/** A statement and what its first row must be. */
type Tagged = { text: string; params?: unknown[]; row: Row | undefined }

/** Each stays prepared on its connection. */
const NEW_TEXTS = 3001

/** Statements that are prepared, new, without parameters, without rows, wide, and refused, in an order that repeats. */
const KINDS: ((tag: string, n: number) => Tagged)[] = [
  tag => ({ text: 'SELECT $1::text AS tag', params: [tag], row: { tag } }),
  // A text that this connection has not seen: PostgreSQL parses it first.
  (tag, n) => ({ text: `SELECT $1::text AS tag, ${n % NEW_TEXTS} AS n`, params: [tag], row: { tag, n: n % NEW_TEXTS } }),
  tag => ({ text: `SELECT '${tag}' AS tag`, row: { tag } }),
  (tag, n) => ({
    text: 'SELECT $1::text AS tag, $2::bigint AS number, $3::bytea AS bytes',
    params: [tag, n, Buffer.from(tag)],
    row: { tag, number: n, bytes: Buffer.from(tag) },
  }),
  tag => ({ text: 'SELECT $1::text AS tag WHERE false', params: [tag], row: undefined }),
  tag => ({ text: "SELECT $1::text AS tag, repeat('x', 5000) AS filler", params: [tag], row: { tag, filler: 'x'.repeat(5000) } }),
  tag => ({ text: 'SELECT $1::text AS other, generate_series(1, 3) AS row', params: [tag], row: { other: tag, row: 1 } }),
]

type Counts = { right: number; foreign: number; failed: number }

/** Runs `count` statements, so many at once, and compares every answer. Resolves only when every promise has settled. */
export async function runTagged(sessions: readonly Session[], count: number, atOnce: number): Promise<Counts> {
  const counts = { right: 0, foreign: 0, failed: 0 }
  for (let from = 0; from < count; from += atOnce) {
    const batch = Array.from({ length: Math.min(atOnce, count - from) }, (_, i) => from + i)
    await Promise.all(batch.map(n => runOne(sessions[n % sessions.length]!, n, counts)))
  }
  return counts
}

async function runOne(session: Session, n: number, counts: Counts): Promise<void> {
  const { text, params, row } = KINDS[(n * 7 + Math.floor(n / 5)) % KINDS.length]!(`tag-${n}`, n)
  try {
    const [found] = await session.rows(text, params)
    counts[Bun.deepEquals(found && { ...found }, row) ? 'right' : 'foreign']++
  } catch {
    counts.failed++
  }
}
