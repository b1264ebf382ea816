export type Random = (bytes: number) => Uint8Array

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const REJECT_FROM = 248 // 4 * 62: bytes above would favour the first letters
const SECRET_LENGTH = 32 // 190 bits
const CHECKSUM_LENGTH = 6

export const newVerificationId = (random: Random): string => `vs_${base62(random, 22)}`
export const newTenantId = (random: Random): string => `ten_${base62(random, 16)}`
export const newClientId = (random: Random, environment: string): string => `oc_${environment}_${base62(random, 22)}`
export const newLoginId = (random: Random): string => `ol_${base62(random, 22)}`
export const newKeyId = (random: Random): string => `key_${base62(random, 16)}`

/** A UUID of version 7 (RFC 9562): ids of later devices sort later. */
export function newDeviceId(random: Random, at: number): string {
  const bytes = Buffer.from(random(16))
  bytes.writeUIntBE(at, 0, 6)
  bytes[6] = 0x70 | (bytes[6]! & 0x0f)
  bytes[8] = 0x80 | (bytes[8]! & 0x3f)
  const hex = bytes.toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}

/** Crockford's base32: without I, L, O and U, which are easily misread. */
const BASE32 = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const PAIRING_CODE_LENGTH = 8 // 40 bits

/** Read aloud and typed by people. */
export function newPairingCode(random: Random): string {
  const symbols = [...random(PAIRING_CODE_LENGTH)].map(byte => BASE32[byte % 32]).join('')
  return `VD-${symbols.slice(0, 4)}-${symbols.slice(4)}`
}

/** The symbols of a pairing code as typed: any case, dashes and spaces, O for 0, I or L for 1, with or without VD. */
export function normalizePairingCode(typed: string): string | undefined {
  const packed = typed.toUpperCase().replace(/[\s\p{Pd}]/gu, '')
  // The code itself may also begin with V and D.
  const symbols = packed.length === PAIRING_CODE_LENGTH + 2 ? packed.replace(/^VD/, '') : packed
  const read = symbols.replaceAll('O', '0').replace(/[IL]/g, '1')
  return /^[0-9A-HJKMNP-TV-Z]{8}$/.test(read) ? read : undefined
}

/** Prefix, random part, and a checksum over both: a typo or a changed prefix is found without a look-up. */
export function newSecret(random: Random, prefix: string, length = SECRET_LENGTH): string {
  const body = prefix + base62(random, length)
  return body + checksum(body)
}

export function isWellFormedSecret(secret: string, prefix: string): boolean {
  if (!secret.startsWith(prefix) || secret.length !== prefix.length + SECRET_LENGTH + CHECKSUM_LENGTH) return false
  const body = secret.slice(0, -CHECKSUM_LENGTH)
  return checksum(body) === secret.slice(-CHECKSUM_LENGTH)
}

/** 43 characters base64url, 256 bits: nonces, states and response codes. */
export const newNonce = (random: Random): string => Buffer.from(random(32)).toString('base64url')

/** `whsec_` and 40 base64 characters. */
export const newWebhookSecret = (random: Random): string => `whsec_${Buffer.from(random(30)).toString('base64')}`

export function base62(random: Random, length: number): string {
  let text = ''
  while (text.length < length) {
    const bytes = random(length + 8)
    for (let i = 0; i < bytes.length && text.length < length; i++) {
      if (bytes[i]! < REJECT_FROM) text += BASE62[bytes[i]! % 62]
    }
  }
  return text
}

/** Ids that follow from what they name: the same bytes make the same digits. */
export function base62Of(bytes: Uint8Array, length: number): string {
  let rest = BigInt(`0x${Buffer.from(bytes).toString('hex')}`)
  let digits = ''
  for (let i = 0; i < length; i++) {
    digits = BASE62[Number(rest % 62n)] + digits
    rest /= 62n
  }
  return digits
}

function checksum(text: string): string {
  let rest = Bun.hash.crc32(text)
  let digits = ''
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    digits = BASE62[rest % 62] + digits
    rest = Math.floor(rest / 62)
  }
  return digits
}
