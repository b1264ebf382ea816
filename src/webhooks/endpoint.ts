import { checkWebhookUrl } from '../egress/policy.ts'
import type { Calling } from '../ground.ts'
import { apiError } from '../http/errors.ts'
import { keepEndpoint } from '../tenants/webhook-endpoint.ts'
import type { Deps } from './deps.ts'
import type { Owner } from './store.ts'

/** Sets the receiver of sessions without a `webhook_url`, by the same rules. Null removes it. */
export async function setEndpoint(deps: Deps, owner: Owner, url: string | null, actor: string): Promise<void> {
  if (url !== null) await refuseForbidden(deps, owner, url)
  await keepEndpoint(deps, owner, url, actor)
}

/** A name that does not resolve now is accepted: each delivery checks again. */
export async function refuseForbidden(
  { egress, resolve }: Calling,
  { tenantId, environment }: Owner,
  url: string,
): Promise<void> {
  const checked = await checkWebhookUrl(egress, host => resolve(host, tenantId), url, environment)
  if (!checked.ok && checked.reason !== 'unresolvable')
    throw apiError('invalid_webhook_url', { message: `webhook_url: ${checked.detail}` })
}
