import type { Random } from '../../src/base/ids.ts'

export type Seeded = {
  /** From 0 up to, and without, 1. */
  next(): number
  /** A whole number from 0 up to, and without, the limit. */
  below(limit: number): number
  bytes: Random
}

/** Mulberry32: the same sequence for the same seed, on every machine. Never for secrets. */
export function seeded(seed: number): Seeded {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (limit: number) => Math.floor(next() * limit)
  return { next, below, bytes: count => Uint8Array.from({ length: count }, () => below(256)) }
}
