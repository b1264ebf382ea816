import type { Deps } from '../deps.ts'
import { type FetchStatus, STATUS_BODY_BYTES_MAX } from '../openid4vp/status-list.ts'
import { statusListUri } from '../sandbox/status-list.ts'
import { callOut, type EgressAnswer } from '../webhooks/egress-client.ts'

const LIMITS = { resolveMs: 2000, connectMs: 3000, answerBytes: STATUS_BODY_BYTES_MAX }
/** With all redirects. */
const TOTAL_MS = 5000
const REDIRECTS_MAX = 3

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
    const startedAt = now()
    const answer = await following(uri, url => {
      const totalMs = Math.max(1, TOTAL_MS - (now() - startedAt))
      return callOut(egress, resolve, {
        url,
        method: 'GET',
        headers: { accept },
        limits: { ...LIMITS, resolveMs: Math.min(LIMITS.resolveMs, totalMs), totalMs },
        onLargeAnswer: 'fail',
      })
    })
    metrics.count('vidimus_status_list_fetches_total', { outcome: answer.ok && answer.status === 200 ? 'good' : 'failed' })
    if (!answer.ok) return { ok: false, reason: answer.detail }
    if (answer.status !== 200) return { ok: false, reason: `The status list answered ${answer.status}.` }
    return { ok: true, contentType: answer.headers['content-type'] ?? '', body: answer.body }
  }
}

/** Lists move, and leave a redirect. It is followed to https only, and each address on the way is checked like the first. */
export async function following(uri: string, call: (url: string) => Promise<EgressAnswer>): Promise<EgressAnswer> {
  let url = uri
  let answer = await call(url)
  for (let followed = 0; followed < REDIRECTS_MAX; followed++) {
    const next = redirectIn(answer, url)
    if (next?.protocol !== 'https:') break
    // It is for whoever reads the page, and never sent.
    next.hash = ''
    url = next.href
    answer = await call(url)
  }
  return answer
}

function redirectIn(answer: EgressAnswer, from: string): URL | null {
  const isRedirect = answer.ok && [301, 302, 303, 307, 308].includes(answer.status)
  return isRedirect && answer.headers.location !== undefined ? URL.parse(answer.headers.location, from) : null
}
