import { hmacSha256With } from '../base/hash.ts'
import { normalizePairingCode } from '../base/ids.ts'
import type { Unsealing } from '../ground.ts'

/** The code's symbols, and their HMAC, under which the database has it; undefined when malformed. */
export function readPairingCode(
  { sealer }: Unsealing,
  typed: string,
): { kind: 'pairing'; secret: string; hash: string } | undefined {
  const secret = normalizePairingCode(typed)
  if (secret === undefined) return undefined
  // Keyed, because a plain hash of 40 bits can be reversed by trying all codes.
  return { kind: 'pairing', secret, hash: hmacSha256With(sealer.key('pairing code'))(secret).toString('hex') }
}

/** The code is in the fragment, so that it reaches no server and no log. */
export const pairingLink = (publicUrl: string, code: string): string => `${publicUrl}/till#pair=${code}`
