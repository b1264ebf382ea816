import { isLoopback } from '../egress/addresses.ts'
import { callOut, type EgressAnswer } from '../egress/client.ts'
import { type FetchStatus, STATUS_BODY_BYTES_MAX } from '../openid4vp/status-list.ts'
import type { Deps } from './deps.ts'

const LIMITS = { resolveMs: 2000, connectMs: 3000, answerBytes: STATUS_BODY_BYTES_MAX }
/** With all redirects. */
const TOTAL_MS = 5000
const REDIRECTS_MAX = 3

/** A list that a developer's own wallet or issuer publishes beside a `serve --dev`. The sandbox issuer's is none: it is read without a network. */
export const isLocalList =
  (config: Deps['config'], isSandboxList: (uri: string) => boolean) =>
  (uri: string, environment: 'test' | 'live'): boolean => {
    const url = config.isDev && environment === 'test' && !isSandboxList(uri) ? URL.parse(uri) : null
    if (!url || !/^https?:$/.test(url.protocol)) return false
    const host = url.hostname.replace(/^\[|\]$/g, '')
    return host === 'localhost' || host.endsWith('.localhost') || isLoopback(host)
  }

/** Fetches a status list, from wherever its issuer publishes it; the sandbox issuer's own without a network. */
export function statusFetcher({
  egress,
  resolve,
  sandbox,
  now,
  metrics,
}: Pick<Deps, 'egress' | 'resolve' | 'sandbox' | 'now' | 'metrics'>): FetchStatus {
  return async (uri, accept, isLocal) => {
    const { issuer } = await sandbox()
    if (uri === issuer.statusListUri) {
      return { ok: true, contentType: 'application/statuslist+jwt', body: Buffer.from(await issuer.statusListToken(now())) }
    }
    const policy = isLocal ? { ...egress, loopback: true } : egress
    const startedAt = now()
    const answer = await following(uri, url => {
      const totalMs = Math.max(1, TOTAL_MS - (now() - startedAt))
      return callOut(policy, resolve, {
        url,
        method: 'GET',
        headers: { accept },
        limits: { ...LIMITS, resolveMs: Math.min(LIMITS.resolveMs, totalMs), totalMs },
        onLargeAnswer: 'fail',
      })
    })
    metrics.count('vidimus_status_list_fetches_total', { outcome: answer.ok && answer.status === 200 ? 'good' : 'failed' })
    if (!answer.ok) return { ok: false, ...whyMissed(answer) }
    if (answer.status !== 200) return { ok: false, reason: `its server answered ${answer.status}` }
    return { ok: true, contentType: answer.headers['content-type'] ?? '', body: answer.body }
  }
}

const OPEN_IT =
  'If it is meant to be there, ask the operator of this service to allow its address and port (VIDIMUS_EGRESS_ALLOW).'

/** The refusal of a status or revocation list, for the merchant and without the address: a private name must not tell where it leads. */
export function whyMissed({ failure, reason }: Extract<EgressAnswer, { ok: false }>): { reason: string; remedy?: string } {
  switch (failure) {
    case 'refused_address':
      return reason === 'host' || reason === 'address'
        ? { reason: 'it is not on the public internet', remedy: OPEN_IT }
        : { reason: 'its address is not one that may be called', remedy: 'Its issuer must publish it at a usual https address.' }
    case 'dns_failed':
      return { reason: 'the name of its server was not found' }
    case 'timeout':
      return { reason: 'its server took too long to answer' }
    case 'tls_failed':
      return {
        reason: 'the certificate of its server is not trusted',
        remedy: 'If its authority is your own, ask the operator of this service to add it (VIDIMUS_EXTRA_CA).',
      }
    case 'too_large':
      return { reason: 'it is too large' }
    default:
      return { reason: 'the connection to its server failed' }
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
