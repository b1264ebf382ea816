import type { Deps } from '../deps.ts'
import { readSecretState, type SecretState } from '../tenants/secret-history.ts'
import { dropPreviousSecret, readWebhookSecrets, rotateWebhookSecret } from '../tenants/webhook-secret.ts'
import { isoUtc } from '../time.ts'
import type { WebhookSecret, WebhookSecretState } from './webhook-schema.ts'

export async function readWebhookSecretState(deps: Deps, tenantId: string): Promise<WebhookSecretState> {
  return present(await readSecretState(deps, tenantId))
}

/** It is on record who looks at it. */
export async function revealWebhookSecret(deps: Deps, tenantId: string, actor: string): Promise<WebhookSecret> {
  const at = deps.now()
  await deps.write(tx => deps.audit.append(tx, { at, tenantId, actor, action: 'secret.revealed', subjectId: tenantId }))
  const secrets = await readWebhookSecrets(deps, tenantId)
  if (!secrets) throw new Error('a tenant has a webhook secret from its creation on')
  return { webhook_secret: secrets.current, ...(await readWebhookSecretState(deps, tenantId)) }
}

export async function rotateTenantSecret(deps: Deps, tenantId: string, actor: string): Promise<WebhookSecret> {
  const { webhookSecret } = await rotateWebhookSecret(deps, tenantId, actor)
  return { webhook_secret: webhookSecret, ...(await readWebhookSecretState(deps, tenantId)) }
}

export async function dropPreviousTenantSecret(deps: Deps, tenantId: string, actor: string): Promise<WebhookSecretState> {
  await dropPreviousSecret(deps, tenantId, actor)
  return await readWebhookSecretState(deps, tenantId)
}

const present = ({ createdAt, previousValidUntil }: SecretState): WebhookSecretState => ({
  created_at: isoUtc(createdAt),
  previous_valid_until: previousValidUntil === null ? null : isoUtc(previousValidUntil),
})
