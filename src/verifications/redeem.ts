import { sha256Hex } from '../hash.ts'
import { apiError } from '../http/errors.ts'
import { countEnds } from '../usage/outcomes.ts'
import { announceEnd, queueResult } from './announce.ts'
import { dateResult, isRedeemable, markRedeemed } from './answer-store.ts'
import type { Deps } from './deps.ts'
import { countsAsFirst } from './first-times.ts'
import { openSecrets } from './present.ts'
import { readOne } from './read.ts'
import type { Verification } from './schema.ts'
import { findVerification, type Owner } from './store.ts'
import { readTrust } from './timeline.ts'

type Redemption = { code: string; actor: string; requestId: string }

/**
 * One statement redeems a code once. Wrong, spent, late and foreign codes get one answer: a guess
 * learns nothing (interface 7).
 */
export async function redeemResponseCode(deps: Deps, owner: Owner, id: string, redemption: Redemption): Promise<Verification> {
  const codeHash = sha256Hex(redemption.code)
  await chargeGuess(deps, owner, id, codeHash)
  const at = deps.now()
  const redeemed = await deps.write(async tx => {
    const marked = await markRedeemed(tx, owner, id, codeHash, at)
    if (!marked) throw apiError('invalid_response_code')
    const session = (await findVerification(tx, owner, id))?.verification
    if (!session || !marked.wasHeld) return undefined
    const trust = await readTrust(deps, tx, session)
    const auditSeq = await deps.audit.append(tx, {
      at,
      tenantId: session.tenantId,
      actor: redemption.actor,
      action: 'verification.completed',
      subjectId: id,
      details: { environment: session.environment, ...(trust.length > 0 && { trust }) },
      session: { id, wrappingKey: session.wrappingKey, sessionKey: await deps.sessionKeys.of(tx, session) },
    })
    await dateResult(tx, session, { createdAt: at, auditSeq })
    const mayBeFirst = countsAsFirst(session, trust)
    if (mayBeFirst) await deps.firstTimes.note(tx, session, at)
    const { requestId } = redemption
    const secrets = await openSecrets(deps, tx, session)
    const owed = await queueResult(deps, tx, session, secrets, { status: 'completed', at, requestId })
    await countEnds(tx, [{ ...session, outcome: 'completed', at }])
    return { session, mayBeFirst, owed }
  })
  if (redeemed) {
    if (redeemed.mayBeFirst) deps.firstTimes.remember(redeemed.session)
    announceEnd(deps, redeemed.session, { status: 'completed' }, redeemed.owed)
  }
  return await readOne(deps, owner, id)
}

/** Only wrong codes count. They are counted first, or those sent at once would all be tried. */
async function chargeGuess(
  { guesses, db, now }: Pick<Deps, 'guesses' | 'db' | 'now'>,
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
