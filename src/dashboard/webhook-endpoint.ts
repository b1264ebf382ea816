import type { Environment } from '../access/scopes.ts'
import { readEndpoint } from '../tenants/webhook-endpoint.ts'
import { setEndpoint } from '../webhooks/endpoint.ts'
import type { Deps } from './deps.ts'
import type { WebhookEndpoint } from './webhook-schema.ts'

type Place = { tenantId: string; environment: Environment }

export async function readWebhookEndpoint(deps: Deps, place: Place): Promise<WebhookEndpoint> {
  return { webhook_url: (await readEndpoint(deps, deps.db, place)) ?? null }
}

export async function changeWebhookEndpoint(
  deps: Deps,
  place: Place,
  { webhook_url }: WebhookEndpoint,
  actor: string,
): Promise<WebhookEndpoint> {
  await setEndpoint(deps, place, webhook_url, actor)
  return await readWebhookEndpoint(deps, place)
}
