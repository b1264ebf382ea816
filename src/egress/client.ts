// The only client for outgoing calls: webhooks, status lists, revocation lists. It resolves a name once, checks its addresses and
// connects to a checked address. It follows no redirect, uses no proxy of the environment, unpacks nothing, always checks
// certificates, and bounds time and bytes. Not built on `fetch`, which always uses HTTP_PROXY.
import type { RequestOptions } from 'node:https'
import { isIP } from '../base/ip.ts'
import { within } from '../base/time.ts'
import { BadAnswer, readAnswer } from './answer.ts'
import type { ExtraCa } from './authorities.ts'
import { checkDestination, checkWebhookUrl, type EgressPolicy, type RefusalReason, type Resolve } from './policy.ts'

export type EgressCall = {
  url: string
  method: 'GET' | 'POST'
  headers: Record<string, string>
  body?: string | Uint8Array
  limits: { resolveMs: number; connectMs: number; totalMs: number; answerBytes: number }
  /** A larger answer is cut at `answerBytes`, or is a failure. */
  onLargeAnswer: 'cut' | 'fail'
}

/** `signal` ends the call at once; `maySend` is asked on the open connection, before the first byte. */
export type CallOptions = { extraCa?: ExtraCa; signal?: AbortSignal; maySend?: () => boolean | Promise<boolean> }

type EgressFailure =
  | 'refused_address'
  | 'dns_failed'
  | 'timeout'
  | 'tls_failed'
  | 'connection_failed'
  | 'too_large'
  | 'cancelled'
  | 'interrupted'

/** A failure after the headers of the answer has their status. */
export type EgressAnswer =
  | { ok: true; address: string; status: number; headers: Record<string, string>; body: Uint8Array }
  | { ok: false; address?: string; status?: number; failure: EgressFailure; reason?: RefusalReason; detail: string }

const ADDRESSES_TRIED_MAX = 3
/** For the status line with its headers. */
const HEADERS_BYTES_MAX = 16 * 1024

const CANCELLED = { failure: 'cancelled', detail: 'It was cancelled.' } as const
const FAILED = { failure: 'connection_failed', detail: 'The connection failed or was closed.' } as const

/** Only for calls that may arrive twice: when a connection fails, the next address is called. */
export async function callOut(
  policy: EgressPolicy,
  resolve: Resolve,
  call: EgressCall,
  signal?: AbortSignal,
): Promise<EgressAnswer> {
  const found = await locate(policy, resolve, call.url, { resolveMs: call.limits.resolveMs })
  if (!found.ok) return found
  let answer: EgressAnswer | undefined
  for (const address of found.addresses.slice(0, ADDRESSES_TRIED_MAX)) {
    answer = await callAt(address, call, { extraCa: policy.extraCa, signal })
    // The next address may work after `connection_failed`: no server listens here, or this machine lacks the address family.
    if (answer.ok || answer.failure !== 'connection_failed') break
  }
  return answer!
}

/** The addresses at which a URL may be called. `webhookOf`: for a webhook, the environment of its session. */
export async function locate(
  policy: EgressPolicy,
  resolve: Resolve,
  url: string,
  { resolveMs, webhookOf }: { resolveMs: number; webhookOf?: 'test' | 'live' },
): Promise<{ ok: true; url: string; addresses: string[] } | Extract<EgressAnswer, { ok: false }>> {
  const resolveInTime = (host: string) => within(resolveMs, resolve(host), tooLate)
  const checked = webhookOf
    ? await checkWebhookUrl(policy, resolveInTime, url, webhookOf)
    : await checkDestination(policy, resolveInTime, url)
  if (checked.ok) return { ok: true, url: checked.destination.url.href, addresses: checked.destination.addresses }
  const { reason, detail } = checked
  return { ok: false, failure: reason === 'unresolvable' ? 'dns_failed' : 'refused_address', reason, detail }
}

const tooLate = (): never => {
  throw new Error('timed out')
}

/** Calls an address that `locate` gave for this URL. */
export async function callAt(address: string, call: EgressCall, options: CallOptions = {}): Promise<EgressAnswer> {
  if (options.signal?.aborted) return { ok: false, address, ...CANCELLED }
  // Anything else would be looked up, or mean this machine.
  if (isIP(address) === 0) return { ok: false, address, ...FAILED }
  return await new Promise(settle => exchange(new URL(call.url), address, call, options, settle))
}

function exchange(
  url: URL,
  address: string,
  call: EgressCall,
  { extraCa, signal, maySend = () => true }: CallOptions,
  settle: (answer: EgressAnswer) => void,
): void {
  const { limits, onLargeAnswer } = call
  const request = requestTo(url, address, call, extraCa)
  let status: number | undefined
  let isSent = false
  let isSettled = false
  const finish = (answer: EgressAnswer) => {
    isSettled = true
    clearTimeout(connecting)
    clearTimeout(whole)
    signal?.removeEventListener('abort', cancel)
    request.destroy()
    settle(answer)
  }
  const fail = (failure: EgressFailure, detail: string) =>
    finish({ ok: false, address, ...(status !== undefined && { status }), failure, detail })
  const failWith = (error: unknown) => {
    if (!isSettled) fail(...classify(error, limits.answerBytes))
  }
  const cancel = () => finish({ ok: false, address, ...CANCELLED })
  const connecting = setTimeout(() => fail('timeout', 'The connection took too long.'), limits.connectMs)
  const whole = setTimeout(() => fail('timeout', 'The answer took too long.'), limits.totalMs)
  signal?.addEventListener('abort', cancel)

  const sendIfAllowed = async () => {
    clearTimeout(connecting)
    const isAllowed = maySend()
    const isGranted = isAllowed === true || (await isAllowed)
    if (isSettled) return
    if (!isGranted) return fail('interrupted', 'This node stood still for too long.')
    isSent = true
    request.end(call.body)
  }
  const count = readAnswer(request, limits.answerBytes, {
    onAnswer({ isCut, ...answer }) {
      if (isSettled) return
      if (isCut && onLargeAnswer === 'fail') failWith(new BadAnswer('too_large'))
      else finish({ ok: true, address, ...answer })
    },
    onFailure: failWith,
  })
  request.on('response', ({ statusCode }) => {
    status = statusCode
  })
  request.on('socket', socket => {
    socket.once(url.protocol === 'https:' ? 'secureConnect' : 'connect', () => void sendIfAllowed().catch(failWith))
    // Bytes that arrive before the request is sent cannot be its answer.
    socket.on('data', ({ length }: Buffer) => (isSent ? count(length) : failWith(new BadAnswer())))
  })
}

/** SNI and certificate must match the URL's host, whatever address is connected to. */
function requestTo(url: URL, address: string, { method, headers, body }: EgressCall, extraCa: ExtraCa | undefined) {
  const options: RequestOptions = {
    method,
    host: address,
    port: url.port || (url.protocol === 'https:' ? 443 : 80),
    path: `${url.pathname}${url.search}`,
    headers: {
      'accept-encoding': 'identity',
      ...headers,
      host: url.host,
      connection: 'close',
      ...((method === 'POST' || body !== undefined) && { 'content-length': Buffer.byteLength(body ?? '') }),
    },
    agent: false,
    insecureHTTPParser: false,
    maxHeaderSize: HEADERS_BYTES_MAX,
    // The certificate of a URL without a name must be for the address.
    servername: isIP(hostOf(url)) === 0 ? hostOf(url) : '',
    // NODE_TLS_REJECT_UNAUTHORIZED would change the default.
    rejectUnauthorized: true,
    ...(extraCa && { secureContext: extraCa.secureContext() }),
  }
  // Loaded here and not imported: the start of the service would wait for both.
  return process.getBuiltinModule(url.protocol === 'https:' ? 'node:https' : 'node:http').request(options)
}

const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '')

function classify(error: unknown, answerBytes: number): [EgressFailure, string] {
  if (error instanceof BadAnswer && error.failure === 'too_large')
    return ['too_large', `The answer is larger than ${answerBytes} bytes, or goes on without an end.`]
  const code = (error as { code?: string } | null)?.code ?? ''
  if (/CERT|TLS|SSL|SELF_SIGNED|UNABLE_TO|ALTNAME|EPROTO/.test(code))
    return ['tls_failed', 'The certificate or the TLS handshake failed.']
  return [FAILED.failure, FAILED.detail]
}
