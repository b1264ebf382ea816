import type { Random } from '../base/ids.ts'

const JITTER = 0.2

/** Milliseconds until the next attempt, by the number of ended attempts; undefined after the last. */
export function waitBefore(
  delaysMs: readonly number[],
  attemptsEnded: number,
  random: Random,
  retryAfterMs?: number,
): number | undefined {
  const delay = delaysMs[attemptsEnded]
  if (delay === undefined) return undefined
  // A Retry-After counts between the delay and twice the delay.
  if (retryAfterMs !== undefined) return Math.min(Math.max(retryAfterMs, delay), 2 * delay)
  return Math.round(delay * (1 - JITTER + 2 * JITTER * fraction(random)))
}

/** Uniform in [0, 1]. */
const fraction = (random: Random): number => Buffer.from(random(4)).readUInt32BE() / 0xffff_ffff

/** Retry-After of RFC 9110 § 10.2.3: seconds or a date. */
export function retryAfterOf(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined
  if (/^\d{1,12}$/.test(header)) return Number(header) * 1000
  const date = /^[A-Z][a-z]{2}, /.test(header) ? Date.parse(header) : Number.NaN
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}
