import type { trustSources } from '../db/schema/trust.ts'

type SourceState = 'fresh' | 'stale' | 'ended'

type Dates = Pick<typeof trustSources.$inferSelect, 'issuedAt' | 'nextUpdate' | 'graceMs'>

/** The lifetime of a VICAL that leaves out its next update. */
const UNDATED_MS = 90 * 86_400_000

/** When the list should have been replaced. */
export const nextUpdateOf = ({ issuedAt, nextUpdate }: Omit<Dates, 'graceMs'>): number => nextUpdate ?? issuedAt + UNDATED_MS

/** The time from which the entries of a list do not count. A refused or unreachable update does not change it. */
export const endOf = (source: Dates): number => nextUpdateOf(source) + source.graceMs

/** `now` is the clock that never goes back. */
export function sourceState(source: Dates, now: number): SourceState {
  if (now < nextUpdateOf(source)) return 'fresh'
  return now < endOf(source) ? 'stale' : 'ended'
}
