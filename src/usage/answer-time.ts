// Times from creation to answer, counted in twelve steps for each power of ten (the E12 series), so
// that a median is right to a tenth. The migration that made the table has the same steps.
const E12 = [1000, 1200, 1500, 1800, 2200, 2700, 3300, 3900, 4700, 5600, 6800, 8200]

/** Least milliseconds of each step, in ascending order. The last ones are beyond any lifetime. */
export const STEPS: readonly number[] = [0, ...[1, 10, 100, 1000, 10_000].flatMap(power => E12.map(step => step * power))]

export const stepOf = (ms: number): number => STEPS.findLast(step => step <= ms) ?? 0

/** The steps in ascending order; null without any answer. The middle of the median's step. */
export function medianOf(steps: readonly { atLeastMs: number; count: number }[]): number | null {
  const total = steps.reduce((sum, { count }) => sum + count, 0)
  let passed = 0
  for (const { atLeastMs, count } of steps) {
    passed += count
    if (passed * 2 >= total && total > 0) return Math.round((atLeastMs + endOf(atLeastMs)) / 2)
  }
  return null
}

const endOf = (atLeastMs: number): number => STEPS[STEPS.indexOf(atLeastMs) + 1] ?? atLeastMs
