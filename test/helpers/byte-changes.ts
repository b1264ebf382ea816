// Bytes of something good, some of them changed: by which kinds, and where.
export const CHANGE_KINDS = ['flip', 'delete', 'insert', 'swap', 'truncate', 'duplicate'] as const

/** Place as a share of the length, number of bytes, and the new bytes. */
export type Change = {
  kind: (typeof CHANGE_KINDS)[number]
  at: number
  length: number
  value: number
}

export const changed = (bytes: Buffer, all: readonly Change[]): Buffer => all.reduce(withChange, bytes)

function withChange(bytes: Buffer, { kind, at, length, value }: Change): Buffer {
  const start = Math.floor(at * bytes.length)
  const end = start + length
  const [before, part, after] = [bytes.subarray(0, start), bytes.subarray(start, end), bytes.subarray(end)]
  switch (kind) {
    case 'flip':
      return Buffer.concat([before, part.map((byte, i) => (i === 0 ? byte ^ (1 << (value % 8)) : byte)), after])
    case 'delete':
      return Buffer.concat([before, after])
    case 'insert':
      return Buffer.concat([before, Buffer.of(value), part, after])
    case 'swap':
      return Buffer.concat([before, after.subarray(0, length), part, after.subarray(length)])
    case 'truncate':
      return before
    case 'duplicate':
      return Buffer.concat([before, part, part, after])
  }
}

export const changedText = (text: string, all: readonly Change[]): string => changed(Buffer.from(text), all).toString('latin1')

/**
 * One of the base64url parts, changed and written again as it should be, so that what follows the decoding sees it; in one of ten
 * cases the text as a whole. An mdoc is one part.
 */
export function withChangedPart(text: string, part: number, all: readonly Change[]): string {
  const parts = text.split(/([.~])/)
  if (part % 10 === 0) return changedText(text, all)
  const at = 2 * (part % Math.ceil(parts.length / 2))
  return parts.with(at, changed(Buffer.from(parts[at] ?? '', 'base64url'), all).toString('base64url')).join('')
}
