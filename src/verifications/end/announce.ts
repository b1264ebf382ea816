import type { Audited } from '../../audit/deps.ts'
import type { Db } from '../../db/engine.ts'
import { noticeName } from '../../db/topics.ts'
import type { Announcing, Configured, Reading, Reporting, Sealing, Unsealing } from '../../ground.ts'
import { readEndpoint } from '../../tenants/webhook-endpoint.ts'
import { enqueueDelivery } from '../../webhooks/queue.ts'
import { openSecrets, type PresentDeps, type SessionSecrets } from '../present.ts'
import type { Verification } from '../schema.ts'
import { findOfTenant, findSession, type PlacedSession, type VerificationRow } from '../store.ts'
import { presentOrLog } from '../unreadable.ts'

type Announced = { tenantId: string; verificationId: string }

export type Announcement = Pick<VerificationRow, 'environment' | 'deviceId' | 'template' | 'templateVersion'> & {
  url: string | undefined
  verification: Verification
}

/** Body of a webhook, as a GET returns it. No URL without an endpoint; undefined after erasure. */
export async function announce(
  deps: PresentDeps & Reporting & Audited,
  { tenantId, verificationId }: Announced,
): Promise<Announcement | undefined> {
  const found = await findOfTenant(deps.db, tenantId, verificationId)
  if (!found) return undefined
  const verification = await presentOrLog(deps, found)
  const { environment, deviceId, template, templateVersion } = found.verification
  const url = await receiverOf(deps, found.verification)
  return { url, environment, deviceId, template, templateVersion, verification }
}

/** The destination alone, without opening anything that the holder presented. */
export async function readReceiver(
  deps: Reading & Unsealing,
  { tenantId, verificationId }: Announced,
): Promise<string | undefined> {
  const found = await findSession(deps.db, verificationId)
  return found?.tenantId === tenantId ? await receiverOf(deps, found) : undefined
}

/** Looked up for each attempt: a corrected endpoint gets the messages that were missed. */
const receiverOf = async (deps: Reading & Unsealing, row: VerificationRow): Promise<string | undefined> =>
  (await openSecrets(deps, deps.db, row)).webhook_url ?? (await readEndpoint(deps, deps.db, row))

export type Ended = { status: 'completed' | 'failed'; error?: Verification['error'] }

/** Queues the webhook, unless the session is a log-in or an example, inside the transaction that ends a session; returns what to publish as `owed` after the commit. */
export async function queueResult(
  deps: Sealing & Configured,
  tx: Db,
  { id: verificationId, tenantId, environment, loginClientId }: PlacedSession & Pick<VerificationRow, 'loginClientId'>,
  { webhook_url: url, isExample }: SessionSecrets,
  { status, at, requestId }: Ended & { at: number; requestId: string | null },
): Promise<string | undefined> {
  // The client gets it by itself.
  if (loginClientId !== null || isExample) return undefined
  const type = `verification.${status}` as const
  return await enqueueDelivery(deps, tx, { tenantId, environment, verificationId, type, url, at, requestId })
}

/** Called after the commit that ended a session: notifies its followers and the webhook worker, and counts it. */
export function announceEnd(
  { publish, metrics }: Announcing,
  { id, environment }: PlacedSession,
  { status, error }: Ended,
  owed: string | undefined,
): void {
  publish('session', noticeName(id))
  if (owed !== undefined) publish('owed', owed)
  metrics.count('vidimus_verifications_total', { event: status, environment })
  if (error) metrics.count('vidimus_verification_failures_total', { code: error.code, environment })
}
