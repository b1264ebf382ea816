// The time of the database, which all nodes follow: their own clocks need not agree.
import type { Clock } from '../../time.ts'
import type { Session } from './session.ts'

export type DatabaseClock = {
  now: Clock
  /** Milliseconds by which the database is ahead of this machine. */
  offset(): number
  /** Compares with the middle of a round trip. */
  measure(session: Session): Promise<void>
}

export function createDatabaseClock(wall: Clock): DatabaseClock {
  let offset = 0
  return {
    now: () => wall() + offset,
    offset: () => offset,
    async measure(session) {
      const sentAt = wall()
      const [row] = await session.rows<{ at: number }>('SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS at')
      offset = row!.at - (sentAt + wall()) / 2
    },
  }
}

/** The latest time that any node is known to have shown: that of the newest records and of the last beat. */
export async function readShownAt(session: Session): Promise<number> {
  const [row] = await session.rows<{ at: number | null }>(
    `SELECT greatest(
       (SELECT max(at) FROM (SELECT at FROM audit_entries ORDER BY id DESC LIMIT 1000) AS newest),
       (SELECT (extract(epoch FROM max(beat_at)) * 1000)::bigint FROM nodes)) AS at`,
  )
  return row?.at ?? 0
}
