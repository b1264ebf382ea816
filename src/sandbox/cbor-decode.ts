// Reads back what cbor-encode.ts writes: definite lengths, no floats. For the wallet's own messages, which it shows; not for a stranger's.
import { type Cbor, Tagged } from './cbor-encode.ts'

export function decodeCbor(bytes: Uint8Array): Cbor {
  let at = 0

  const argument = (info: number): number => {
    if (info < 24) return info
    let value = 0
    for (let left = 2 ** (info - 24); left > 0; left--) value = value * 256 + bytes[at++]!
    return value
  }

  const take = (length: number): Uint8Array => {
    at += length
    return bytes.subarray(at - length, at)
  }

  const read = (): Cbor => {
    const first = bytes[at++]!
    const value = argument(first & 31)
    switch (first >> 5) {
      case 0:
        return value
      case 1:
        return -1 - value
      case 2:
        return take(value)
      case 3:
        return new TextDecoder().decode(take(value))
      case 4:
        return Array.from({ length: value }, read)
      case 5:
        return new Map(Array.from({ length: value }, () => [read() as string | number, read()] as const))
      case 6:
        return new Tagged(value, read())
      default:
        return value === 22 ? null : value === 21
    }
  }

  return read()
}
