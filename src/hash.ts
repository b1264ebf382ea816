import { hash, timingSafeEqual } from 'node:crypto'

export const sha256Hex = (data: string | Uint8Array): string => hash('sha256', data, 'hex')

/** For one key: it is taken in once, and each code starts from a copy of that state. */
export function hmacSha256With(key: Uint8Array): (data: string | Uint8Array) => Buffer {
  const keyed = new Bun.CryptoHasher('sha256', key)
  return data => keyed.copy().update(data).digest()
}

export function equalConstantTime(a: string, b: string): boolean {
  const left = Buffer.from(a)
  const right = Buffer.from(b)
  return left.length === right.length && timingSafeEqual(left, right)
}

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

/** RFC 8785: keys sorted by UTF-16 code units, no white space, ECMAScript numbers and strings. The input is bounded in depth. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`)
  return `{${members.join(',')}}`
}
