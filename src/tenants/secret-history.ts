import type { Db } from '#db'
import type { Deps } from '../deps.ts'
import { findTenant, listWebhookSecrets } from './store.ts'
import { OVERLAP_MS } from './webhook-secret.ts'

export type SecretState = { createdAt: number; previousValidUntil: number | null }

/** Since when the current secret signs, and until when the one before it does. */
export async function readSecretState({ db, now }: Pick<Deps, 'db' | 'now'>, tenantId: string): Promise<SecretState> {
  const [current, previous] = await listWebhookSecrets(db, tenantId)
  if (!current) throw new Error('a tenant has a webhook secret from its creation on')
  const until = previous?.validUntil ?? 0
  return { createdAt: current.createdAt, previousValidUntil: until > now() ? until : null }
}

/**
 * Whether every secret that signed at a time is still there. Of a dropped one nothing is kept, not even when it was dropped: then it may have
 * signed during the whole of its overlap.
 */
export async function areSignersKept(db: Db, tenantId: string, at: number): Promise<boolean> {
  const rows = await listWebhookSecrets(db, tenantId)
  const i = rows.findIndex(({ createdAt }) => createdAt <= at)
  const newest = rows[i]
  if (!newest) return false
  const isAlone = at >= newest.createdAt + OVERLAP_MS || (await findTenant(db, tenantId))?.createdAt === newest.createdAt
  return isAlone || i + 1 < rows.length
}
