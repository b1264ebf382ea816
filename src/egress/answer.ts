// Reads an HTTP/1.1 answer (RFC 9112) strictly: it is refused if a line, or the end of its body, can be read in two ways.
// Trailers are skipped, and nothing is unpacked. Our own reader, because node:http accepts more and costs twice the processor
// time; test/egress/answer.test.ts compares the two.

export type Answer = { status: number; headers: Record<string, string>; body: Uint8Array; isCut: boolean }

type AnswerReader = {
  /** The answer, once it is whole or its body is longer than the limit; throws `BadAnswer`. */
  read(bytes: Buffer): Answer | undefined
  /** Called when the connection ends. Throws `BadAnswer` unless that ends the answer (RFC 9112 § 6.3, 8). */
  end(): Answer
  /** The status of the final answer, not of an interim one (1xx); undefined until its headers are complete. */
  status(): number | undefined
}

export class BadAnswer extends Error {
  override name = 'BadAnswer'
  constructor(readonly failure: 'connection_failed' | 'too_large' = 'connection_failed') {
    super()
  }
}

/** Limit for the status line with its headers, for the trailers, and for the line with a chunk's size. */
const LINES_BYTES_MAX = 16 * 1024
const HEADERS_MAX = 256
/** Bytes outside the body may exceed those of the body by this much: chunks of one byte are mostly framing. */
const FRAMING_BYTES_MAX = 128 * 1024
/** Interim answers (1xx) and empty lines before the final answer. */
const INTERIM_ANSWERS_MAX = 16
/** Headers with one value: the first one counts. Other repeated headers are joined with a comma. */
const SINGLE = new Set(['content-type', 'etag', 'last-modified', 'location', 'retry-after'])

const EMPTY = Buffer.alloc(0)
const [CR, LF] = [0x0d, 0x0a]
const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?$/
/**
 * The name is a token right before the colon, so folded lines are refused. Blanks around the value are not matched here: on a
 * line of blanks the expression would try every way to divide them.
 */
export const HEADER_LINE = /^([\w!#$%&'*+.^`|~-]+):([\t\x20-\x7e\x80-\xff]*)$/
const CHUNK_LINE = /^([\da-f]{1,13})(?:;[\t\x20-\x7e\x80-\xff]*)?$/i

export function createAnswerReader(bodyBytesMax: number): AnswerReader {
  /** Reads the next part; false when it needs more bytes, or the answer is complete. */
  let step: () => boolean = statusLine
  let unread: Buffer = EMPTY
  let receivedBytes = 0
  let linesBytes = 0
  let interimAnswers = 0
  let isOld = false
  let status = 0
  let headers = new Map<string, string>()
  let body = EMPTY
  let bodyBytes = 0
  /** Bytes of the body, or of the current chunk, that have not arrived yet; infinite for a body without a length. */
  let missingBytes = 0
  let isWhole = false

  function line(): string | undefined {
    const end = unread.indexOf(LF)
    linesBytes += end + 1
    if (linesBytes + (end < 0 ? unread.length : 0) > LINES_BYTES_MAX) throw new BadAnswer()
    if (end < 0) return undefined
    if (unread[end - 1] !== CR) throw new BadAnswer()
    const text = unread.toString('latin1', 0, end - 1)
    unread = unread.subarray(end + 1)
    return text
  }

  function statusLine(): boolean {
    const text = line()
    if (text === undefined) return false
    const [, minor, digits] = STATUS_LINE.exec(text) ?? []
    // Some servers send an empty line first.
    if (text === '') return interim()
    if (digits === undefined) throw new BadAnswer()
    isOld = minor === '0'
    status = Number(digits)
    headers = new Map()
    step = headerLine
    return true
  }

  function interim(): true {
    interimAnswers += 1
    if (interimAnswers > INTERIM_ANSWERS_MAX) throw new BadAnswer('too_large')
    linesBytes = 0
    step = statusLine
    return true
  }

  function headerLine(): boolean {
    const text = line()
    if (text === undefined) return false
    if (text === '') return afterHead()
    const [, name = '', value = ''] = HEADER_LINE.exec(text) ?? []
    const key = name.toLowerCase()
    const earlier = headers.get(key)
    if (name === '' || headers.size === HEADERS_MAX) throw new BadAnswer()
    if (earlier !== undefined && SINGLE.has(key)) return true
    headers.set(key, earlier === undefined ? withoutBlanks(value) : `${earlier}, ${withoutBlanks(value)}`)
    return true
  }

  /** RFC 9112 § 6.3. */
  function afterHead(): boolean {
    if (status === 101) throw new BadAnswer()
    if (status < 200) return interim()
    linesBytes = 0
    const [length, coding] = [headers.get('content-length'), headers.get('transfer-encoding')]
    // Repeated lengths were joined with a comma, so they are refused too, even equal ones.
    if (length !== undefined && !/^\d{1,15}$/.test(length)) throw new BadAnswer()
    if (coding !== undefined && (length !== undefined || isOld || coding.toLowerCase() !== 'chunked')) throw new BadAnswer()
    missingBytes = length === undefined ? Number.POSITIVE_INFINITY : Number(length)
    if (status === 204 || status === 304) step = whole
    else step = coding === undefined ? lengthBody : chunkLine
    return true
  }

  function lengthBody(): boolean {
    return missingBytes === 0 ? whole() : take()
  }

  function chunkLine(): boolean {
    const text = line()
    if (text === undefined) return false
    const [, digits] = CHUNK_LINE.exec(text) ?? []
    if (digits === undefined) throw new BadAnswer()
    linesBytes = 0
    missingBytes = Number.parseInt(digits, 16)
    step = missingBytes === 0 ? trailerLine : chunk
    return true
  }

  function chunk(): boolean {
    if (missingBytes > 0) return take()
    const text = line()
    if (text === undefined) return false
    if (text !== '') throw new BadAnswer()
    linesBytes = 0
    step = chunkLine
    return true
  }

  function trailerLine(): boolean {
    const text = line()
    if (text === undefined) return false
    if (text === '') return whole()
    if (!HEADER_LINE.test(text)) throw new BadAnswer()
    return true
  }

  function take(): boolean {
    if (unread.length === 0) return false
    const taken = unread.subarray(0, missingBytes)
    unread = unread.subarray(taken.length)
    missingBytes -= taken.length
    const needed = bodyBytes + taken.length
    // Copied into one buffer that doubles, because pieces may be of one byte each.
    if (needed > body.length) body = Buffer.concat([body], Math.max(needed, 2 * body.length))
    body.set(taken, bodyBytes)
    bodyBytes = needed
    return bodyBytes <= bodyBytesMax || whole()
  }

  /** Further bytes on the connection are ignored. */
  function whole(): false {
    isWhole = true
    return false
  }

  const answer = (): Answer => ({
    status,
    headers: Object.fromEntries(headers),
    body: new Uint8Array(body.subarray(0, Math.min(bodyBytes, bodyBytesMax))),
    isCut: bodyBytes > bodyBytesMax,
  })

  return {
    read(bytes) {
      receivedBytes += bytes.length
      unread = unread.length === 0 ? bytes : Buffer.concat([unread, bytes])
      while (step()) {}
      if (isWhole) return answer()
      if (receivedBytes - bodyBytes > FRAMING_BYTES_MAX + bodyBytes) throw new BadAnswer('too_large')
      return undefined
    },
    end() {
      if (step !== lengthBody || missingBytes !== Number.POSITIVE_INFINITY) throw new BadAnswer()
      return answer()
    },
    status: () => (status >= 200 && step !== headerLine ? status : undefined),
  }
}

/** Removes spaces and tabs only; String.trim() removes more. */
function withoutBlanks(text: string): string {
  let [from, to] = [0, text.length]
  while (from < to && isBlank(text.charCodeAt(from))) from++
  while (from < to && isBlank(text.charCodeAt(to - 1))) to--
  return text.slice(from, to)
}

const isBlank = (code: number): boolean => code === 0x20 || code === 0x09
