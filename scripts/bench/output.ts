export const whole = (value: number): string => Math.round(value).toLocaleString('en-US')

export const fixed = (value: number | null, digits: number): string => (value === null ? 'n/a' : value.toFixed(digits))

export const verdict = (isMet: boolean, aim: string): string => `${aim}: ${isMet ? 'met' : 'missed'}`

export const atMost = (value: number | null, maximum: number, unit = ''): string =>
  verdict((value ?? 0) <= maximum, `at most ${maximum}${unit && ` ${unit}`}`)

/** Figures stand under each other; words, in columns whose heading is a word without figures below it, begin together. */
export function table(headings: string[], rows: string[][]): string {
  const isFigures = headings.map((_, i) => rows.some(row => /^[\d.,]+$/.test(row[i] ?? '')))
  const widths = headings.map((heading, i) => Math.max(heading.length, ...rows.map(row => row[i]?.length ?? 0)))
  const align = (cell: string, i: number) => (isFigures[i] ? cell.padStart(widths[i]!) : cell.padEnd(widths[i]!))
  return [headings, ...rows].map(row => row.map(align).join('  ').trimEnd()).join('\n')
}
