// Base64url as JOSE and OpenID4VP write it (RFC 7515 § 2): without padding or white space; and without stray bits at the end, or one
// signature could be written in four ways. The decoder of the runtime refuses foreign characters and forgives the rest, which is refused
// here: to encode again and compare would cost several times as much.

/** Undefined for anything but the one text that the bytes are encoded to. */
export function decodeBase64url(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!mayBeCanonical(text)) return undefined
  try {
    const bytes = Uint8Array.fromBase64(text, OPTIONS)
    return bytes.length === lengthOf(text) ? bytes : undefined
  } catch {
    return undefined
  }
}

/** The same into bytes that are there already, which must suffice; gives how many it took. */
export function decodeBase64urlInto(target: Uint8Array, text: string): number | undefined {
  if (!mayBeCanonical(text)) return undefined
  try {
    const { written } = target.setFromBase64(text, OPTIONS)
    return written === lengthOf(text) ? written : undefined
  } catch {
    return undefined
  }
}

const OPTIONS = { alphabet: 'base64url' } as const

/** What the last character may be when 16 or 8 of the last 24 bits are missing: one whose bits beyond the last byte are zero. */
const LAST_OF_TWO = 'AQgw'
const LAST_OF_THREE = 'AEIMQUYcgkosw048'

function mayBeCanonical(text: string): boolean {
  const rest = text.length % 4
  if (rest === 0) return true
  return rest !== 1 && (rest === 2 ? LAST_OF_TWO : LAST_OF_THREE).includes(text.charAt(text.length - 1))
}

/** Skipped characters, and padding, make fewer bytes. */
const lengthOf = (text: string): number => Math.floor((text.length * 3) / 4)
