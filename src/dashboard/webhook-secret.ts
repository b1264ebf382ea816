import type { Environment } from '../access/scopes.ts'
import { readSecretState, type SecretState } from '../tenants/secret-history.ts'
import { dropPreviousSecret, readWebhookSecrets, rotateWebhookSecret } from '../tenants/webhook-secret.ts'
import { isoUtc } from '../time.ts'
import type { Deps } from './deps.ts'
import type { WebhookSecret, WebhookSecretState } from './webhook-schema.ts'

type Place = { tenantId: string; environment: Environment }

export async function readWebhookSecretState(deps: Deps, place: Place): Promise<WebhookSecretState> {
  return present(await readSecretState(deps, place))
}

/** It is on record who looks at it. */
export async function revealWebhookSecret(deps: Deps, place: Place, actor: string): Promise<WebhookSecret> {
  const at = deps.now()
  const { tenantId, environment } = place
  const looked = { at, tenantId, actor, action: 'secret.revealed' as const, subjectId: tenantId, details: { environment } }
  await deps.write(tx => deps.audit.append(tx, looked))
  const secrets = await readWebhookSecrets(deps, place)
  if (!secrets) throw new Error('a tenant has a webhook secret from its creation on')
  return { webhook_secret: secrets.current, ...(await readWebhookSecretState(deps, place)) }
}

export async function rotateTenantSecret(deps: Deps, place: Place, actor: string): Promise<WebhookSecret> {
  const { webhookSecret } = await rotateWebhookSecret(deps, place, actor)
  return { webhook_secret: webhookSecret, ...(await readWebhookSecretState(deps, place)) }
}

export async function dropPreviousTenantSecret(deps: Deps, place: Place, actor: string): Promise<WebhookSecretState> {
  await dropPreviousSecret(deps, place, actor)
  return await readWebhookSecretState(deps, place)
}

const present = ({ createdAt, previousValidUntil }: SecretState): WebhookSecretState => ({
  created_at: isoUtc(createdAt),
  previous_valid_until: previousValidUntil === null ? null : isoUtc(previousValidUntil),
})
