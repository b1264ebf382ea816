import { sha256Hex } from '../../base/hash.ts'
import type { Db } from '../../db/engine.ts'
import type { Reading } from '../../ground.ts'
import type { Throttling } from '../../guesses/deps.ts'
import { apiError } from '../../http/errors.ts'
import type { Deps } from '../deps.ts'
import { readOne } from '../read.ts'
import type { Verification } from '../schema.ts'
import { findVerification, type Owner } from '../store.ts'
import { isRedeemable, markRedeemed } from './answer-store.ts'
import { announceRelease, recordRelease } from './release.ts'

type Redemption = {
  code: string
  actor: string
  requestId: string
  /** Called in the transaction of the redemption. */
  alongside?: (tx: Db) => Promise<void>
}

/**
 * One statement redeems a code once. Wrong, spent, late and foreign codes get one answer: a guess
 * learns nothing (interface 7).
 */
export async function redeemResponseCode(deps: Deps, owner: Owner, id: string, redemption: Redemption): Promise<Verification> {
  await redeem(deps, owner, id, redemption)
  return await readOne(deps, owner, id)
}

export async function redeem(deps: Deps, owner: Owner, id: string, redemption: Redemption): Promise<void> {
  const { code, actor, requestId, alongside } = redemption
  const codeHash = sha256Hex(code)
  await chargeGuess(deps, owner, id, codeHash)
  const at = deps.now()
  const redeemed = await deps.write(async tx => {
    const marked = await markRedeemed(tx, owner, id, codeHash, at)
    if (!marked) throw apiError('invalid_response_code')
    await alongside?.(tx)
    const session = marked.wasHeld ? (await findVerification(tx, owner, id))?.verification : undefined
    return session && (await recordRelease(deps, tx, session, { actor, at, requestId }))
  })
  if (redeemed) announceRelease(deps, redeemed)
}

/** Only wrong codes count. They are counted first, or those sent at once would all be tried. */
async function chargeGuess(
  { guesses, db, now }: Reading & Throttling,
  owner: Owner,
  id: string,
  codeHash: string,
): Promise<void> {
  // A budget per owner: others who know the id cannot use it up.
  const budget = `${owner.tenantId} ${owner.environment} ${id}`
  await guesses.take('redeem', budget)
  if (!(await isRedeemable(db, owner, id, codeHash, now()))) throw apiError('invalid_response_code')
  await guesses.giveBack('redeem', budget)
}
