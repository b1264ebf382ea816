// Deterministic CBOR for the few structures that the verifier builds: definite, shortest lengths (RFC 8949 § 4.2.1); maps in the
// order that they are given in. The size is measured first, so that a structure is written into one buffer. Not cbor-x, which
// cannot splice in the bytes of a received item.

export type Cbor =
  | null
  | boolean
  | number
  | string
  | Uint8Array
  | readonly Cbor[]
  | ReadonlyMap<string | number, Cbor>
  | Received
  | Embedded

/** A received item, written byte for byte. */
export class Received {
  constructor(readonly bytes: Uint8Array) {}
}

/** 24(bstr .cbor item). */
export class Embedded {
  constructor(readonly item: Cbor) {}
}

export function encodeCbor(item: Cbor): Uint8Array<ArrayBuffer> {
  const target = Buffer.allocUnsafe(sizeOf(item))
  write(target, item, 0)
  return target
}

function sizeOf(item: Cbor): number {
  if (item === null || typeof item === 'boolean') return 1
  if (typeof item === 'number') return headSize(item < 0 ? -1 - item : item)
  if (typeof item === 'string') return sizeWithHead(Buffer.byteLength(item))
  if (item instanceof Uint8Array) return sizeWithHead(item.length)
  if (item instanceof Received) return item.bytes.length
  if (item instanceof Embedded) return EMBEDDED_HEAD_BYTES + sizeWithHead(sizeOf(item.item))
  if (item instanceof Map) {
    let size = headSize(item.size)
    for (const [key, value] of item) size += sizeOf(key) + sizeOf(value)
    return size
  }
  const items = item as readonly Cbor[]
  let size = headSize(items.length)
  for (const each of items) size += sizeOf(each)
  return size
}

const sizeWithHead = (content: number): number => headSize(content) + content

/** Lengths and whole numbers below 2^32. */
function headSize(argument: number): number {
  if (argument < 24) return 1
  if (argument < 0x100) return 2
  return argument < 0x10000 ? 3 : 5
}

const UNSIGNED = 0
const NEGATIVE = 1
const BYTES = 2
const TEXT = 3
const ARRAY = 4
const MAP = 5
const TAG = 6
const EMBEDDED_CBOR = 24
const EMBEDDED_HEAD_BYTES = 2
const FALSE = 0xf4
const TRUE = 0xf5
const NULL = 0xf6

/** Returns the position after the item. */
function write(target: Buffer, item: Cbor, at: number): number {
  if (item === null) return writeByte(target, NULL, at)
  if (typeof item === 'boolean') return writeByte(target, item ? TRUE : FALSE, at)
  if (typeof item === 'number')
    return item < 0 ? writeHead(target, NEGATIVE, -1 - item, at) : writeHead(target, UNSIGNED, item, at)
  if (typeof item === 'string') {
    const start = writeHead(target, TEXT, Buffer.byteLength(item), at)
    return start + target.write(item, start)
  }
  if (item instanceof Uint8Array) return copy(target, item, writeHead(target, BYTES, item.length, at))
  if (item instanceof Received) return copy(target, item.bytes, at)
  if (item instanceof Embedded) {
    const start = writeHead(target, TAG, EMBEDDED_CBOR, at)
    return write(target, item.item, writeHead(target, BYTES, sizeOf(item.item), start))
  }
  if (item instanceof Map) {
    let end = writeHead(target, MAP, item.size, at)
    for (const [key, value] of item) end = write(target, value, write(target, key, end))
    return end
  }
  const items = item as readonly Cbor[]
  let end = writeHead(target, ARRAY, items.length, at)
  for (const each of items) end = write(target, each, end)
  return end
}

function writeHead(target: Buffer, major: number, argument: number, at: number): number {
  const type = major << 5
  if (argument < 24) return writeByte(target, type | argument, at)
  if (argument < 0x100) return writeByte(target, argument, writeByte(target, type | 24, at))
  if (argument < 0x10000) return target.writeUInt16BE(argument, writeByte(target, type | 25, at))
  return target.writeUInt32BE(argument, writeByte(target, type | 26, at))
}

function writeByte(target: Buffer, byte: number, at: number): number {
  target[at] = byte
  return at + 1
}

function copy(target: Buffer, bytes: Uint8Array, at: number): number {
  target.set(bytes, at)
  return at + bytes.length
}
