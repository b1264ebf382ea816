import { useEffect, useState } from 'preact/hooks'
import { useCommon, useRegion } from './language.ts'

const TICK_MS = 30_000
const MINUTE_MS = 60_000
const UNITS: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', MINUTE_MS],
]
const RELATIVE_MS_MAX = 7 * 86_400_000
/** The clock of the server may be ahead. */
const AHEAD_MS = 10_000

/** The current time, updated at an interval. */
export function useNow(everyMs = TICK_MS): number {
  const [now, setNow] = useState(Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs)
    return () => clearInterval(timer)
  }, [everyMs])
  return now
}

/** Minutes and seconds, as on a clock. */
export function minutes(ms: number): string {
  const seconds = Math.ceil(ms / 1000)
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}

/** The remaining time of a session, by the server's clock. */
export const useLeftMs = ({ expires_at }: { expires_at: string }, aheadMs: number): number =>
  Math.max(0, Date.parse(expires_at) - (useNow(1000) + aheadMs))

/** A relative time, with the exact UTC time on hover; with `exact`, to the second. */
export function Time({ at, exact = false }: { at: string; exact?: boolean }) {
  const region = useRegion()
  const { justNow } = useCommon()
  const ms = Date.parse(at) - useNow()
  const isJustNow = ms > -MINUTE_MS && ms < AHEAD_MS
  const shown = exact ? exactTime(at, region) : isJustNow ? justNow : relativeTime(ms, at, region)
  return (
    <time dateTime={at} title={at}>
      {shown}
    </time>
  )
}

function relativeTime(ms: number, at: string, region: string): string {
  if (Math.abs(ms) > RELATIVE_MS_MAX) return new Intl.DateTimeFormat(region, { dateStyle: 'medium' }).format(Date.parse(at))
  const [unit, size] = UNITS.find(([, unitMs]) => Math.abs(ms) >= unitMs) ?? (['minute', MINUTE_MS] as const)
  return new Intl.RelativeTimeFormat(region, { numeric: 'auto' }).format(Math.trunc(ms / size) || 1, unit)
}

const exactTime = (at: string, region: string): string =>
  new Intl.DateTimeFormat(region, { dateStyle: 'medium', timeStyle: 'medium', hourCycle: 'h23' }).format(Date.parse(at))
