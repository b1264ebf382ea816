// Every promotion of a standby begins a new timeline. A standby that lagged has lost what the old server acknowledged last.
import type { Session } from './session.ts'

const TIMELINE = 'SELECT left(pg_walfile_name(pg_current_wal_lsn()), 8) AS timeline'

export type Timeline = { look(): Promise<void> }

/** Calls back when another server has taken over since the last look. */
export async function followTimeline(session: Session, onTakenOver: (timeline: number) => void): Promise<Timeline> {
  const read = async (): Promise<number | undefined> => {
    const [row] = await session.rows<{ timeline: string }>(TIMELINE).catch(() => [])
    return row && Number.parseInt(row.timeline, 16)
  }
  let known = await read()
  return {
    async look() {
      // Some hosted servers do not allow the question. They are not asked again.
      if (known === undefined) return
      const current = (await read()) ?? known
      if (current !== known) onTakenOver(current)
      known = current
    },
  }
}
