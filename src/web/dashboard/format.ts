import { useRegion } from '../shared/language.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000

/** Midnight of the reader's clock. */
const midnightOf = (at: number | Date): number => new Date(at).setHours(0, 0, 0, 0)

/** Not inside a command or an address. */
const ISO_TIME = /(?<![\w=/-])\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d(?:\.\d+)?Z)?(?![\w/-])/g

/** Numbers, dates and durations in the reader's region. */
export function useFormat() {
  const region = useRegion()
  const numbers = new Intl.NumberFormat(region)
  const fine = new Intl.NumberFormat(region, { maximumFractionDigits: 1 })
  return {
    percent: (share: number): string =>
      new Intl.NumberFormat(region, { style: 'percent', maximumFractionDigits: 1 }).format(share),
    number: (value: number): string => numbers.format(value),
    date: (at: string): string => new Intl.DateTimeFormat(region, { dateStyle: 'medium' }).format(Date.parse(at)),
    /** A calendar day, independent of the time zone. */
    day: (day: string): string =>
      new Intl.DateTimeFormat(region, { dateStyle: 'medium', timeZone: 'UTC' }).format(Date.parse(day)),
    /** The hour that begins then, by the reader's clock: which day, from when, until when. */
    hour: (at: string, now: number): { day: string; from: string; to: string } => {
      const clock = new Intl.DateTimeFormat(region, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })
      const begin = new Date(at)
      const end = new Date(begin.getTime() + HOUR_MS)
      const daysAgo = Math.round((midnightOf(now) - midnightOf(begin)) / DAY_MS)
      const isNear = daysAgo === 0 || daysAgo === 1
      return {
        day: isNear
          ? new Intl.RelativeTimeFormat(region, { numeric: 'auto' }).format(-daysAgo, 'day')
          : new Intl.DateTimeFormat(region, { dateStyle: 'medium' }).format(begin),
        from: clock.format(begin),
        // The end of a day is not the beginning of it.
        to: end.getTime() === midnightOf(end) ? '24:00' : clock.format(end),
      }
    },
    time: (at: string): string =>
      new Intl.DateTimeFormat(region, { dateStyle: 'medium', timeStyle: 'short', hourCycle: 'h23' }).format(Date.parse(at)),
    /** A sentence with times as programs write them. */
    dated: (text: string): string =>
      text.replace(ISO_TIME, at =>
        new Intl.DateTimeFormat(region, {
          dateStyle: 'medium',
          ...(at.includes('T') ? { timeStyle: 'short', hourCycle: 'h23' } : { timeZone: 'UTC' }),
        }).format(Date.parse(at)),
      ),
    clock: (at: string): string =>
      new Intl.DateTimeFormat(region, {
        hour: '2-digit',
        minute: '2-digit',
        second: '2-digit',
        fractionalSecondDigits: 3,
        hourCycle: 'h23',
      }).format(Date.parse(at)),
    /** As exact as a guess: seconds below ten, steps of five below a minute, then half minutes. */
    about: (ms: number): string => {
      const step = ms < 9500 ? 1000 : ms < 57_500 ? 5000 : 30_000
      const seconds = Math.max(step, Math.round(ms / step) * step) / 1000
      return seconds < 60 ? `${seconds} s` : `${fine.format(seconds / 60)} min`
    },
    duration: (ms: number): string => {
      if (ms < 1000) return `${numbers.format(ms)} ms`
      if (ms < 60_000) return `${fine.format(ms / 1000)} s`
      const seconds = Math.round((ms % 60_000) / 1000)
      if (ms < 3_600_000) return `${Math.floor(ms / 60_000)} min${seconds > 0 ? ` ${seconds} s` : ''}`
      return `${fine.format(ms / 3_600_000)} h`
    },
  }
}
