// The one client for everything this service calls by itself: webhooks, status lists, metadata. An address is resolved once, checked, and then
// connected to: what was checked is what is called. Redirects are not followed, proxies of the environment are not used, nothing is unpacked,
// and time and bytes are bounded. Built on node:http, because `fetch` obeys HTTP_PROXY whatever it is told.
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest, type RequestOptions } from 'node:https'
import { isIPv6 } from 'node:net'
import { checkDestination, type EgressPolicy, type Resolve } from './egress.ts'

export type EgressCall = {
  url: string
  method: 'GET' | 'POST'
  headers: Record<string, string>
  body?: string | Uint8Array
  limits: { resolveMs: number; connectMs: number; totalMs: number; answerBytes: number }
  /** What to do when the answer is larger: keep its beginning, or call it a failure. */
  onLargeAnswer: 'cut' | 'fail'
}

export type EgressFailure =
  | 'refused_address'
  | 'dns_failed'
  | 'timeout'
  | 'tls_failed'
  | 'connection_failed'
  | 'too_large'
  | 'cancelled'

export type EgressAnswer =
  | { ok: true; address: string; status: number; headers: Record<string, string>; body: Uint8Array }
  | { ok: false; address?: string; failure: EgressFailure; detail: string }

export async function callOut(policy: EgressPolicy, resolve: Resolve, call: EgressCall): Promise<EgressAnswer> {
  const found = await locate(policy, resolve, call.url, call.limits.resolveMs)
  return found.ok ? await callAt(found.addresses[0] ?? '', call) : found
}

/** Where a URL leads: every address of it may be called. */
export async function locate(
  policy: EgressPolicy,
  resolve: Resolve,
  url: string,
  resolveMs: number,
): Promise<{ ok: true; url: string; addresses: string[] } | Extract<EgressAnswer, { ok: false }>> {
  const checked = await checkDestination(policy, host => within(resolve(host), resolveMs), url)
  if (checked.ok) return { ok: true, url: checked.destination.url.href, addresses: checked.destination.addresses }
  return { ok: false, failure: checked.reason === 'unresolvable' ? 'dns_failed' : 'refused_address', detail: checked.detail }
}

/** Calls an address that `locate` gave for this URL; `signal` ends it at once. */
export async function callAt(address: string, call: EgressCall, signal?: AbortSignal): Promise<EgressAnswer> {
  return await new Promise(settle => exchange(new URL(call.url), address, call, signal, settle))
}

async function within<T>(promise: Promise<T>, ms: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('timed out')), ms)
  })
  return await Promise.race([promise, late]).finally(() => clearTimeout(timer))
}

function exchange(
  url: URL,
  address: string,
  call: EgressCall,
  signal: AbortSignal | undefined,
  settle: (answer: EgressAnswer) => void,
): void {
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest
  const request = send(optionsFor(url, address, call))
  const finish = (answer: EgressAnswer) => {
    clearTimeout(connecting)
    clearTimeout(whole)
    request.destroy()
    settle(answer)
  }
  const late = (detail: string) => () => finish({ ok: false, address, failure: 'timeout', detail })
  const connecting = setTimeout(late('The connection took too long.'), call.limits.connectMs)
  const whole = setTimeout(late('The answer took too long.'), call.limits.totalMs)

  signal?.addEventListener('abort', () => finish({ ok: false, address, failure: 'cancelled', detail: 'It was cancelled.' }))
  request.on('socket', socket =>
    socket.once(url.protocol === 'https:' ? 'secureConnect' : 'connect', () => clearTimeout(connecting)),
  )
  request.on('error', error => finish({ ok: false, address, ...classify(error) }))
  request.on('response', response => {
    clearTimeout(connecting)
    receive(response, call, address, finish)
  })
  request.end(call.body)
}

/** The checked address is given in place of a look-up; Host, SNI and certificate stay the URL's. */
function optionsFor(url: URL, address: string, { method, headers, body }: EgressCall): RequestOptions {
  const family = isIPv6(address) ? 6 : 4
  return {
    method,
    protocol: url.protocol,
    hostname: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port || (url.protocol === 'https:' ? 443 : 80),
    path: `${url.pathname}${url.search}`,
    headers: {
      'accept-encoding': 'identity',
      ...headers,
      host: url.host,
      connection: 'close',
      ...(body !== undefined && { 'content-length': String(Buffer.byteLength(body)) }),
    },
    agent: false,
    lookup: (_, options, callback) => (options.all ? callback(null, [{ address, family }]) : callback(null, address, family)),
  }
}

function receive(
  response: IncomingMessage,
  { limits, onLargeAnswer }: EgressCall,
  address: string,
  finish: (answer: EgressAnswer) => void,
): void {
  const chunks: Buffer[] = []
  let size = 0
  const done = () =>
    finish({
      ok: true,
      address,
      status: response.statusCode ?? 0,
      headers: Object.fromEntries(Object.entries(response.headers).map(([name, value]) => [name, String(value)])),
      body: Buffer.concat(chunks).subarray(0, limits.answerBytes),
    })
  response.on('data', (chunk: Buffer) => {
    chunks.push(chunk)
    size += chunk.length
    if (size <= limits.answerBytes) return
    if (onLargeAnswer === 'cut') done()
    else finish({ ok: false, address, failure: 'too_large', detail: `The answer is larger than ${limits.answerBytes} bytes.` })
  })
  response.on('end', done)
  response.on('error', error => finish({ ok: false, address, ...classify(error) }))
}

function classify(error: Error): { failure: EgressFailure; detail: string } {
  const code = (error as { code?: string }).code ?? ''
  if (/CERT|TLS|SSL|SELF_SIGNED|UNABLE_TO|ALTNAME/.test(code))
    return { failure: 'tls_failed', detail: 'The certificate or the TLS handshake failed.' }
  return { failure: 'connection_failed', detail: 'The connection failed or was closed.' }
}
