import type { Deps } from '../deps.ts'
import { newWebhookSecret } from '../ids.ts'
import { SALT_BYTES } from '../seal.ts'
import {
  deleteRetiredSecrets,
  insertWebhookSecret,
  listWebhookSecrets,
  retireWebhookSecret,
  type WebhookSecretRow,
} from './store.ts'

export const OVERLAP_MS = 86_400_000

/** `previous` signs beside the current one until its time is up. */
export type WebhookSecrets = { current: string; previous?: { secret: string; validUntil: number } }

export async function readWebhookSecrets(
  { db, now, sealer }: Pick<Deps, 'db' | 'now' | 'sealer'>,
  tenantId: string,
): Promise<WebhookSecrets | undefined> {
  const [current, previous] = await listWebhookSecrets(db, tenantId)
  if (!current) return undefined
  const isValid = previous?.validUntil != null && previous.validUntil > now()
  return {
    current: open({ sealer }, current),
    ...(isValid && { previous: { secret: open({ sealer }, previous), validUntil: previous.validUntil! } }),
  }
}

/** What signed, or signs, at a time: the newest first. Asked of the clock at each use: no sweep decides when an old one is over. */
export async function signingSecrets(
  { db, sealer }: Pick<Deps, 'db' | 'sealer'>,
  tenantId: string,
  at: number,
): Promise<string[]> {
  const rows = await listWebhookSecrets(db, tenantId)
  const signing = rows.filter(row => row.createdAt <= at && (row.validUntil === null || row.validUntil > at))
  // Rotated, and the old one dropped, in the moment since: then the new one signs.
  return (signing.length > 0 ? signing : rows.slice(0, 1)).map(row => open({ sealer }, row))
}

/** A new secret; the one before signs beside it for 24 hours. At most two at a time: an older one is gone at once. */
export async function rotateWebhookSecret(
  deps: Pick<Deps, 'write' | 'now' | 'random' | 'sealer' | 'audit'>,
  tenantId: string,
  actor: string,
): Promise<{ webhookSecret: string; previousValidUntil: number }> {
  const at = deps.now()
  const webhookSecret = newWebhookSecret(deps.random)
  const row = sealSecret(deps, tenantId, webhookSecret, at)
  const previousValidUntil = at + OVERLAP_MS
  await deps.write(async tx => {
    await deleteRetiredSecrets(tx, tenantId)
    await retireWebhookSecret(tx, tenantId, previousValidUntil)
    await insertWebhookSecret(tx, row)
    await deps.audit.append(tx, { at, tenantId, actor, action: 'secret.rotated', subjectId: tenantId })
  })
  return { webhookSecret, previousValidUntil }
}

/** For a secret that leaked: the previous one stops signing at once. False when there is none. */
export async function dropPreviousSecret(
  deps: Pick<Deps, 'write' | 'now' | 'audit'>,
  tenantId: string,
  actor: string,
): Promise<boolean> {
  const at = deps.now()
  return await deps.write(async tx => {
    const dropped = await deleteRetiredSecrets(tx, tenantId)
    if (dropped === 0) return false
    await deps.audit.append(tx, { at, tenantId, actor, action: 'secret.dropped', subjectId: tenantId })
    return true
  })
}

export function sealSecret(
  { random, sealer }: Pick<Deps, 'random' | 'sealer'>,
  tenantId: string,
  secret: string,
  at: number,
): Omit<WebhookSecretRow, 'id'> {
  const salt = Buffer.from(random(SALT_BYTES))
  return {
    tenantId,
    environment: 'live',
    salt,
    sealed: sealer.seal(placeOf(tenantId, salt), secret),
    createdAt: at,
    validUntil: null,
  }
}

const open = ({ sealer }: Pick<Deps, 'sealer'>, { tenantId, salt, sealed }: WebhookSecretRow): string =>
  sealer.open(placeOf(tenantId, salt), sealed)

const placeOf = (tenantId: string, salt: Uint8Array) => ({
  tenant: tenantId,
  table: 'webhook_secrets',
  column: 'sealed',
  row: tenantId,
  salt,
})
