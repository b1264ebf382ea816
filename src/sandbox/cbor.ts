// CBOR by cbor-x, in its build without eval: the page's content security policy forbids that. Only
// a `Map` gets the shortest head; the members of a plain object would be counted in 16 bits.
import { Encoder, Tag } from 'cbor-x/index-no-eval'
import type { Json } from './json.ts'

export { Tag }

/** Mdocs have no floats. */
export type Cbor =
  | null
  | boolean
  | number
  | string
  | Uint8Array
  | readonly Cbor[]
  | ReadonlyMap<string | number | Uint8Array, Cbor>
  | Tag

/** `tagUint8Array: false`: where there is a Buffer, byte strings would get tag 64. */
const codec = new Encoder({ mapsAsObjects: false, useRecords: false, tagUint8Array: false })

export const encodeCbor = (value: Cbor): Uint8Array<ArrayBuffer> => new Uint8Array(codec.encode(value))

export const decodeCbor = (bytes: Uint8Array): Cbor => codec.decode(bytes)

/**
 * `24(<<value>>)`: a data item inside a byte string. Its bytes survive decoding and encoding, so a
 * digest over them still holds.
 */
export const embedded = (value: Cbor): Tag => new Tag(encodeCbor(value), 24)

/** A map from an object, in the order of its members; an undefined member is left out. */
export const cborMap = (members: Readonly<Record<string, Cbor | undefined>>): Map<string, Cbor> =>
  new Map(Object.entries(members).filter((entry): entry is [string, Cbor] => entry[1] !== undefined))

/** Tags are dropped. */
export function cborToJson(value: Cbor, bytesToText: (bytes: Uint8Array) => string): Json {
  const toJson = (inner: Cbor) => cborToJson(inner, bytesToText)
  if (value instanceof Tag) return toJson(value.value)
  if (value instanceof Uint8Array) return bytesToText(value)
  if (value instanceof Map) return Object.fromEntries([...value].map(([name, member]) => [String(name), toJson(member)]))
  return Array.isArray(value) ? value.map(toJson) : (value as Exclude<Json, object>)
}
