import type { Db } from '../db/engine.ts'
import type { Deps } from './deps.ts'
import { findSplitAt, findTenant, listWebhookSecrets, type Owner } from './store.ts'
import { OVERLAP_MS } from './webhook-secret.ts'

export type SecretState = { createdAt: number; previousValidUntil: number | null }

/** Since when the current secret signs, and until when the one before it does. */
export async function readSecretState({ db, now }: Pick<Deps, 'db' | 'now'>, owner: Owner): Promise<SecretState> {
  const [current, previous] = await listWebhookSecrets(db, owner)
  if (!current) throw new Error('a tenant has a webhook secret from its creation on')
  const until = previous?.validUntil ?? 0
  return { createdAt: current.createdAt, previousValidUntil: until > now() ? until : null }
}

/**
 * Whether every secret that signed at a time is still there. Of a dropped one nothing is kept, not even when it was dropped: then it may have
 * signed during the whole of its overlap.
 */
export async function areSignersKept(db: Db, owner: Owner, at: number): Promise<boolean> {
  const rows = await listWebhookSecrets(db, owner)
  const i = rows.findIndex(({ createdAt }) => createdAt <= at)
  const newest = rows[i]
  if (!newest) return false
  const first = [(await findTenant(db, owner.tenantId))?.createdAt, await findSplitAt(db)]
  const isAlone = at >= newest.createdAt + OVERLAP_MS || first.includes(newest.createdAt)
  return isAlone || i + 1 < rows.length
}

/** When an upgrade gave the tenant its test secret, while that one is still the current. */
export async function readSplit(db: Db, tenantId: string): Promise<number | undefined> {
  const at = await findSplitAt(db)
  const [current] = at === undefined ? [] : await listWebhookSecrets(db, { tenantId, environment: 'test' })
  return current?.createdAt === at ? at : undefined
}
