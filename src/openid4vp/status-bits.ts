// The list itself (Token Status List § 4): zlib data, and in it one status after the other, the first in the lowest bits of byte 0.

import { inflateSync } from 'node:zlib'

export type StatusList = { bits: number; bytes: Uint8Array }

/** 32 million one-bit statuses. Inflating stops there, whatever the data would have become. */
const INFLATED_BYTES_MAX = 4 * 1024 * 1024

/** Undefined for another width than 1, 2, 4 or 8, for what is not zlib (RFC 1950), and for a list that inflates beyond the limit. */
export function decodeStatusList({ bits, lst }: { bits: unknown; lst: Uint8Array }): StatusList | undefined {
  if (bits !== 1 && bits !== 2 && bits !== 4 && bits !== 8) return undefined
  try {
    return { bits, bytes: inflateSync(lst, { maxOutputLength: INFLATED_BYTES_MAX }) }
  } catch {
    // Too large, cut short, or not zlib: for the caller there is no list.
    return undefined
  }
}

/** Undefined when the index lies outside of the list. */
export function statusAt({ bits, bytes }: StatusList, index: number): number | undefined {
  if (!Number.isSafeInteger(index) || index < 0) return undefined
  const perByte = 8 / bits
  const byte = bytes[Math.floor(index / perByte)]
  return byte === undefined ? undefined : (byte >> ((index % perByte) * bits)) & ((1 << bits) - 1)
}
