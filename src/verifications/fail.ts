import type { Db } from '../db/engine.ts'
import { queueResult } from './announce.ts'
import { insertResult } from './answer-store.ts'
import type { Deps } from './deps.ts'
import type { Failure } from './failures.ts'
import { openSecrets, sealResult } from './present.ts'
import type { VerificationRow } from './store.ts'

type Failing = { error: Failure; actor: string; at: number; requestId: string | null }

/** Audit record, result and webhook, inside the transaction that failed the session. */
export async function recordFailure(
  deps: Pick<Deps, 'audit' | 'random' | 'sealer' | 'config'>,
  tx: Db,
  session: VerificationRow,
  { error, actor, at, requestId }: Failing,
): Promise<string | undefined> {
  const { id, tenantId, environment } = session
  const auditSeq = await deps.audit.append(tx, {
    at,
    tenantId,
    actor,
    action: 'verification.failed',
    subjectId: id,
    details: { environment, error: error.code },
  })
  await insertResult(tx, { ...sealResult(deps, session, { error }, at), auditSeq })
  return await queueResult(deps, tx, session, openSecrets(deps, session), { status: 'failed', at, requestId })
}
