// One-time codes (RFC 6238) as authenticator apps make them: HMAC-SHA-1, six digits, 30 seconds. A
// code of the step before or after counts too, for clocks that differ.
import { equalConstantTime } from '../../base/hash.ts'

export const SECRET_BYTES = 20
const STEP_MS = 30_000
const DIGITS = 6
const STEPS_APART_MAX = 1
/** RFC 4648 § 6. */
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** RFC 4226 § 5.3. */
export async function codeOfStep(secret: Uint8Array, step: number): Promise<string> {
  const counter = new DataView(new ArrayBuffer(8))
  counter.setBigUint64(0, BigInt(step))
  const algorithm = { name: 'HMAC', hash: 'SHA-1' }
  const key = await crypto.subtle.importKey('raw', Uint8Array.from(secret), algorithm, false, ['sign'])
  const hmac = new DataView(await crypto.subtle.sign(algorithm, key, counter))
  const offset = hmac.getUint8(hmac.byteLength - 1) & 0x0f
  const number = hmac.getUint32(offset) & 0x7fffffff
  return String(number % 10 ** DIGITS).padStart(DIGITS, '0')
}

/** The step whose code this is; undefined for a wrong one. */
export async function stepOfCode(secret: Uint8Array, code: string, now: number): Promise<number | undefined> {
  const current = Math.floor(now / STEP_MS)
  let found: number | undefined
  for (let step = current - STEPS_APART_MAX; step <= current + STEPS_APART_MAX; step++) {
    if (step >= 0 && equalConstantTime(await codeOfStep(secret, step), code)) found = step
  }
  return found
}

export function base32(bytes: Uint8Array): string {
  const bits = [...bytes].map(byte => byte.toString(2).padStart(8, '0')).join('')
  return (bits.match(/.{1,5}/g) ?? []).map(five => BASE32[Number.parseInt(five.padEnd(5, '0'), 2)]).join('')
}

/** The address that authenticator apps read from a QR code. */
export function otpauthUri(secret: Uint8Array, { issuer, account }: { issuer: string; account: string }): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(account)}`
  return `otpauth://totp/${label}?secret=${base32(secret)}&issuer=${encodeURIComponent(issuer)}`
}
