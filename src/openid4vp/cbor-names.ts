// The names in maps are few, and the same in every mdoc: one that came before is found again instead of being built from its bytes.

const SLOTS = 512
const BYTES_MAX = 32

export class CborNames {
  /** By a hash of their bytes, the latest name in each slot. */
  private readonly slots = new Array<string>(SLOTS).fill('')

  /** The text between these places, which is known to be UTF-8. */
  at(bytes: Buffer, start: number, end: number): string {
    if (end - start > BYTES_MAX) return bytes.toString('utf8', start, end)
    let hash = 0
    for (let at = start; at < end; at++) hash = (hash * 31 + bytes[at]!) | 0
    const slot = (hash >>> 0) % SLOTS
    const known = this.slots[slot]!
    if (isSame(known, bytes, start, end)) return known
    const name = bytes.toString('utf8', start, end)
    // Only ASCII is kept, where a character is a byte: of anything else the bytes could be those of another name.
    if (name.length === end - start) this.slots[slot] = name
    return name
  }
}

function isSame(name: string, bytes: Buffer, start: number, end: number): boolean {
  if (name.length !== end - start) return false
  for (let index = 0; index < name.length; index++) if (name.charCodeAt(index) !== bytes[start + index]) return false
  return true
}
