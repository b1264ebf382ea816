/**
 * Signs and verifies webhooks: the same code for the service and for receivers.
 * This file imports nothing and needs only WebCrypto: it runs in Bun, Node.js 20, Deno and edge runtimes, and may be
 * copied. webhook-vectors.json fixes its behaviour and can test implementations in other languages.
 *
 * @module
 */

export type WebhookEvent = {
  type: 'verification.completed' | 'verification.failed'
  /** As `GET /v1/verifications/{id}` returns it. */
  verification: WebhookVerification
  /** RFC 3339; the time of this attempt, so a repeated delivery has a later one. */
  sent_at: string
}

export type WebhookVerification = {
  id: string
  status: 'completed' | 'failed'
  template?: string
  /** Merged verified claims. */
  claims?: Record<string, unknown>
  credentials?: WebhookCredential[]
  error?: { code: string; message: string }
  /** As given at creation. */
  metadata?: Record<string, string>
  purpose?: string
  redirect_url?: string
  created_at: string
  expires_at: string
  responded_at?: string
}

export type WebhookCredential = {
  format: 'mso_mdoc' | 'dc+sd-jwt'
  doctype_or_vct: string
  claims: Record<string, unknown>
  issuer: { common_name?: string; country?: string }
  trusted: boolean
  signature_valid: boolean
  holder_binding_valid: boolean
  findings: { check: string; status: 'pass' | 'fail' | 'warning' | 'skipped'; detail?: string }[]
}

/**
 * In the order of the checks. The signature is checked before the payload, so only
 * `invalid_payload` concerns a genuine message.
 */
export type WebhookErrorCode =
  | 'missing_header'
  | 'malformed_header'
  | 'timestamp_out_of_tolerance'
  | 'no_match'
  | 'invalid_payload'

/** The message must not be trusted: respond with 400. A wrong call, such as an invalid secret, is a `TypeError` instead. */
export class WebhookError extends Error {
  readonly code: WebhookErrorCode
  constructor(code: WebhookErrorCode, message: string) {
    super(message)
    this.name = 'WebhookError'
    this.code = code
  }
}

/** The exact bytes of the body, or their text. A parsed body cannot be verified: writing it again changes it. */
export type RawBody = string | Uint8Array | ArrayBuffer

type Bytes = Uint8Array<ArrayBuffer>

const TOLERANCE_SECONDS = 300
const HEADER_CHARS_MAX = 2048
const CANDIDATES_MAX = 16
const HMAC = { name: 'HMAC', hash: 'SHA-256' }

/**
 * Verifies a webhook and returns its event. There is no other way to get the event, so the check cannot be forgotten.
 * Compare `verification.id` with the session you created: its `metadata` proves nothing.
 *
 * - `payload`: the raw body, before any parsing
 * - `header`: the value of `X-Service-Signature`
 * - `secret`: the whole `whsec_…` string, or several while you replace one
 *   Test and live results have different ones.
 * - `tolerance`: allowed difference in seconds between the message's time and `now`; 300 by default
 * - `now`: whole unix seconds; the current time by default
 *
 * @throws {@link WebhookError} when the message must not be trusted
 *
 * @example
 * ```ts
 * async function receive(request: Request): Promise<Response> {
 *   try {
 *     const event = await verifyWebhook({
 *       payload: await request.arrayBuffer(),
 *       header: request.headers.get('x-service-signature'),
 *       secret: 'whsec_YSB3ZWJob29rIHNlY3JldCBmb3IgdGVzdHMsICMx',
 *     })
 *     return Response.json({ received: event.verification.id })
 *   } catch (error) {
 *     if (error instanceof WebhookError) return new Response(error.code, { status: 400 })
 *     throw error
 *   }
 * }
 * ```
 */
export async function verifyWebhook({
  payload,
  header,
  secret,
  tolerance = TOLERANCE_SECONDS,
  now = Math.floor(Date.now() / 1000),
}: {
  payload: RawBody
  header: string | readonly string[] | null | undefined
  secret: string | readonly string[]
  tolerance?: number
  now?: number
}): Promise<WebhookEvent> {
  const body = rawBytes(payload)
  const keys = checkedSecrets(typeof secret === 'string' ? [secret] : secret).map(utf8)
  const clock = checkedSeconds('now', now)
  if (!Number.isFinite(tolerance) || tolerance < 0) throw new TypeError('tolerance: give a number of seconds, 0 or more.')

  const { time, candidates } = parseHeader(header)
  if (Math.abs(clock - Number(time)) > tolerance)
    throw new WebhookError('timestamp_out_of_tolerance', `The message was signed more than ${tolerance} seconds from now.`)

  const signed = joined(utf8(`${time}.`), body)
  if (!(await someMatch(keys, candidates, signed)))
    throw new WebhookError('no_match', 'No signature matches: the body was changed, or the secret is another one.')
  // From the copy that was verified: the caller may have changed its own.
  return parseEvent(signed.subarray(time.length + 1))
}

/** `secrets` are whole `whsec_…` strings; during a rotation both, the new one first. `timestamp` is in whole unix seconds. */
export type Signing = { payload: RawBody; secrets: readonly string[]; timestamp: number }

/**
 * The value of `X-Service-Signature`: `t=…,v1=…`, with one `v1` for each secret.
 *
 * @example
 * ```ts
 * const payload = '{"type":"verification.completed","verification":{"id":"vs_1"},"sent_at":"2026-03-04T12:00:00Z"}'
 * const secret = 'whsec_YSB3ZWJob29rIHNlY3JldCBmb3IgdGVzdHMsICMx'
 * const header = await signWebhook({ payload, secrets: [secret], timestamp: Math.floor(Date.now() / 1000) })
 * const event = await verifyWebhook({ payload, header, secret })
 * ```
 */
export async function signWebhook({ payload, secrets, timestamp }: Signing): Promise<string> {
  const signed = joined(utf8(`${checkedSeconds('timestamp', timestamp)}.`), rawBytes(payload))
  const macs = await Promise.all(checkedSecrets(secrets).map(secret => hmac(utf8(secret), signed)))
  return [`t=${timestamp}`, ...macs.map(mac => `v1=${hex(mac)}`)].join(',')
}

/**
 * Headers of the same message in Standard Webhooks form, for libraries of that specification: the
 * key is the decoded secret, and the signature covers `id`, which is the same on every attempt.
 */
export async function signStandardWebhook({
  id,
  payload,
  secrets,
  timestamp,
}: Signing & { id: string }): Promise<Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string>> {
  const signed = joined(utf8(`${id}.${checkedSeconds('timestamp', timestamp)}.`), rawBytes(payload))
  const macs = await Promise.all(checkedSecrets(secrets).map(secret => hmac(decoded(secret), signed)))
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': macs.map(mac => `v1,${btoa(String.fromCharCode(...mac))}`).join(' '),
  }
}

// Compares tags, not instanceof: test runners pass arrays of another realm.
function rawBytes(payload: RawBody): Uint8Array {
  if (typeof payload === 'string') return utf8(payload)
  const tag = Object.prototype.toString.call(payload)
  if (tag === '[object Uint8Array]') return payload as Uint8Array
  if (tag === '[object ArrayBuffer]') return new Uint8Array(payload as ArrayBuffer)
  throw new TypeError('payload: give the raw body, as text or bytes, before it is parsed. A parsed body cannot be verified.')
}

/** An empty or truncated secret must fail here: anybody could sign with it. */
function checkedSecrets(secrets: readonly string[]): readonly string[] {
  const isSecret = (secret: unknown) => typeof secret === 'string' && /^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/.test(secret)
  if (Array.isArray(secrets) && secrets.length > 0 && secrets.every(isSecret)) return secrets
  throw new TypeError('secret: give the whole webhook secret, whsec_ and what follows, without spaces or line ends.')
}

function checkedSeconds(name: string, value: number): number {
  // Milliseconds by mistake are refused: as seconds they would be beyond the year 5000.
  if (Number.isSafeInteger(value) && value >= 0 && value < 1e11) return value
  throw new TypeError(`${name}: give whole unix seconds, as in Math.floor(Date.now() / 1000).`)
}

function parseHeader(header: string | readonly string[] | null | undefined): { time: string; candidates: string[] } {
  const text = typeof header === 'string' ? header : (header ?? []).join(',')
  if (text === '') throw new WebhookError('missing_header', 'The message has no X-Service-Signature header.')
  const parts = text.length > HEADER_CHARS_MAX ? [] : text.split(',').map(part => part.replace(/^[ \t]+|[ \t]+$/g, ''))
  const valuesOf = (name: string) => parts.filter(part => part.startsWith(`${name}=`)).map(part => part.slice(name.length + 1))
  const [times, candidates] = [valuesOf('t'), valuesOf('v1')]
  const [time = ''] = times
  if (times.length !== 1 || !/^[0-9]{1,12}$/.test(time) || candidates.length === 0 || candidates.length > CANDIDATES_MAX)
    throw new WebhookError(
      'malformed_header',
      'The X-Service-Signature header is not t=…,v1=…: one time and at least one signature.',
    )
  return { time, candidates }
}

/** Compares every candidate with every key in constant time, even after a match. */
async function someMatch(keys: Bytes[], candidates: string[], signed: Bytes): Promise<boolean> {
  const macs = candidates.filter(candidate => /^[0-9a-f]{64}$/.test(candidate)).map(unhex)
  const matches = await Promise.all(
    keys.map(async key => {
      const imported = await crypto.subtle.importKey('raw', key, HMAC, false, ['verify'])
      return await Promise.all(macs.map(mac => crypto.subtle.verify('HMAC', imported, mac, signed)))
    }),
  )
  return matches.flat().includes(true)
}

function parseEvent(body: Bytes): WebhookEvent {
  let event: Partial<WebhookEvent> | null
  try {
    event = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch {
    throw new WebhookError('invalid_payload', 'The message is genuine, but not JSON.')
  }
  const isKnown = event?.type === 'verification.completed' || event?.type === 'verification.failed'
  if (isKnown && typeof event?.verification?.id === 'string' && typeof event.sent_at === 'string') return event as WebhookEvent
  throw new WebhookError('invalid_payload', 'The message is genuine, but not an event that this version knows.')
}

async function hmac(key: Bytes, signed: Bytes): Promise<Uint8Array> {
  const imported = await crypto.subtle.importKey('raw', key, HMAC, false, ['sign'])
  return new Uint8Array(await crypto.subtle.sign('HMAC', imported, signed))
}

const utf8 = (text: string): Bytes => new TextEncoder().encode(text)

const decoded = (secret: string): Bytes => Uint8Array.from(atob(secret.slice('whsec_'.length)), char => char.charCodeAt(0))

const hex = (bytes: Uint8Array): string => Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('')

const unhex = (text: string): Bytes =>
  Uint8Array.from({ length: text.length / 2 }, (_, i) => Number(`0x${text.slice(2 * i, 2 * i + 2)}`))

function joined(first: Uint8Array, second: Uint8Array): Bytes {
  const whole = new Uint8Array(first.length + second.length)
  whole.set(first)
  whole.set(second, first.length)
  return whole
}
