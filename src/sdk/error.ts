import type { ErrorCode } from './wire.ts'

/**
 * What the client says itself:
 * - `no_answer`: the service could not be reached, or not in time
 * - `unexpected_answer`: something answered, but not as this service does: a proxy's page, a redirect, too many bytes
 * - `still_pending`: the time of `wait` is over, and nobody has answered the session
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

/** A call that gave no result. Decide by `code`, which is stable; `message` is for people. Neither has a key or a token in it. */
export class VidimusError extends Error {
  /** The service's; a newer one may have codes that this list lacks. */
  readonly code: ErrorCode | ClientErrorCode
  /** Of HTTP, when there was an answer. */
  readonly status: number | undefined
  /** Tells the operator of the service which line of the log it is. */
  readonly requestId: string | undefined
  readonly retryAfterMs: number | undefined
  /** An attempt of this call got no answer, or a 5xx: the service may have done what was asked all the same. */
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
