import type { Audited } from '../../audit/deps.ts'
import type { Db } from '../../db/engine.ts'
import type { Configured, Sealing } from '../../ground.ts'
import type { Failure } from '../failures.ts'
import type { Result } from '../portraits.ts'
import { openSecrets, sealResult } from '../present.ts'
import type { VerificationRow } from '../store.ts'
import { readFetches } from '../timeline.ts'
import { queueResult } from './announce.ts'
import { insertResult } from './answer-store.ts'

/** `credentials`: of an answer that was good. */
type Failing = { error: Failure; actor: string; at: number; requestId: string | null } & Pick<Result, 'credentials'>

/** Audit record, result and webhook, inside the transaction that failed the session. */
export async function recordFailure(
  deps: Sealing & Configured & Audited,
  tx: Db,
  session: VerificationRow,
  { error, actor, at, requestId, credentials }: Failing,
): Promise<string | undefined> {
  const { id, tenantId, environment, wrappingKey } = session
  const sessionKey = await deps.sessionKeys.of(tx, session)
  const auditSeq = await deps.audit.append(tx, {
    at,
    tenantId,
    actor,
    action: 'verification.failed',
    subjectId: id,
    details: { environment, error: error.code, ...(await readFetches(deps, tx, session, sessionKey)) },
    session: { id, wrappingKey, sessionKey },
    bornAt: session.auditSeq,
  })
  await insertResult(tx, { ...sealResult(deps, { ...session, sessionKey }, { credentials, error }, at), auditSeq })
  return await queueResult(deps, tx, session, await openSecrets(deps, tx, session), { status: 'failed', at, requestId })
}
