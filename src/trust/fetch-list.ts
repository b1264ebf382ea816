import { callOut, type EgressAnswer } from '../egress/client.ts'
import type { Deps } from './deps.ts'

const LIMITS = { resolveMs: 2000, connectMs: 3000 }
/** With all redirects. */
const TOTAL_MS = 5000

type Wanted = {
  url: string
  accept: string
  bytesMax: number
  redirectsMax: number
  metric: 'vidimus_status_list_fetches_total' | 'vidimus_crl_fetches_total'
  /** Opens this machine. */
  loopback?: boolean
}

type Missed = { ok: false; reason: string; remedy?: string }

/** Fetches a status or revocation list. A failure says why, for the merchant. */
export async function fetchList(
  { egress, resolve, now, metrics }: Pick<Deps, 'egress' | 'resolve' | 'now' | 'metrics'>,
  { url: first, accept, bytesMax: answerBytes, redirectsMax, metric, loopback }: Wanted,
): Promise<{ ok: true; contentType: string; body: Uint8Array } | Missed> {
  const policy = loopback ? { ...egress, loopback } : egress
  const startedAt = now()
  const answer = await followRedirects(first, redirectsMax, url => {
    const totalMs = Math.max(1, TOTAL_MS - (now() - startedAt))
    const limits = { ...LIMITS, resolveMs: Math.min(LIMITS.resolveMs, totalMs), totalMs, answerBytes }
    return callOut(policy, resolve, { url, method: 'GET', headers: { accept }, limits, onLargeAnswer: 'fail' })
  })
  const isGood = answer.ok && answer.status === 200
  metrics.count(metric, { outcome: isGood ? 'good' : 'failed' })
  if (!answer.ok) return { ok: false, ...whyMissed(answer) }
  if (!isGood) return { ok: false, reason: `its server answered ${answer.status}` }
  return { ok: true, contentType: answer.headers['content-type'] ?? '', body: answer.body }
}

/** Redirects are followed to https only, and each address on the way is checked like the first. */
export async function followRedirects(
  first: string,
  redirectsMax: number,
  call: (url: string) => Promise<EgressAnswer>,
): Promise<EgressAnswer> {
  let url = first
  let answer = await call(url)
  for (let followed = 0; followed < redirectsMax; followed++) {
    const next = redirectIn(answer, url)
    if (next?.protocol !== 'https:') break
    // A fragment is never sent.
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

const ALLOW_ADDRESS =
  'If it is meant to be there, ask the operator of this service to allow its address and port (VIDIMUS_EGRESS_ALLOW).'

/** No address in it: the reason must not reveal where a private name leads. */
export function whyMissed({ failure, reason }: Extract<EgressAnswer, { ok: false }>): Omit<Missed, 'ok'> {
  switch (failure) {
    case 'refused_address':
      return reason === 'host' || reason === 'address'
        ? { reason: 'it is not on the public internet', remedy: ALLOW_ADDRESS }
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
