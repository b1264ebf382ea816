// Runs in browsers, too: no node:*, no Buffer.

export const utf8 = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text)

export function concat(...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let offset = 0
  for (const part of parts) {
    all.set(part, offset)
    offset += part.length
  }
  return all
}

export const sha256 = async (bytes: Uint8Array): Promise<Uint8Array<ArrayBuffer>> =>
  new Uint8Array(await crypto.subtle.digest('SHA-256', new Uint8Array(bytes)))

/** For @sd-jwt/core. Every credential of the sandbox uses SHA-256. */
export const sha256Hasher = (data: string | ArrayBuffer): Promise<Uint8Array> =>
  sha256(typeof data === 'string' ? utf8(data) : new Uint8Array(data))

export function toBase64(bytes: Uint8Array): string {
  let binary = ''
  for (let at = 0; at < bytes.length; at++) binary += String.fromCharCode(bytes[at]!)
  return btoa(binary)
}

export const toBase64Url = (bytes: Uint8Array): string =>
  toBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')

/** Takes both alphabets, with or without padding. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/').replaceAll('=', ''))
  const bytes = new Uint8Array(binary.length)
  for (let at = 0; at < binary.length; at++) bytes[at] = binary.charCodeAt(at)
  return bytes
}

/** A copy with its last bit flipped: the end of a signature, of a text or of a boolean. */
export function flipLastBit(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const flipped = new Uint8Array(bytes)
  flipped[flipped.length - 1]! ^= 1
  return flipped
}
