import type { Deps } from '../deps.ts'
import { sha256Hex } from '../hash.ts'
import { apiError } from '../http/errors.ts'
import { markRedeemed } from './answer-store.ts'
import { readOne } from './read.ts'
import type { Verification } from './schema.ts'
import type { Owner } from './store.ts'

/** Once, by one statement. Wrong, spent, late and foreign codes get one answer: a guess learns nothing (interface 7). */
export async function redeemResponseCode(deps: Deps, owner: Owner, id: string, code: string): Promise<Verification> {
  // By owner: whoever else knows the id has guesses of their own, and cannot use up these.
  const guesses = `${owner.tenantId} ${owner.environment} ${id}`
  // Taken before it is known to be wrong: a thousand at once would all be looked up.
  deps.limits.take('redeem', guesses)
  let isWrong = false
  try {
    isWrong = !(await deps.writeSession(tx => markRedeemed(tx, owner, id, sha256Hex(code), deps.now())))
  } finally {
    if (!isWrong) deps.limits.giveBack('redeem', guesses)
  }
  if (isWrong) throw apiError('invalid_response_code')
  return await readOne(deps, owner, id)
}
