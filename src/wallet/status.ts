import type { Deps } from '../deps.ts'
import type { FetchStatus } from '../openid4vp/status-list.ts'
import { statusListUri } from '../sandbox/status-list.ts'
import { callOut } from '../webhooks/egress-client.ts'

const LIMITS = { resolveMs: 2000, connectMs: 3000, totalMs: 5000, answerBytes: 1024 * 1024 }

/** Asked each time: the public URL may be known only once the service listens. */
export const isSandboxList =
  (config: Deps['config']) =>
  (uri: string): boolean =>
    uri === statusListUri(config.publicUrl)

/** Fetches a status list, from wherever its issuer publishes it; the sandbox issuer's own without a network. */
export function statusFetcher({
  egress,
  resolve,
  sandbox,
  now,
  metrics,
}: Pick<Deps, 'egress' | 'resolve' | 'sandbox' | 'now' | 'metrics'>): FetchStatus {
  return async (uri, accept) => {
    const { issuer } = await sandbox()
    if (uri === issuer.statusListUri) {
      return { ok: true, contentType: 'application/statuslist+jwt', body: Buffer.from(await issuer.statusListToken(now())) }
    }
    const answer = await callOut(egress, resolve, {
      url: uri,
      method: 'GET',
      headers: { accept },
      limits: LIMITS,
      onLargeAnswer: 'fail',
    })
    metrics.count('vidimus_status_list_fetches_total', { outcome: answer.ok && answer.status === 200 ? 'good' : 'failed' })
    if (!answer.ok) return { ok: false, reason: answer.detail }
    if (answer.status !== 200) return { ok: false, reason: `The status list answered ${answer.status}.` }
    return { ok: true, contentType: answer.headers['content-type'] ?? '', body: answer.body }
  }
}
