import { isoUtc } from '../../../base/time.ts'
import { readSecretState } from '../../../tenants/secret-history.ts'
import type { Owner } from '../../../tenants/settings.ts'
import { readEndpoint } from '../../../tenants/webhook-endpoint.ts'
import { dropPreviousSecret, readWebhookSecrets, rotateWebhookSecret } from '../../../tenants/webhook-secret.ts'
import { sendTestEvent } from '../../../webhooks/delivery/test-event.ts'
import { setEndpoint } from '../../../webhooks/endpoint.ts'
import type { Deps } from '../../deps.ts'
import type { TestDelivery, WebhookEndpoint, WebhookSecret, WebhookSecretState } from './schema.ts'

export async function readWebhookSecretState(deps: Deps, owner: Owner): Promise<WebhookSecretState> {
  const { createdAt, previousValidUntil } = await readSecretState(deps, owner)
  return {
    created_at: isoUtc(createdAt),
    previous_valid_until: previousValidUntil === null ? null : isoUtc(previousValidUntil),
  }
}

/** Leaves an audit record. */
export async function revealWebhookSecret(deps: Deps, owner: Owner, actor: string): Promise<WebhookSecret> {
  const at = deps.now()
  const { tenantId, environment } = owner
  const looked = { at, tenantId, actor, action: 'secret.revealed' as const, subjectId: tenantId, details: { environment } }
  await deps.write(tx => deps.audit.append(tx, looked))
  const secrets = await readWebhookSecrets(deps, owner)
  if (!secrets) throw new Error('the tenant has no webhook secret')
  return { webhook_secret: secrets.current, ...(await readWebhookSecretState(deps, owner)) }
}

export async function rotateTenantSecret(deps: Deps, owner: Owner, actor: string): Promise<WebhookSecret> {
  const { webhookSecret } = await rotateWebhookSecret(deps, owner, actor)
  return { webhook_secret: webhookSecret, ...(await readWebhookSecretState(deps, owner)) }
}

export async function dropPreviousTenantSecret(deps: Deps, owner: Owner, actor: string): Promise<WebhookSecretState> {
  await dropPreviousSecret(deps, owner, actor)
  return await readWebhookSecretState(deps, owner)
}

export async function readWebhookEndpoint(deps: Deps, owner: Owner): Promise<WebhookEndpoint> {
  return { webhook_url: (await readEndpoint(deps, deps.db, owner)) ?? null }
}

export async function changeWebhookEndpoint(
  deps: Deps,
  owner: Owner,
  { webhook_url }: WebhookEndpoint,
  actor: string,
): Promise<WebhookEndpoint> {
  await setEndpoint(deps, owner, webhook_url, actor)
  return await readWebhookEndpoint(deps, owner)
}

export async function testWebhookEndpoint(deps: Deps, owner: Owner, actor: string): Promise<TestDelivery> {
  const at = isoUtc(deps.now())
  const { outcome, answer, ms } = await sendTestEvent(deps, owner, actor)
  return {
    at,
    outcome,
    http_status: answer.status ?? null,
    duration_ms: ms,
    answer: answer.ok ? Buffer.from(answer.body).toString() : null,
    detail: answer.ok ? null : answer.detail,
  }
}
