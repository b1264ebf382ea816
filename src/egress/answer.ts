// Reads the answer to a request of node:http, whose parser refuses a line that can be read in two ways. What it lets pass, and
// would make the end of a body doubtful or the reading endless, is refused here. Nothing is unpacked, and trailers are skipped.
import type { ClientRequest, IncomingMessage } from 'node:http'

export type Answer = { status: number; headers: Record<string, string>; body: Uint8Array; isCut: boolean }

export class BadAnswer extends Error {
  override name = 'BadAnswer'
  constructor(readonly failure: 'connection_failed' | 'too_large' = 'connection_failed') {
    super()
  }
}

/** node:http limits the bytes of headers, but leaves out those above a number, and with them what they say of the body. */
const HEADERS_MAX = 256
/** Bytes outside the body may exceed those of the body by this much: chunks of one byte are mostly framing. */
const FRAMING_BYTES_MAX = 128 * 1024
/** Interim answers (1xx) before the final answer. */
const INTERIM_ANSWERS_MAX = 16

type Readers = {
  /** The answer, once it is whole or its body is longer than the limit. */
  onAnswer(answer: Answer): void
  onFailure(error: unknown): void
}

/** The returned function counts the bytes that the connection received. */
export function readAnswer(request: ClientRequest, bodyBytesMax: number, { onAnswer, onFailure }: Readers) {
  let receivedBytes = 0
  let interimAnswers = 0
  let body = Buffer.alloc(0)
  let bodyBytes = 0

  function take(bytes: Buffer): void {
    const needed = bodyBytes + bytes.length
    // Copied into one buffer that doubles, because pieces may be of one byte each.
    if (needed > body.length) body = Buffer.concat([body], Math.max(needed, 2 * body.length))
    body.set(bytes, bodyBytes)
    bodyBytes = needed
  }

  function finish({ statusCode = 0, headers }: IncomingMessage): void {
    onAnswer({
      status: statusCode,
      headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
      body: new Uint8Array(body.subarray(0, Math.min(bodyBytes, bodyBytesMax))),
      isCut: bodyBytes > bodyBytesMax,
    })
  }

  let final: IncomingMessage | undefined
  // Bytes behind a whole answer are no error.
  request.on('error', error => !final?.complete && onFailure(error))
  request.on('upgrade', () => onFailure(new BadAnswer()))
  request.on('information', () => {
    interimAnswers += 1
    if (interimAnswers > INTERIM_ANSWERS_MAX) onFailure(new BadAnswer('too_large'))
  })
  request.on('response', response => {
    final = response
    if (!isClear(response)) return onFailure(new BadAnswer())
    response.on('data', (bytes: Buffer) => {
      take(bytes)
      if (bodyBytes > bodyBytesMax) finish(response)
    })
    response.on('end', () => finish(response))
    response.on('error', onFailure)
  })
  return (bytes: number) => {
    receivedBytes += bytes
    if (!final?.complete && receivedBytes - bodyBytes > FRAMING_BYTES_MAX + bodyBytes) onFailure(new BadAnswer('too_large'))
  }
}

/** Whether the end of the body can be read in one way only (RFC 9112 § 6.3). */
function isClear({ httpVersion, statusCode = 0, headers, rawHeaders }: IncomingMessage): boolean {
  const coding = headers['transfer-encoding']
  if (statusCode < 200 || rawHeaders.length > 2 * HEADERS_MAX) return false
  if (coding !== undefined) return httpVersion === '1.1' && coding.toLowerCase() === 'chunked'
  return httpVersion === '1.1' || httpVersion === '1.0'
}
