export type Clock = () => number

export const DAY_MS = 86_400_000

export const isoUtc = (ms: number): string => new Date(ms).toISOString()

export const utcDay = (ms: number): string => isoUtc(ms).slice(0, 10)

export const secondsToUtcMidnight = (ms: number): number => Math.ceil((DAY_MS - (ms % DAY_MS)) / 1000)

/** The API document shows this pattern, so no `\\d`: some languages match other digits with it. */
export const UTC_INSTANT =
  '^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,9})?Z$'
const utcInstant = new RegExp(UTC_INSTANT)

/** An RFC 3339 UTC instant with 0-9 fraction digits. */
export function isUtcInstant(text: string): boolean {
  if (!utcInstant.test(text)) return false
  // Every month has 28 days, and responses contain many times: only later days need the calendar.
  if (text.slice(8, 10) <= '28') return true
  const whole = text.slice(0, 19)
  const seconds = Date.parse(`${whole}Z`)
  // Date.parse turns 30 February into 2 March, so a real date must print back unchanged.
  return !Number.isNaN(seconds) && isoUtc(seconds).slice(0, 19) === whole
}

/** Whole milliseconds; a finer fraction rounds up, so that `< before` drops no row. */
export function parseUtcInstant(text: string): number | undefined {
  if (!isUtcInstant(text)) return undefined
  return Date.parse(`${text.slice(0, 19)}Z`) + Math.ceil(Number(text.slice(20, -1).padEnd(9, '0')) / 1_000_000)
}

/**
 * A clock that follows the wall clock and never steps back: while the wall clock is behind, time
 * passes at half speed until it has caught up. So a corrected clock revives no token, code or quota
 * day; nor does a restart that passes the time `shown` before.
 */
export function steadyClock(wall: Clock, monotonic: Clock, shown = Number.NEGATIVE_INFINITY): Clock {
  let last = Math.max(wall(), shown)
  let lastMonotonic = monotonic()
  return () => {
    const monotonicNow = monotonic()
    last = Math.max(wall(), last + (monotonicNow - lastMonotonic) / 2)
    lastMonotonic = monotonicNow
    return Math.floor(last)
  }
}

/**
 * Milliseconds by which the wall clock moved beyond the time that passed since the last call;
 * negative is back. A machine that slept counts as forward.
 */
export function watchSteps(wall: Clock, monotonic: Clock): () => number {
  let offset = wall() - monotonic()
  return () => {
    const before = offset
    offset = wall() - monotonic()
    return Math.round(offset - before)
  }
}

/** The result of `work`, or of the fallback when it is late. The timer is cleared: otherwise it would keep the process alive. */
export async function within<T>(ms: number, work: Promise<T>, onLate: () => T): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<void>(resolve => {
    timer = setTimeout(resolve, ms)
  }).then(onLate)
  return await Promise.race([work, late]).finally(() => clearTimeout(timer))
}

/** Longest pause between two steps of a job. */
const PAUSE_MAX_MS = 1000

/**
 * A pause for jobs that work through all rows: called between two steps, it waits three times as
 * long as the step took, and requests have the thread.
 */
export function pauseBetweenSteps(): () => Promise<void> {
  let since = performance.now()
  return async () => {
    await Bun.sleep(Math.min(PAUSE_MAX_MS, 3 * (performance.now() - since)))
    since = performance.now()
  }
}
