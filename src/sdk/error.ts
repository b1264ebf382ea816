import type { ErrorCode } from './wire.ts'

/**
 * Codes of the client itself:
 * - `no_answer`: the service did not respond in time
 * - `unexpected_answer`: the response is not from this service: the page of a proxy, a redirect, too many bytes
 * - `still_pending`: the timeout of `wait` passed before the verification ended
 * - `not_paired`: this till has no tokens; enroll it
 */
export type ClientErrorCode = 'no_answer' | 'unexpected_answer' | 'still_pending' | 'not_paired'

type Details = {
  message: string
  status?: number
  requestId?: string
  retryAfterMs?: number
  maybeDone?: boolean
  cause?: unknown
}

/** A failed call. Decide by `code`, which is stable; `message` is for people. Neither contains a key or a token. */
export class VidimusError extends Error {
  /** A newer service may return codes that are not in this list. */
  readonly code: ErrorCode | ClientErrorCode
  /** The HTTP status, if there was a response. */
  readonly status: number | undefined
  /** Identifies the request in the log of the service. */
  readonly requestId: string | undefined
  readonly retryAfterMs: number | undefined
  /** An attempt got no response, or a 5xx: the service may have done the work all the same. */
  readonly maybeDone: boolean
  constructor(code: VidimusError['code'], { message, status, requestId, retryAfterMs, maybeDone = false, cause }: Details) {
    super(message, { cause })
    this.name = 'VidimusError'
    this.code = code
    this.status = status
    this.requestId = requestId
    this.retryAfterMs = retryAfterMs
    this.maybeDone = maybeDone
  }
}
