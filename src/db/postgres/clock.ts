// The time of the database, which all nodes follow: their own clocks need not agree.
import type { Clock } from '../../base/time.ts'
import type { Session } from './session.ts'

/** A longer round trip, or a process that stood still meanwhile, says too little about the middle. */
const ROUND_TRIP_MAX_MS = 1000

export type DatabaseClock = {
  now: Clock
  /** Milliseconds by which the database is ahead of this machine. */
  offset(): number
  /** Compares with the middle of a round trip. */
  measure(session: Session): Promise<void>
}

/** Between two measurements time passes as it does, whatever the clock of this machine is set to. */
export function createDatabaseClock(wall: Clock, monotonic: Clock): DatabaseClock {
  let ahead: number | undefined
  const now = () => monotonic() + (ahead ?? wall() - monotonic())
  let offset = 0
  return {
    now,
    offset: () => offset,
    async measure(session) {
      const sentAt = monotonic()
      const [row] = await session.rows<{ at: number }>('SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS at')
      const answeredAt = monotonic()
      if (ahead !== undefined && answeredAt - sentAt > ROUND_TRIP_MAX_MS) return
      ahead = row!.at - (sentAt + answeredAt) / 2
      offset = now() - wall()
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
