// The sentence about a list of which no newer one could be fetched. Pages find its time, to say it in their language.

export const staleListDetail = (asOf: number): string =>
  `Checked against the issuer's list as of ${minuteOf(asOf)}; a newer one could not be fetched.`

/** 2026-11-19 06:00 UTC */
export const minuteOf = (ms: number): string => `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC`

const DETAIL = /^Checked against the issuer's list as of (\d{4}-\d\d-\d\d) (\d\d:\d\d) UTC;/

/** The time in milliseconds; undefined for other sentences. */
export function staleListTime(detail = ''): number | undefined {
  const [, day, minute] = DETAIL.exec(detail) ?? []
  return day === undefined ? undefined : Date.parse(`${day}T${minute}Z`)
}
