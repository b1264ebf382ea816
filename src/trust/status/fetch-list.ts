import { promisify } from 'node:util'
import { callOut, type EgressAnswer } from '../../egress/client.ts'
import type { Calling, Reporting } from '../../ground.ts'

const LIMITS = { resolveMs: 2000, connectMs: 3000 }
/** Redirects included. */
const TOTAL_MS = 5000
/** Lists move and leave a redirect, and hosts send everybody to https. */
const REDIRECTS_MAX = 3

type ListToFetch = {
  url: string
  accept: string
  bytesMax: number
  metric: 'vidimus_status_list_fetches_total' | 'vidimus_crl_fetches_total'
  /** Opens this machine. */
  loopback?: boolean
}

type Missed = { ok: false; reason: string; remedy?: string }
type Fetched = { ok: true; contentType: string; body: Uint8Array } | Missed

/** Fetches a status or revocation list. A failure says why, for the merchant. */
export async function fetchList(
  { egress, resolve, now, metrics }: Calling & Reporting,
  { url: first, accept, bytesMax: answerBytes, metric, loopback }: ListToFetch,
): Promise<Fetched> {
  const policy = loopback ? { ...egress, loopback } : egress
  const startedAt = now()
  const answer = await followRedirects(first, REDIRECTS_MAX, url => {
    const totalMs = Math.max(1, TOTAL_MS - (now() - startedAt))
    const limits = { ...LIMITS, resolveMs: Math.min(LIMITS.resolveMs, totalMs), totalMs, answerBytes }
    return callOut(policy, resolve, { url, method: 'GET', headers: { accept }, limits, onLargeAnswer: 'fail' })
  })
  const fetched = await readAnswer(answer, answerBytes)
  metrics.count(metric, { outcome: fetched.ok ? 'good' : 'failed' })
  return fetched
}

async function readAnswer(answer: EgressAnswer, bytesMax: number): Promise<Fetched> {
  if (!answer.ok) return { ok: false, ...whyMissed(answer) }
  const { status, headers, body } = answer
  if (status !== 200) return { ok: false, reason: `its server answered ${status}` }
  try {
    const unpacked = await unpack(body, headers['content-encoding'], bytesMax)
    return { ok: true, contentType: headers['content-type'] ?? '', body: unpacked }
  } catch (error) {
    const isLarge = error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE'
    return { ok: false, reason: isLarge ? 'it is too large' : 'its server compressed it in a way that cannot be read' }
  }
}

/**
 * Plain bytes are asked for, but Token Status List § 8.2 recommends gzip, and a server that keeps
 * only the compressed file sends it to everybody. Throws when it cannot be unpacked.
 */
async function unpack(body: Uint8Array, coding = 'identity', bytesMax: number): Promise<Uint8Array> {
  if (/^identity$/i.test(coding)) return body
  if (!/^(x-)?gzip$/i.test(coding)) throw new Error('an unknown coding')
  // Not imported: the start of the service would wait for it.
  const { gunzip } = process.getBuiltinModule('node:zlib')
  return await promisify<Uint8Array, { maxOutputLength: number }, Buffer>(gunzip)(body, { maxOutputLength: bytesMax })
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

/** True for every address that is refused: of a link-local one, or our own, no setting opens anything. */
const PUBLISH_IT =
  'Its issuer must publish it there; only an address in a private network can be opened by the operator of this service (VIDIMUS_EGRESS_ALLOW).'

/** No address in it: the reason must not reveal where a private name leads. */
export function whyMissed({ failure, reason }: Extract<EgressAnswer, { ok: false }>): Omit<Missed, 'ok'> {
  switch (failure) {
    case 'refused_address':
      return reason === 'host' || reason === 'address'
        ? { reason: 'it is not on the public internet', remedy: PUBLISH_IT }
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
