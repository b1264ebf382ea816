import { median } from './load.ts'

/** Rounds of one measurement. A wide range shows that the machine had something else to do. */
export type Spread = { median: number; min: number; max: number }

/** Null when a round could not measure it. */
export function spreadOf(values: readonly (number | null)[]): Spread | null {
  const known = values.filter(value => value !== null)
  if (known.length < values.length || known.length === 0) return null
  return { median: median(known), min: Math.min(...known), max: Math.max(...known) }
}

export type Spreads<Figures> = { [Name in keyof Figures]: Spread | null }

/** Each figure over all rounds. */
export function spreadsOf<Figures extends Record<string, number | null>>(rounds: readonly Figures[]): Spreads<Figures> {
  const names = Object.keys(rounds[0] ?? {}) as (keyof Figures)[]
  return Object.fromEntries(names.map(name => [name, spreadOf(rounds.map(round => round[name]))])) as Spreads<Figures>
}

export const whole = (value: number): string => Math.round(value).toLocaleString('en-US')

export const fixed = (value: number | null, digits: number): string => (value === null ? 'n/a' : value.toFixed(digits))

/** The median, and the range in brackets. */
export function shown(spread: Spread | null, digits: number): string {
  if (!spread) return 'n/a'
  const figure = (value: number) => (digits === 0 ? whole(value) : fixed(value, digits))
  return `${figure(spread.median)} (${figure(spread.min)}-${figure(spread.max)})`
}

const verdict = (isMet: boolean, aim: string): string => `${aim}: ${isMet ? 'met' : 'missed'}`

export const atMost = (spread: Spread | null, maximum: number, unit = ''): string =>
  verdict((spread?.median ?? 0) <= maximum, `at most ${maximum}${unit && ` ${unit}`}`)

export const atLeast = (spread: Spread | null, minimum: number): string =>
  verdict((spread?.median ?? Number.POSITIVE_INFINITY) >= minimum, `at least ${minimum.toLocaleString('en-US')}`)

/** Figures stand under each other; words, in columns whose heading is a word without figures below it, begin together. */
export function table(headings: string[], rows: string[][]): string {
  const isFigures = headings.map((_, i) => rows.some(row => /^[\d.,]+( \(.*\))?$/.test(row[i] ?? '')))
  const widths = headings.map((heading, i) => Math.max(heading.length, ...rows.map(row => row[i]?.length ?? 0)))
  const align = (cell: string, i: number) => (isFigures[i] ? cell.padStart(widths[i]!) : cell.padEnd(widths[i]!))
  return [headings, ...rows].map(row => row.map(align).join('  ').trimEnd()).join('\n')
}
