// Sealed text can be read only with the master key, and only in its own place: the key is derived
// per tenant and row, and table, column and row are authenticated. Deleting the salt of a row makes
// everything sealed under it unreadable.
import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto'
import { hmacSha256With } from './hash.ts'
import type { Random } from './ids.ts'

const NONCE_BYTES = 12
const TAG_BYTES = 16
export const SALT_BYTES = 16

export type Place = { tenant: string; table: string; column: string; row: string; salt: Uint8Array }

export type Sealer = {
  seal(place: Place, text: string): Buffer
  open(place: Place, sealed: Uint8Array): string
  /**
   * A key for one named purpose: look-up hashes, audit subjects, the checkpoint signature. Cached,
   * because there are few.
   */
  key(purpose: string): Buffer
}

export function createSealer(rootKey: Uint8Array, random: Random): Sealer {
  const keys = new Map<string, Buffer>()
  const key = (purpose: string) => {
    const known = keys.get(purpose) ?? Buffer.from(hkdfSync('sha256', rootKey, 'vidimus', purpose, 32))
    keys.set(purpose, known)
    return known
  }
  const expand = hmacSha256With(key('rows'))
  // One HMAC is HKDF-Expand for a single block (RFC 5869 2.3).
  const rowKey = ({ tenant, table, salt }: Place) => expand(`${table}\0${tenant}\0`, salt, '\x01')

  return {
    key,
    seal(place, text) {
      const nonce = random(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', rowKey(place), nonce)
      cipher.setAAD(Buffer.from(`${place.table}|${place.column}|${place.row}`))
      return Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
    },
    open(place, sealed) {
      const decipher = createDecipheriv('aes-256-gcm', rowKey(place), sealed.subarray(0, NONCE_BYTES))
      decipher.setAAD(Buffer.from(`${place.table}|${place.column}|${place.row}`))
      decipher.setAuthTag(sealed.subarray(-TAG_BYTES))
      return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]).toString('utf8')
    },
  }
}
