import { eq } from 'drizzle-orm'
import { sha256Hex } from '../../src/base/hash.ts'
import { verificationSessions } from '../../src/db/schema/verifications.ts'
import { SEALED } from '../../src/db/sealed-columns.ts'
import { insertResult } from '../../src/verifications/end/answer-store.ts'
import type { TestApp } from './app.ts'

const DAY_MS = 86_400_000

/** As if a wallet had answered, for which the shopper got this code. Once is enough. */
export async function answerAsIf({ deps, clock }: TestApp, id: string, code: string): Promise<void> {
  const at = clock.now()
  const [session] = await deps.db.select().from(verificationSessions).where(eq(verificationSessions.id, id))
  const { tenantId, auditSeq, status } = session!
  if (status === 'completed') return
  const salt = Buffer.alloc(16, 1)
  const result = JSON.stringify({ claims: { age_over_18: true } })
  const sessionKey = await deps.sessionKeys.of(deps.db, session!)
  const sealed = deps.sealer.seal(SEALED.result({ id, tenantId }, salt, sessionKey), result)
  const answered = { status: 'completed', respondedAt: at, responseCodeHash: sha256Hex(code) } as const
  await deps.write(async tx => {
    await insertResult(tx, { verificationId: id, tenantId, salt, sealed, createdAt: at, auditSeq })
    await tx
      .update(verificationSessions)
      .set({ ...answered, responseCodeExpiresAt: at + DAY_MS })
      .where(eq(verificationSessions.id, id))
  })
}
