import { checkedBaseUrl } from './base-url.ts'
import { VidimusError } from './error.ts'

export type Fetch = (url: string, init: RequestInit) => Promise<Response>

export type TransportOptions = {
  /** https, or http in a private network. A path is kept, for a service behind a proxy. */
  baseUrl: string
  /** Replaces the platform's fetch. */
  fetch?: Fetch
  /** Limit for all attempts of a call together; 30 seconds by default. */
  timeoutMs?: number
}

export type CallOptions = {
  /** An aborted call throws the reason of the signal. */
  signal?: AbortSignal
  /** Limit for all attempts of this call together. */
  timeoutMs?: number
}

export type Call = CallOptions & {
  method?: 'GET' | 'POST' | 'DELETE'
  path: string
  /** One that every such answer of the service has: something else on the way may answer with JSON too. */
  field: string
  token?: string
  body?: object
  idempotencyKey?: string
  /** True when repeating is safe although the outcome of the last attempt is unknown. Otherwise only refusals are repeated. */
  isRepeatable?: boolean
  /** Adds values of headers to the result. */
  complete?: (body: object, answer: { headers: Headers; base: string }) => object
}

export type Transport = {
  send<Body>(call: Call): Promise<Body>
  /** A response that is read as a stream. */
  open(path: string, signal: AbortSignal): Promise<Response>
}

const TIMEOUT_MS = 30_000
const TRIES_MAX = 4
const BACKOFF_MS = 500
const BACKOFF_FACTOR = 3
const RATE_LIMITED_MS = 1000
const ANSWER_BYTES_MAX = 32 * 1024 * 1024
const MESSAGE_CHARS_MAX = 500

export function createTransport({ baseUrl, fetch: own, timeoutMs: usualMs = TIMEOUT_MS }: TransportOptions): Transport {
  const base = checkedBaseUrl(baseUrl)
  // Read at each call, so that a replaced global fetch is used.
  const request: Fetch = own ?? ((url, init) => fetch(url, init))

  return {
    async send<Body>({ timeoutMs = usualMs, body, ...call }: Call): Promise<Body> {
      checkMs(timeoutMs)
      const text = body && JSON.stringify(body)
      const until = performance.now() + timeoutMs
      let maybeDone = false
      for (let tries = 1; ; tries++) {
        // An attempt that hangs must leave time for another one.
        const attemptMs = Math.min(timeoutMs / 2, until - performance.now())
        try {
          return await attempt<Body>(request, base, { ...call, text, attemptMs, maybeDone })
        } catch (error) {
          if (!(error instanceof VidimusError)) throw error
          maybeDone = error.maybeDone
          const delayMs = tries < TRIES_MAX ? delayBeforeRepeat(error, call, tries) : undefined
          if (delayMs === undefined || performance.now() + delayMs >= until) throw error
          await pause(delayMs, call.signal)
        }
      }
    },

    open: (path, signal) => request(`${base}${path}`, { headers: { accept: 'text/event-stream' }, redirect: 'manual', signal }),
  }
}

// A timeout beyond the limit of timers would fire at once.
export function checkMs(timeoutMs: number): void {
  if (!(timeoutMs > 0 && timeoutMs < 2 ** 31)) throw new TypeError('timeoutMs: give a number of milliseconds, at most 24 days')
}

/** Undefined when the call must not be repeated. */
function delayBeforeRepeat(
  { code, status = 0, retryAfterMs }: VidimusError,
  { isRepeatable }: Call,
  tries: number,
): number | undefined {
  const backoffMs = randomFraction() * BACKOFF_MS * BACKOFF_FACTOR ** (tries - 1)
  // Refused before any work was done.
  if (status === 429) return (retryAfterMs ?? RATE_LIMITED_MS) + backoffMs
  // Retry-After is the end of the lease; the request that holds it usually ends much earlier.
  if (code === 'idempotency_key_in_flight') return Math.min(backoffMs, retryAfterMs ?? backoffMs)
  if (!isRepeatable || (code !== 'no_answer' && status < 500)) return undefined
  return Math.max(backoffMs, retryAfterMs ?? 0)
}

type Attempt = Call & { text: string | undefined; attemptMs: number; maybeDone: boolean }

async function attempt<Body>(
  request: Fetch,
  base: string,
  { method = 'GET', path, field, token, text, idempotencyKey, signal, attemptMs, maybeDone, complete = body => body }: Attempt,
): Promise<Body> {
  signal?.throwIfAborted()
  const controller = new AbortController()
  const abort = () => controller.abort(signal?.reason)
  signal?.addEventListener('abort', abort, { once: true })
  const timer = setTimeout(() => controller.abort(), attemptMs)
  try {
    const response = await request(`${base}${path}`, {
      method,
      headers: {
        accept: 'application/json',
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(text !== undefined && { 'content-type': 'application/json' }),
        ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
      },
      ...(text !== undefined && { body: text }),
      // A redirect would send the key to another host.
      redirect: 'manual',
      // Bun repeats a DELETE by itself when a kept connection breaks; the first attempt would go unnoticed.
      ...(method === 'DELETE' && { keepalive: false }),
      signal: controller.signal,
    })
    const past = { mayChange: method !== 'GET', maybeDone }
    const body = resultOf(response, { text: await readBounded(response, past), field }, past)
    return complete(body, { headers: response.headers, base }) as Body
  } catch (error) {
    if (error instanceof VidimusError) throw error
    signal?.throwIfAborted()
    throw new VidimusError('no_answer', {
      message: 'The service could not be reached, or did not answer in time.',
      maybeDone: maybeDone || method !== 'GET',
      cause: error,
    })
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', abort)
  }
}

async function readBounded(response: Response, { mayChange, maybeDone }: Past): Promise<string> {
  if (!response.body) return ''
  const reader = response.body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
    bytes += chunk.value.byteLength
    if (bytes > ANSWER_BYTES_MAX) {
      await reader.cancel()
      throw new VidimusError('unexpected_answer', {
        message: 'The answer is larger than 32 MiB; ask for fewer at a time.',
        status: response.status,
        maybeDone: maybeDone || (mayChange && (response.ok || response.status >= 500)),
      })
    }
    text += decoder.decode(chunk.value, { stream: true })
  }
  return text + decoder.decode()
}

type Past = { mayChange: boolean; maybeDone: boolean }

type Expected = { text: string; field: string }

function resultOf(response: Response, { text, field }: Expected, { mayChange, maybeDone }: Past): object {
  const { status, ok, headers } = response
  const body = parsed(text)
  const found = (body as Record<string, unknown> | null | undefined)?.[field]
  if (ok && (field === 'data' ? Array.isArray(found) : found != null)) return body as object
  const details = {
    status,
    requestId: headers.get('x-request-id') ?? undefined,
    retryAfterMs: retryAfterOf(headers),
    maybeDone: maybeDone || (mayChange && (ok || status >= 500)),
  }
  const { code, message } = (body as { error?: { code?: unknown; message?: unknown } } | undefined)?.error ?? {}
  if (typeof code === 'string' && typeof message === 'string')
    throw new VidimusError(code as VidimusError['code'], { ...details, message: message.slice(0, MESSAGE_CHARS_MAX) })
  // A browser hides the target and the status.
  const isRedirect = response.type === 'opaqueredirect' || (status >= 300 && status < 400)
  throw new VidimusError('unexpected_answer', {
    ...details,
    message: isRedirect
      ? 'The answer is a redirect, which is not followed: it would get the key. Give the address it leads to as baseUrl.'
      : `Something answered ${status}, but not as this service does.`,
  })
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function retryAfterOf(headers: Headers): number | undefined {
  const value = headers.get('retry-after') ?? ''
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000
  const at = Date.parse(value)
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now())
}

/** Rejects with the signal's reason when it is aborted. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const abort = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort)
      resolve()
    }, ms)
    signal?.addEventListener('abort', abort, { once: true })
  })
}

export const randomFraction = (): number => (crypto.getRandomValues(new Uint32Array(1))[0] ?? 0) / 2 ** 32

/** An Idempotency-Key: 128 random bits. */
export const newKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), byte => byte.toString(16).padStart(2, '0')).join('')

/** Ids go into paths: other characters are refused. */
export function idPath(prefix: string, id: string, suffix = ''): string {
  if (typeof id !== 'string' || !/^[\w-]{1,255}$/.test(id)) throw new TypeError('id: give the id as the service gave it')
  return `${prefix}/${id}${suffix}`
}
