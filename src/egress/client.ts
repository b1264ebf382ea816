// The one client for outgoing calls: webhooks, status lists, revocation lists. A name is resolved
// once, its addresses are checked, and a checked address is connected to. No redirect is followed,
// no proxy of the environment is used, nothing is unpacked, certificates are always checked, and
// time and bytes are bounded. Built on node:http, because `fetch` cannot be kept from using
// HTTP_PROXY.
import type { IncomingMessage } from 'node:http'
import type { RequestOptions } from 'node:https'
import type { Socket } from 'node:net'
import { isIPv6 } from '../ip.ts'
import { within } from '../time.ts'
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

/** A failure after the headers has a status. */
export type EgressAnswer =
  | { ok: true; address: string; status: number; headers: Record<string, string>; body: Uint8Array }
  | { ok: false; address?: string; status?: number; failure: EgressFailure; reason?: RefusalReason; detail: string }

/** Status line, headers and chunk sizes. */
const FRAMING_BYTES_MAX = 128 * 1024
/** Answers with a 1xx status before the final one. */
const INTERIM_ANSWERS_MAX = 16

const ADDRESSES_TRIED_MAX = 3

const CANCELLED = { failure: 'cancelled', detail: 'It was cancelled.' } as const

/** For calls that may arrive twice: after a failed connection the next address is called. */
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
    // No server listens there, or this machine does not have that address family.
    if (answer.ok || answer.failure !== 'connection_failed') break
  }
  return answer!
}

/** The addresses of a URL that may be called. `webhookOf`: environment of a webhook's session. */
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
  return await new Promise(settle => exchange(new URL(call.url), address, call, options, settle))
}

function exchange(
  url: URL,
  address: string,
  call: EgressCall,
  { extraCa, signal, maySend = () => true }: CallOptions,
  settle: (answer: EgressAnswer) => void,
): void {
  // Not imported: the start of the service would wait for it.
  const { request: send } = process.getBuiltinModule(url.protocol === 'https:' ? 'node:https' : 'node:http')
  const request = send(optionsFor(url, address, call, extraCa))
  let response: IncomingMessage | undefined
  const finish = (answer: EgressAnswer) => {
    clearTimeout(connecting)
    clearTimeout(whole)
    signal?.removeEventListener('abort', cancel)
    request.destroy()
    settle(answer)
  }
  const fail = (failure: EgressFailure, detail: string) =>
    finish({ ok: false, address, ...(response && { status: response.statusCode }), failure, detail })
  const tooLarge = () =>
    fail('too_large', `The answer is larger than ${call.limits.answerBytes} bytes, or goes on without an end.`)
  const cancel = () => finish({ ok: false, address, ...CANCELLED })
  const connecting = setTimeout(() => fail('timeout', 'The connection took too long.'), call.limits.connectMs)
  const whole = setTimeout(() => fail('timeout', 'The answer took too long.'), call.limits.totalMs)

  signal?.addEventListener('abort', cancel)
  request.on('socket', socket => {
    socket.once(url.protocol === 'https:' ? 'secureConnect' : 'connect', () => {
      clearTimeout(connecting)
      void sendIfAllowed()
    })
    boundBytes(socket, FRAMING_BYTES_MAX + 2 * call.limits.answerBytes, tooLarge)
  })
  const sendIfAllowed = async () => {
    const isAllowed = maySend()
    if (isAllowed === true || (await isAllowed)) request.end(call.body)
    else fail('interrupted', 'This node stood still for too long.')
  }
  let interimAnswers = 0
  request.on('information', () => {
    interimAnswers += 1
    if (interimAnswers > INTERIM_ANSWERS_MAX) tooLarge()
  })
  request.on('upgrade', () => fail('connection_failed', 'The answer changes to a protocol that was not asked for.'))
  request.on('error', error => {
    // Bytes behind a whole answer, such as a body under 204, are ignored: its `end` event follows.
    if (!response?.complete) fail(...classify(error))
  })
  request.on('response', answer => {
    response = answer
    clearTimeout(connecting)
    answer.on('error', error => fail(...classify(error)))
    receive(answer, call, {
      done: body => finish({ ok: true, address, status: answer.statusCode ?? 0, headers: headersOf(answer), body }),
      tooLarge,
    })
  })
}

/** The checked address is given in place of a look-up; Host, SNI and certificate stay the URL's. */
function optionsFor(url: URL, address: string, { method, headers, body }: EgressCall, extraCa?: ExtraCa): RequestOptions {
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
    // Explicitly, because NODE_TLS_REJECT_UNAUTHORIZED would change the default.
    rejectUnauthorized: true,
    ...(extraCa && { secureContext: extraCa.secureContext() }),
    lookup: (_, options, callback) => (options.all ? callback(null, [{ address, family }]) : callback(null, address, family)),
  }
}

/** Bounds bytes outside the body too: leading line ends and chunk sizes can be endless. */
function boundBytes(socket: Socket, bytesMax: number, stop: () => void): void {
  let received = 0
  socket.on('data', (chunk: Buffer) => {
    // Compared before this chunk is added: one chunk may exceed the bound and hold the beginning
    // that is kept.
    if (received > bytesMax) stop()
    received += chunk.length
  })
}

function receive(
  response: IncomingMessage,
  { limits, onLargeAnswer }: EgressCall,
  { done, tooLarge }: { done: (body: Uint8Array) => void; tooLarge: () => void },
): void {
  const chunks: Buffer[] = []
  let size = 0
  const kept = () => Buffer.concat(chunks).subarray(0, limits.answerBytes)
  response.on('data', (chunk: Buffer) => {
    chunks.push(chunk)
    size += chunk.length
    if (size <= limits.answerBytes) return
    if (onLargeAnswer === 'cut') done(kept())
    else tooLarge()
  })
  response.on('end', () => done(kept()))
}

function headersOf({ headers }: IncomingMessage): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
}

function classify(error: Error): [EgressFailure, string] {
  const code = (error as { code?: string }).code ?? ''
  if (/CERT|TLS|SSL|SELF_SIGNED|UNABLE_TO|ALTNAME/.test(code))
    return ['tls_failed', 'The certificate or the TLS handshake failed.']
  return ['connection_failed', 'The connection failed or was closed.']
}
