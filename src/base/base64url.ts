// Base64url as JOSE and OpenID4VP write it (RFC 7515 § 2): no padding, no white space, and no stray
// bits at the end, or one signature could be written in four ways. The decoder of the runtime
// refuses foreign characters only, so the rest is checked here. Encoding again to compare would
// cost several times as much.

/** Undefined unless the text is the one canonical encoding of the bytes. */
export function decodeBase64url(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!mayBeCanonical(text)) return undefined
  try {
    const bytes = Uint8Array.fromBase64(text, OPTIONS)
    return bytes.length === lengthOf(text) ? bytes : undefined
  } catch {
    return undefined
  }
}

/** Decodes into `target`, which must be large enough. Returns the number of bytes written. */
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

/** Allowed last characters when 16 or 8 of the last 24 bits are missing: their unused bits are zero. */
const LAST_OF_TWO = 'AQgw'
const LAST_OF_THREE = 'AEIMQUYcgkosw048'

function mayBeCanonical(text: string): boolean {
  const rest = text.length % 4
  if (rest === 0) return true
  return rest !== 1 && (rest === 2 ? LAST_OF_TWO : LAST_OF_THREE).includes(text.charAt(text.length - 1))
}

/** The decoder skips white space and padding, and then writes fewer bytes. */
const lengthOf = (text: string): number => Math.floor((text.length * 3) / 4)
