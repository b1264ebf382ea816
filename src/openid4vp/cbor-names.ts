// Map keys are few, and the same in every mdoc: a known key is looked up instead of being decoded.

const SLOTS = 512
const BYTES_MAX = 32

export class CborNames {
  /** One name per slot, by a hash of its bytes. The latest one stays. */
  private readonly slots = new Array<string>(SLOTS).fill('')

  /** The text between two positions, which is known to be UTF-8. */
  at(bytes: Buffer, start: number, end: number): string {
    if (end - start > BYTES_MAX) return bytes.toString('utf8', start, end)
    let hash = 0
    for (let at = start; at < end; at++) hash = (hash * 31 + bytes[at]!) | 0
    const slot = (hash >>> 0) % SLOTS
    const known = this.slots[slot]!
    if (isSame(known, bytes, start, end)) return known
    const name = bytes.toString('utf8', start, end)
    // Only ASCII is kept: a character is a byte there, so equal lengths and codes mean equal bytes.
    if (name.length === end - start) this.slots[slot] = name
    return name
  }
}

function isSame(name: string, bytes: Buffer, start: number, end: number): boolean {
  if (name.length !== end - start) return false
  for (let index = 0; index < name.length; index++) if (name.charCodeAt(index) !== bytes[start + index]) return false
  return true
}
