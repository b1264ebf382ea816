import { hmacSha256With } from '../hash.ts'
import { normalizePairingCode } from '../ids.ts'
import type { Deps } from './deps.ts'

/** A code as the database knows it, and its symbols, which it does not; nothing when it is malformed. */
export function readPairingCode(
  { sealer }: Pick<Deps, 'sealer'>,
  typed: string,
): { kind: 'pairing'; secret: string; hash: string } | undefined {
  const secret = normalizePairingCode(typed)
  if (secret === undefined) return undefined
  // Under a key outside the database: 40 bits behind a plain hash would be found by trying them all.
  return { kind: 'pairing', secret, hash: hmacSha256With(sealer.key('pairing code'))(secret).toString('hex') }
}

/** Opens the till's page with the code filled in. Behind the #, so that it reaches no server and no log. */
export const pairingLink = (publicUrl: string, code: string): string => `${publicUrl}/till#pair=${code}`
