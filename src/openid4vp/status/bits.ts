// The list itself (Token Status List § 4): zlib data with one status after the other, the first in the lowest bits of byte 0.

import { promisify } from 'node:util'

export type StatusList = { bits: number; bytes: Uint8Array }

/** 32 million statuses of one byte. Inflating stops at this size. */
const INFLATED_BYTES_MAX = 32 * 1024 * 1024

/** Inflates on another thread: the largest lists take a tenth of a second. */
const inflated = (data: Uint8Array, options: { maxOutputLength: number }): Promise<Buffer> =>
  // Not imported: the start of the service would wait for it.
  (promisify(process.getBuiltinModule('node:zlib').inflate) as (...call: [typeof data, typeof options]) => Promise<Buffer>)(
    data,
    options,
  )

/** Undefined for a width other than 1, 2, 4 or 8, for data that is not zlib (RFC 1950), and for a list beyond the limit. */
export async function decodeStatusList({ bits, lst }: { bits: unknown; lst: Uint8Array }): Promise<StatusList | undefined> {
  if (bits !== 1 && bits !== 2 && bits !== 4 && bits !== 8) return undefined
  try {
    return { bits, bytes: await inflated(lst, { maxOutputLength: INFLATED_BYTES_MAX }) }
  } catch {
    // Too large, truncated, or not zlib: the caller gets no list.
    return undefined
  }
}

/** Undefined if the index is outside of the list. */
export function statusAt({ bits, bytes }: StatusList, index: number): number | undefined {
  if (!Number.isSafeInteger(index) || index < 0) return undefined
  const perByte = 8 / bits
  const byte = bytes[Math.floor(index / perByte)]
  return byte === undefined ? undefined : (byte >> ((index % perByte) * bits)) & ((1 << bits) - 1)
}
