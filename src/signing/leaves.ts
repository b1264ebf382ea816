// The leaf for an owner's new sessions. Each leaf has a start, and the one that started last is
// current: a certificate can be imported before it is valid. A session keeps the leaf that it began
// with.
import type { KeyOwner, Leaf } from './store.ts'

export const startOf = ({ startsAt, createdAt }: Leaf): number => startsAt ?? createdAt

type Started<L> = {
  /** Keyed by tenant; null is the installation. */
  current: ReadonlyMap<KeyOwner, L>
  /** When the next one starts; infinite if none is scheduled. */
  until: number
}

export function leavesAt<L extends Leaf>(leaves: readonly L[], at: number): Started<L> {
  const current = new Map<KeyOwner, L>()
  let until = Number.POSITIVE_INFINITY
  for (const leaf of leaves) {
    if (isLater(leaf, at)) until = Math.min(until, startOf(leaf))
    else if (isAfter(leaf, current.get(leaf.tenantId))) current.set(leaf.tenantId, leaf)
  }
  return { current, until }
}

/** One without a start counts at once, by the clock of a slower machine too. */
export const isLater = ({ startsAt }: Leaf, at: number): boolean => startsAt !== null && startsAt > at

/** The later import wins when two start at the same time. */
function isAfter(leaf: Leaf, other: Leaf | undefined): boolean {
  if (!other) return true
  return startOf(leaf) - startOf(other) > 0 || (startOf(leaf) === startOf(other) && leaf.createdAt > other.createdAt)
}

/** The next to start; undefined if none is scheduled. */
export function nextLeaf<L extends Leaf>(leaves: readonly L[], at: number): L | undefined {
  const later = leaves.filter(leaf => isLater(leaf, at))
  return later.toSorted((one, other) => startOf(one) - startOf(other) || other.createdAt - one.createdAt)[0]
}
