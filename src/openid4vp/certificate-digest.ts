import { sha256Hex } from '../hash.ts'

const known = new WeakMap<Uint8Array, string>()

/** By which a certificate is found again. Several places ask for it, and hold the same bytes: they are hashed once, and never changed. */
export function certificateDigest(der: Uint8Array): string {
  const digest = known.get(der)
  if (digest !== undefined) return digest
  const made = sha256Hex(der)
  known.set(der, made)
  return made
}
