// CBOR (RFC 8949) with definite, shortest lengths. Maps keep the order they were built in. Only what mdocs need: no floats.
import { concat, utf8 } from './bytes.ts'

export type Cbor =
  | null
  | boolean
  | number
  | string
  | Uint8Array
  | readonly Cbor[]
  | ReadonlyMap<string | number, Cbor>
  | Tagged
  | Encoded

export class Tagged {
  constructor(
    readonly tag: number,
    readonly value: Cbor,
  ) {}
}

/** Already encoded, and spliced in byte for byte: what was signed must not be encoded again. */
export class Encoded {
  constructor(readonly bytes: Uint8Array) {}
}

/** `24(<<value>>)`: a data item inside a byte string. */
export const embedded = (value: Cbor): Encoded => new Encoded(encodeCbor(new Tagged(24, encodeCbor(value))))

/** A map from an object, in the order of its members; an undefined member is left out. */
export const cborMap = (members: Readonly<Record<string, Cbor | undefined>>): Map<string, Cbor> =>
  new Map(Object.entries(members).filter((entry): entry is [string, Cbor] => entry[1] !== undefined))

export function encodeCbor(value: Cbor): Uint8Array<ArrayBuffer> {
  if (value === null) return Uint8Array.of(0xf6)
  if (typeof value === 'boolean') return Uint8Array.of(value ? 0xf5 : 0xf4)
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value)
  if (typeof value === 'string') return withLength(3, utf8(value))
  if (value instanceof Uint8Array) return withLength(2, value)
  if (value instanceof Tagged) return concat(head(6, value.tag), encodeCbor(value.value))
  if (value instanceof Encoded) return concat(value.bytes)
  if (isMap(value)) {
    return concat(head(5, value.size), ...[...value].flatMap(([key, member]) => [encodeCbor(key), encodeCbor(member)]))
  }
  return concat(head(4, value.length), ...value.map(encodeCbor))
}

const withLength = (major: number, bytes: Uint8Array): Uint8Array<ArrayBuffer> => concat(head(major, bytes.length), bytes)

const isMap = (value: readonly Cbor[] | ReadonlyMap<string | number, Cbor>): value is ReadonlyMap<string | number, Cbor> =>
  value instanceof Map

function head(major: number, argument: number): Uint8Array<ArrayBuffer> {
  if (!Number.isSafeInteger(argument)) throw new Error(`no whole number: ${argument}`)
  const type = major << 5
  if (argument < 24) return Uint8Array.of(type | argument)
  const size = [1, 2, 4, 8].find(bytes => argument < 2 ** (8 * bytes))!
  const bytes = new Uint8Array(1 + size)
  bytes[0] = type | (24 + Math.log2(size))
  for (let at = size, rest = argument; at > 0; at--, rest = Math.floor(rest / 256)) bytes[at] = rest % 256
  return bytes
}
