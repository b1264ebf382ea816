import { useRegion } from '../shared/language.tsx'

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
    time: (at: string): string =>
      new Intl.DateTimeFormat(region, { dateStyle: 'medium', timeStyle: 'short', hourCycle: 'h23' }).format(Date.parse(at)),
    clock: (at: string): string =>
      new Intl.DateTimeFormat(region, {
        hour: '2-digit',
        minute: '2-digit',
        second: '2-digit',
        fractionalSecondDigits: 3,
        hourCycle: 'h23',
      }).format(Date.parse(at)),
    duration: (ms: number): string => {
      if (ms < 1000) return `${numbers.format(ms)} ms`
      if (ms < 60_000) return `${fine.format(ms / 1000)} s`
      const seconds = Math.round((ms % 60_000) / 1000)
      if (ms < 3_600_000) return `${Math.floor(ms / 60_000)} min${seconds > 0 ? ` ${seconds} s` : ''}`
      return `${fine.format(ms / 3_600_000)} h`
    },
  }
}
