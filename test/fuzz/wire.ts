// HTTP/1.1 as bytes: what a client library would refuse to send, or would put right, is sent as it stands.
import type { Socket } from 'bun'

const ANSWER_MS_MAX = 30_000

export type WireAnswer = { status: number; headers: Headers; text: string }

/** `closed`: the other side hung up without an answer. */
export type Outcome = WireAnswer | 'closed'

export type WireRequest = {
  method: string
  target: string
  headers: readonly (readonly [string, string])[]
  body?: Uint8Array | undefined
}

export type Wire = { send(request: WireRequest): Promise<Outcome>; close(): void }

type Head = { status: number; headers: Headers }

/** What has come of an answer so far; `parts` are of its body as soon as there is a head. */
type Exchange = { isHead: boolean; head?: Head; parts: Buffer[]; bytes: number; settle: (outcome: Outcome) => void }

type Endpoint = { hostname: string; port: number }

/** As many connections as there are requests at a time. */
export function openWires(endpoint: Endpoint): Wire {
  const all: Wire[] = []
  const idle: Wire[] = []
  const another = () => {
    const wire = openWire(endpoint)
    all.push(wire)
    return wire
  }
  return {
    async send(request) {
      const wire = idle.pop() ?? another()
      try {
        return await wire.send(request)
      } finally {
        idle.push(wire)
      }
    },
    close() {
      for (const wire of all) wire.close()
    },
  }
}

/** One connection, one request at a time; opened again when it was closed. */
function openWire({ hostname, port }: Endpoint): Wire {
  let socket: Socket | undefined
  let current: Exchange | undefined

  const settle = (outcome: Outcome) => {
    const exchange = current
    current = undefined
    exchange?.settle(outcome)
  }

  const drop = () => {
    const open = socket
    socket = undefined
    open?.end()
  }

  const connect = () =>
    Bun.connect({
      hostname,
      port,
      socket: {
        data(_, chunk) {
          if (!current) return drop()
          const answer = readOn(current, chunk)
          if (!answer) return
          if (answer.isOpenEnded) drop()
          settle(answer)
        },
        close(closed) {
          if (closed !== socket && socket !== undefined) return
          socket = undefined
          if (current) settle(readUntilEnd(current) ?? 'closed')
        },
        error() {},
      },
    })

  return {
    async send(request) {
      socket ??= await connect()
      const answered = Promise.withResolvers<Outcome>()
      current = { isHead: request.method === 'HEAD', parts: [], bytes: 0, settle: answered.resolve }
      const timer = setTimeout(() => answered.reject(new Error('no answer')), ANSWER_MS_MAX)
      try {
        await writeAll(socket, bytesOf(request), () => current === undefined)
        const outcome = await answered.promise
        if (outcome === 'closed' || outcome.headers.get('connection') === 'close') drop()
        return outcome
      } finally {
        clearTimeout(timer)
      }
    },
    close: drop,
  }
}

function bytesOf({ method, target, headers, body }: WireRequest): Buffer {
  const lines = [`${method} ${target} HTTP/1.1`, ...headers.map(([name, value]) => `${name}: ${value}`)]
  const isChunked = headers.some(([name]) => name.toLowerCase() === 'transfer-encoding')
  if (body && !isChunked) lines.push(`content-length: ${body.length}`)
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')
  if (!body) return head
  const end = isChunked ? [Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from('\r\n0\r\n\r\n')] : [body]
  return Buffer.concat([head, ...(isChunked && body.length === 0 ? [Buffer.from('0\r\n\r\n')] : end)])
}

/** A large body does not fit into the socket at once, and the answer may come before its end. */
async function writeAll(socket: Socket, bytes: Buffer, isAnswered: () => boolean): Promise<void> {
  let at = socket.write(bytes)
  while (at >= 0 && at < bytes.length && !isAnswered()) {
    await new Promise<void>(resolve => setImmediate(resolve))
    const written = socket.write(bytes.subarray(at))
    if (written < 0) return
    at += written
  }
}

type Read = WireAnswer & { isOpenEnded?: true }

function readOn(exchange: Exchange, chunk: Buffer): Read | undefined {
  exchange.parts.push(chunk)
  exchange.bytes += chunk.length
  if (!exchange.head && !readHeadOf(exchange)) return undefined
  return readAnswer(exchange, exchange.head!)
}

/** The rest of what has come stays. */
function readHeadOf(exchange: Exchange): Head | undefined {
  const received = joined(exchange)
  const end = received.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const rest = received.subarray(end + 4)
  exchange.parts = [rest]
  exchange.bytes = rest.length
  exchange.head = readHead(received.subarray(0, end).toString('latin1'))
  return exchange.head
}

const joined = (exchange: Exchange): Buffer => {
  if (exchange.parts.length > 1) exchange.parts = [Buffer.concat(exchange.parts)]
  return exchange.parts[0] ?? Buffer.alloc(0)
}

function readAnswer(exchange: Exchange, { status, headers }: Head): Read | undefined {
  if (exchange.isHead || status === 204 || status === 304) return { status, headers, text: '' }
  const length = headers.get('content-length')
  if (length !== null) return exchange.bytes < Number(length) ? undefined : whole({ status, headers }, exchange)
  if (headers.get('transfer-encoding') !== 'chunked') return undefined
  const chunks = readChunks(joined(exchange))
  // A stream of events has no end; its first event is its answer.
  const isEvents = headers.get('content-type')?.startsWith('text/event-stream') && chunks.text.includes('\n\n')
  if (!chunks.isWhole && !isEvents) return undefined
  return { status, headers, text: chunks.text, ...(!chunks.isWhole && { isOpenEnded: true as const }) }
}

/** A body of a megabyte is read as text only by those who look at it. */
const whole = (head: Head, exchange: Exchange): WireAnswer => ({
  ...head,
  get text() {
    return joined(exchange).toString('utf8')
  },
})

function readHead(head: string): Head {
  const [first = '', ...lines] = head.split('\r\n')
  const headers = new Headers()
  for (const line of lines) headers.append(line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim())
  return { status: Number(first.split(' ')[1]), headers }
}

function readChunks(bytes: Buffer): { text: string; isWhole: boolean } {
  const parts: Buffer[] = []
  for (let at = 0; ; ) {
    const line = bytes.indexOf('\r\n', at)
    const size = line < 0 ? Number.NaN : Number.parseInt(bytes.subarray(at, line).toString('latin1'), 16)
    if (Number.isNaN(size) || line + 2 + size + 2 > bytes.length)
      return { text: Buffer.concat(parts).toString('utf8'), isWhole: false }
    if (size === 0) return { text: Buffer.concat(parts).toString('utf8'), isWhole: true }
    parts.push(bytes.subarray(line + 2, line + 2 + size))
    at = line + 2 + size + 2
  }
}

/** The connection ended: then so does an answer that gave no length. */
const readUntilEnd = (exchange: Exchange): WireAnswer | undefined => exchange.head && whole(exchange.head, exchange)
