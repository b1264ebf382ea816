import { VidimusError } from './error.ts'
import { type CallOptions, checkMs, idPath, pause, randomFraction, type Transport } from './transport.ts'
import type { Verification, VerificationStatus } from './wire.ts'

/** Longer than the life of any session. */
const TIMEOUT_MS = 75 * 60_000
/** Limit of one request. */
const CALL_MS_MAX = 30_000
const POLL_MS = 1000
const POLL_MS_MAX = 5000
const POLL_GROWTH = 1.5
/** For the last look, when the time is over: the one before may be as long ago as a pause. */
const LAST_POLL_MS = 1000
/**
 * The first event arrives at once, then at least a sign of life every ten seconds; a longer silence
 * means that a proxy holds them back.
 */
const FIRST_EVENT_MS = 5000
const SILENCE_MS = 25_000
const STREAM_FAILURES_MAX = 3
const EVENT_CHARS_MAX = 64 * 1024

type Waiting = { transport: Transport; get: (id: string, options: CallOptions) => Promise<Verification> }

/** The verification once its status is final. */
export async function waitFor(
  { transport, get }: Waiting,
  id: string,
  { timeoutMs = TIMEOUT_MS, signal }: CallOptions,
): Promise<Verification> {
  checkMs(timeoutMs)
  const until = performance.now() + timeoutMs
  const leftMs = () => Math.max(1, until - performance.now())
  const call = () => ({ signal, timeoutMs: Math.min(leftMs(), CALL_MS_MAX) })
  const result = () => read(() => get(id, { signal, timeoutMs: CALL_MS_MAX }), { until, signal })
  // The first request uses the key, so that a wrong key, a missing scope or a foreign id fails at once.
  const found = await read(() => get(id, call()), { until, signal })
  if (found.status !== 'pending') return found

  let streamFailures = 0
  for (let pollMs = POLL_MS; performance.now() < until; pollMs = slower(pollMs)) {
    if (streamFailures < STREAM_FAILURES_MAX) {
      const seen = await followEvents(transport, id, { signal, timeoutMs: leftMs() })
      streamFailures = seen === 'nothing' ? streamFailures + 1 : 0
    }
    const answer = await poll(transport, id, call())
    if (answer === 'final') return await result()
    await pause(Math.min(leftMs(), Math.max(answer.notBeforeMs, jittered(pollMs))), signal)
  }
  if ((await poll(transport, id, { signal, timeoutMs: LAST_POLL_MS })) === 'final') return await result()
  const seconds = Math.round(timeoutMs / 1000)
  throw new VidimusError('still_pending', { message: `The verification has not ended within ${seconds} seconds.` })
}

const slower = (pollMs: number): number => Math.min(pollMs * POLL_GROWTH, POLL_MS_MAX)
const jittered = (pollMs: number): number => pollMs * (0.5 + randomFraction() / 2)

/**
 * Reads with the key, again and again while the service is unreachable. When the time is over, the
 * outcome is unknown, and the error says so.
 */
async function read(
  get: () => Promise<Verification>,
  { until, signal }: { until: number; signal: AbortSignal | undefined },
): Promise<Verification> {
  for (let pollMs = POLL_MS; ; pollMs = slower(pollMs)) {
    try {
      return await get()
    } catch (error) {
      const delayMs = Math.max(awayMsOf(error), jittered(pollMs))
      if (performance.now() + delayMs >= until) throw error
      await pause(delayMs, signal)
    }
  }
}

async function poll({ send }: Transport, id: string, options: CallOptions): Promise<'final' | { notBeforeMs: number }> {
  try {
    const path = idPath('/v1/verifications', id, '/status')
    const { status } = await send<VerificationStatus>({ ...options, path, field: 'status', isRepeatable: true })
    return status === 'pending' ? { notBeforeMs: 0 } : 'final'
  } catch (error) {
    return { notBeforeMs: awayMsOf(error) }
  }
}

/** Waits before the next try, at least as long as the service asked for. Throws errors that do not pass. */
function awayMsOf(error: unknown): number {
  if (!(error instanceof VidimusError)) throw error
  const { code, status = 0, retryAfterMs = 0 } = error
  if (code === 'no_answer' || status === 429 || status >= 500) return retryAfterMs
  throw error
}

/**
 * Reads the stream until the session has ended, or the stream breaks or falls silent; true if it
 * sent anything. The caller reads the outcome afterwards.
 */
async function followEvents(
  { open }: Transport,
  id: string,
  { signal, timeoutMs = 0 }: CallOptions,
): Promise<'something' | 'nothing'> {
  signal?.throwIfAborted()
  const controller = new AbortController()
  const abort = () => controller.abort()
  const deadline = setTimeout(abort, timeoutMs)
  let silence = setTimeout(abort, FIRST_EVENT_MS)
  signal?.addEventListener('abort', abort, { once: true })
  let seen: 'something' | 'nothing' = 'nothing'
  try {
    const response = await open(idPath('/v1/verifications', id, '/events'), controller.signal)
    const isStream = response.ok && response.headers.get('content-type')?.startsWith('text/event-stream')
    if (!isStream || !response.body) return seen
    for await (const data of eventsOf(response.body)) {
      clearTimeout(silence)
      silence = setTimeout(abort, SILENCE_MS)
      if (data === undefined) continue
      seen = 'something'
      if ((JSON.parse(data) as VerificationStatus).status !== 'pending') return seen
    }
  } catch {
    // The stream broke, fell silent or was malformed. The next poll throws if there is a real problem.
  } finally {
    clearTimeout(deadline)
    clearTimeout(silence)
    signal?.removeEventListener('abort', abort)
    controller.abort()
  }
  signal?.throwIfAborted()
  return seen
}

/** The data of each event; undefined for a sign of life. */
async function* eventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string | undefined> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
    text += decoder.decode(chunk.value, { stream: true })
    const blocks = text.split('\n\n')
    text = blocks.pop() ?? ''
    if (text.length > EVENT_CHARS_MAX) return
    for (const block of blocks) yield /^data: (.*)$/m.exec(block)?.[1]
  }
}
