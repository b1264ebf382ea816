// The load generator: raw sockets and ready-made bytes, because it shares the machine with what it measures. One request at a
// time on each connection; an answer is read as far as its status line and its length.

const CONNECT_TIMEOUT_MS = 5000
const ANSWER_TIMEOUT_MS = 30_000

export type Endpoint = { hostname: string; port: number }

/** The bytes of the next request on one connection. They may lie in the same buffer each time: only one request is under way. */
export type Source = () => Uint8Array

type Load = { endpoint: Endpoint; sources: Source[]; seconds: number }

export type Measured = {
  requestsPerSecond: number
  p50Ms: number
  p99Ms: number
  /** Answers by status, those after the end of the measured time included. */
  statuses: Map<number, number>
  answered: number
  /** Sent, and never answered. */
  unanswered: number
}

type Connection = {
  source: Source
  sentAt: number
  inFlight: boolean
  received: Buffer | undefined
  unsent: Uint8Array | undefined
}

type Socket = Bun.Socket<Connection>

/** Sends on all connections for so many seconds, then waits for what is still under way. */
export async function runLoad({ endpoint, sources, seconds }: Load): Promise<Measured> {
  const latenciesMs: number[] = []
  const statuses = new Map<number, number>()
  const open = new Set<Socket>()
  const drained = Promise.withResolvers<void>()
  let endsAt = Number.POSITIVE_INFINITY
  let answered = 0

  const finish = (socket: Socket) => {
    open.delete(socket)
    if (open.size === 0) drained.resolve()
  }

  const handler: Bun.SocketHandler<Connection> = {
    data(socket, chunk) {
      const connection = socket.data
      const bytes = connection.received ? Buffer.concat([connection.received, chunk]) : chunk
      const status = statusOfWhole(bytes)
      if (status === undefined) {
        connection.received = Buffer.from(bytes)
        return
      }
      const now = performance.now()
      connection.received = undefined
      connection.inFlight = false
      answered++
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      if (now > endsAt) {
        finish(socket)
        return void socket.end()
      }
      latenciesMs.push(now - connection.sentAt)
      send(socket, now)
    },
    drain(socket) {
      const { unsent } = socket.data
      if (unsent) socket.data.unsent = writeSome(socket, unsent)
    },
    close: finish,
    error: finish,
  }

  const sockets = await Promise.all(sources.map(source => connect(endpoint, handler, source)))
  for (const socket of sockets) open.add(socket)
  const startedAt = performance.now()
  endsAt = startedAt + seconds * 1000
  for (const socket of sockets) send(socket, performance.now())
  await Promise.race([drained.promise, timeout(seconds * 1000 + ANSWER_TIMEOUT_MS)])

  latenciesMs.sort((a, b) => a - b)
  return {
    requestsPerSecond: latenciesMs.length / seconds,
    p50Ms: percentile(latenciesMs, 0.5),
    p99Ms: percentile(latenciesMs, 0.99),
    statuses,
    answered,
    unanswered: sockets.filter(({ data }) => data.inFlight).length,
  }
}

async function connect(endpoint: Endpoint, socket: Bun.SocketHandler<Connection>, source: Source): Promise<Socket> {
  const data = { source, sentAt: 0, inFlight: false, received: undefined, unsent: undefined }
  const connected = await Promise.race([Bun.connect({ ...endpoint, socket, data }), timeout(CONNECT_TIMEOUT_MS)])
  if (!connected) throw new Error(`no connection to port ${endpoint.port}`)
  return connected
}

/** Keeps nobody waiting at the end. */
const timeout = (ms: number) => new Promise<void>(resolve => setTimeout(resolve, ms).unref())

function send(socket: Socket, now: number): void {
  const connection = socket.data
  connection.sentAt = now
  connection.inFlight = true
  connection.unsent = writeSome(socket, connection.source())
}

function writeSome(socket: Socket, bytes: Uint8Array): Uint8Array | undefined {
  const written = socket.write(bytes)
  return written >= 0 && written < bytes.length ? bytes.slice(written) : undefined
}

const HEAD_END = Buffer.from('\r\n\r\n')
const STATUS_AT = 'HTTP/1.1 '.length

/** The status of an answer that is here in full. */
function statusOfWhole(bytes: Buffer): number | undefined {
  const headEnd = bytes.indexOf(HEAD_END)
  if (headEnd < 0) return undefined
  const head = bytes.toString('latin1', 0, headEnd)
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1]
  if (length === undefined) throw new Error(`an answer without Content-Length: ${head.slice(0, 100)}`)
  if (bytes.length < headEnd + HEAD_END.length + Number(length)) return undefined
  return Number(head.slice(STATUS_AT, STATUS_AT + 3))
}

const percentile = (sorted: number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN

type HttpRequest = { method: string; path: string; headers?: Record<string, string>; body?: string }

export function requestBytes({ method, path, headers = {}, body = '' }: HttpRequest): Buffer {
  const lines = Object.entries({
    host: 'localhost',
    ...headers,
    ...(body && { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) }),
  }).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`)
}

export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}
