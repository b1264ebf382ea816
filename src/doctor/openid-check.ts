import { notSetUp, ok, problem, warning } from '../db/check.ts'
import { readClients } from '../oidc/clients.ts'
import { readKeys } from '../oidc/keys.ts'
import { isLocalHost } from '../tenants/origins.ts'
import type { Scene } from './scene.ts'

const DAY_MS = 86_400_000
/** They turn every 90 days. */
const KEY_AGE_MAX = 100 * DAY_MS

/** Log-ins by OpenID Connect: whether programs reach the issuer, whether its keys turn, and whom it refused within a day. */
export async function checkOpenIdProvider({ deps, tenants, visit }: Scene) {
  const { publicUrl } = deps.config
  const clients = (await Promise.all((await tenants).map(tenant => clientsOf(deps, tenant)))).flat()
  if (clients.length === 0) return notSetUp('no_log_ins')
  const { protocol, hostname } = URL.parse(publicUrl) ?? {}
  if (protocol !== 'https:' && !isLocalHost(hostname ?? '')) return problem('log_ins_plain', { publicUrl })
  const { answer } = await visit
  if (!isLocalHost(hostname ?? '') && !answer?.isOurs) return problem('log_ins_unreached', { publicUrl })
  const old = clients.filter(({ keyAgeMs }) => keyAgeMs > KEY_AGE_MAX).map(({ shop }) => shop)
  if (old.length > 0) return warning('log_in_keys_old', { shops: [...new Set(old)] })
  const since = deps.now() - DAY_MS
  const refused = clients.filter(({ last_refusal: last }) => last && Date.parse(last.at) > since)
  if (refused.length > 0)
    return warning('log_ins_refused', { clients: refused.map(({ name, last_refusal }) => `${name} (${last_refusal!.reason})`) })
  const withoutPkce = clients.filter(({ pkce }) => pkce === 'optional').map(({ name }) => name)
  return ok('log_ins_ready', { count: clients.length, withoutPkce })
}

async function clientsOf(deps: Scene['deps'], { id: tenantId, name: shop }: { id: string; name: string }) {
  const ageOf = async (environment: 'test' | 'live') => {
    const newest = (await readKeys(deps, { tenantId, environment })).map(({ use_from }) => Date.parse(use_from))
    return deps.now() - Math.max(...newest)
  }
  const clients = await readClients(deps, tenantId)
  return await Promise.all(clients.map(async client => ({ ...client, shop, keyAgeMs: await ageOf(client.environment) })))
}
