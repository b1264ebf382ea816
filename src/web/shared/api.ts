import type { RefusalReason } from '../../words/signing.ts'
import { serviceUrl } from './base.ts'

const TIMEOUT_MS = 15_000

/** An error response of the service: its code, and its message for people. */
export class ApiFailure extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly retryAfterSeconds: number | undefined,
    /** The name of the budget that is empty. */
    readonly budget?: string,
    /** The message, for pages in another language. */
    readonly reason?: RefusalReason,
  ) {
    super(message)
  }
}

/** No response, or one that is not from this service. */
export class Unreachable extends Error {}

type Call = {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  body?: unknown
  headers?: Record<string, string>
  signal?: AbortSignal
  timeoutMs?: number
}

/** Calls a route (no leading slash). Throws ApiFailure, Unreachable or the signal's reason. */
export async function callApi<Body>(
  path: string,
  { method = 'GET', body, headers, signal, timeoutMs = TIMEOUT_MS }: Call = {},
): Promise<Body> {
  const timeout = AbortSignal.timeout(timeoutMs)
  try {
    const response = await fetch(serviceUrl(path), {
      method,
      headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      cache: 'no-store',
    })
    const answer = parsed(await response.text())
    if (response.ok) return answer as Body
    throw failureOf(response, answer)
  } catch (error) {
    if (error instanceof ApiFailure) throw error
    signal?.throwIfAborted()
    throw new Unreachable('no answer', { cause: error })
  }
}

function parsed(text: string): unknown {
  if (text === '') return undefined
  try {
    return JSON.parse(text)
  } catch {
    // An error page of a proxy.
    return undefined
  }
}

function failureOf({ status, headers }: Response, answer: unknown): Error {
  const error = (answer as { error?: { code: string; message: string; reason?: RefusalReason } } | undefined)?.error
  if (!error) return new Unreachable(`answered ${status}`)
  const retryAfter = Number(headers.get('retry-after'))
  const budget = /^"([\w-]+)"/.exec(headers.get('ratelimit') ?? '')?.[1]
  return new ApiFailure(status, error.code, error.message, retryAfter > 0 ? retryAfter : undefined, budget, error.reason)
}
