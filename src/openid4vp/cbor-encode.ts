// Deterministic CBOR for the few structures that we build ourselves: definite and shortest lengths (RFC 8949 § 4.2.1). Not the encoder of
// cbor-x, which writes a map of three with a 16-bit length. Items that were received are passed on as their own bytes.

export const CBOR_NULL = Uint8Array.of(0xf6)

export const encodeBytes = (content: Uint8Array): Uint8Array<ArrayBuffer> => concat([head(2, content.length), content])

export function encodeText(text: string): Uint8Array<ArrayBuffer> {
  const content = Buffer.from(text, 'utf8')
  return concat([head(3, content.length), content])
}

export const encodeArray = (items: readonly Uint8Array[]): Uint8Array<ArrayBuffer> => concat([head(4, items.length), ...items])

export const encodeTag = (tag: number, item: Uint8Array): Uint8Array<ArrayBuffer> => concat([head(6, tag), item])

/** Lengths and tags below 2^32. */
function head(major: number, argument: number): Uint8Array {
  const type = major << 5
  if (argument < 24) return Uint8Array.of(type | argument)
  if (argument < 0x100) return Uint8Array.of(type | 24, argument)
  if (argument < 0x10000) return Uint8Array.of(type | 25, argument >> 8, argument)
  return Uint8Array.of(type | 26, argument >>> 24, argument >>> 16, argument >>> 8, argument)
}

const concat = (parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> => Buffer.concat(parts)
