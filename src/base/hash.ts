import { hash, timingSafeEqual } from 'node:crypto'

export const sha256Hex = (data: string | Uint8Array): string => hash('sha256', data, 'hex')

/** Hashes the key once; each code starts from a copy of that state. */
export function hmacSha256With(key: Uint8Array): (...parts: (string | Uint8Array)[]) => Buffer {
  const keyed = new Bun.CryptoHasher('sha256', key)
  const codeOf = (parts: (string | Uint8Array)[]) => {
    const hasher = keyed.copy()
    for (const part of parts) hasher.update(part)
    return hasher.digest()
  }
  return (...parts) => {
    try {
      return codeOf(parts)
    } catch {
      // Bun 1.4.4 throws here, once, what the import of somebody's broken key left behind.
      return codeOf(parts)
    }
  }
}

export function equalConstantTime(a: string, b: string): boolean {
  const left = Buffer.from(a)
  const right = Buffer.from(b)
  return left.length === right.length && timingSafeEqual(left, right)
}

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

/** RFC 8785: keys sorted by UTF-16 code units, no white space, ECMAScript numbers and strings. Callers limit the depth. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value === 'string') return quoted(value)
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  const object = value as Record<string, unknown>
  let members = ''
  for (const key of Object.keys(object).sort()) {
    if (object[key] !== undefined) members += `${members && ','}${quoted(key)}:${canonicalJson(object[key])}`
  }
  return `{${members}}`
}

/** Most texts are printable ASCII without an escape, and testing for that is faster than JSON.stringify. */
const quoted = (text: string): string => (/^[ !#-[\]-~]*$/.test(text) ? `"${text}"` : JSON.stringify(text))
