const TYPOS_MAX = 2

/** The name with the fewest typos: at most two, and fewer than half of its letters. */
export function nearest(typed: string, names: readonly string[]): string | undefined {
  const ranked = names
    .map(name => ({ name, typos: typosBetween(typed.slice(0, 40), name) }))
    .filter(({ name, typos }) => typos <= TYPOS_MAX && typos * 2 < name.length)
    .toSorted((a, b) => a.typos - b.typos)
  return ranked[0]?.name
}

/** Letters missing, added, changed or swapped with a neighbour (optimal string alignment). */
function typosBetween(one: string, other: string): number {
  const rows = [Array.from({ length: other.length + 1 }, (_, j) => j)]
  for (let i = 1; i <= one.length; i++) {
    const row = [i]
    for (let j = 1; j <= other.length; j++) {
      const change = one[i - 1] === other[j - 1] ? 0 : 1
      const isSwap = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1]
      row.push(
        Math.min(
          rows[i - 1]![j]! + 1,
          row[j - 1]! + 1,
          rows[i - 1]![j - 1]! + change,
          isSwap ? rows[i - 2]![j - 2]! + 1 : Number.POSITIVE_INFINITY,
        ),
      )
    }
    rows.push(row)
  }
  return rows[one.length]![other.length]!
}
