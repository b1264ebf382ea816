import type { Db } from '../db/engine.ts'
import type { Reading } from '../ground.ts'
import { findTenant, listWebhookSecrets, type Owner } from './store.ts'
import { OVERLAP_MS } from './webhook-secret.ts'

type SecretState = { createdAt: number; previousValidUntil: number | null }

/** When the current secret was made, and until when the previous one signs. */
export async function readSecretState({ db, now }: Reading, owner: Owner): Promise<SecretState> {
  const [current, previous] = await listWebhookSecrets(db, owner)
  if (!current) throw new Error('the tenant has no webhook secret')
  const until = previous?.validUntil ?? 0
  return { createdAt: current.createdAt, previousValidUntil: until > now() ? until : null }
}

/**
 * True when every secret that signed at this time is still stored. Nothing is kept of a dropped
 * one, not even when it was dropped, so it may have signed during its whole overlap.
 */
export async function areSignersKept(db: Db, owner: Owner, at: number): Promise<boolean> {
  const rows = await listWebhookSecrets(db, owner)
  const i = rows.findIndex(({ createdAt }) => createdAt <= at)
  const newest = rows[i]
  if (!newest) return false
  const isFirst = newest.createdAt === (await findTenant(db, owner.tenantId))?.createdAt
  return isFirst || at >= newest.createdAt + OVERLAP_MS || i + 1 < rows.length
}
