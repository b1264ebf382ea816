// Lets an installation recognise itself from outside: the caller sends a number, and the response
// has a code over it that only this installation can make. Others learn nothing about the
// installation, and a recorded response is useless.
import { hmacSha256With } from '../base/hash.ts'
import type { Sealer } from '../base/seal.ts'

export const PROBE_HEADER = 'x-vidimus-probe'
export const PROOF_HEADER = 'x-vidimus-proof'
const NUMBER = /^[\w-]{22,64}$/

export function createProver(sealer: Sealer): (number: string | null) => string | undefined {
  const code = hmacSha256With(sealer.key('installation probe'))
  return number => (number !== null && NUMBER.test(number) ? code(number).toString('base64url') : undefined)
}
