// A network that loses answers after the work was done, cuts them off, or answers in the place of the service.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

type Fault =
  | 'pass'
  /** The service handles the request, and its answer is lost. */
  | 'lose'
  /** As above, but half of the answer arrives. */
  | 'cut'
  /** The request does not reach the service. */
  | 'refuse'
  /** No answer ever arrives. */
  | 'hang'
  /** The proxy answers instead of the service. */
  | { status: number; headers?: Record<string, string>; body?: string }

type Seen = { method: string; path: string; headers: IncomingMessage['headers'] }

export type FaultyProxy = {
  url: string
  seen: Seen[]
  /** Faults of the next requests, in order; later requests pass. */
  next(...faults: Fault[]): void
  /** Fault of every request to such a path from now on. */
  always(path: RegExp, fault: Fault): void
}

const open = new Set<() => void>()

/** For the afterAll of every file that uses one. */
export function stopProxies(): void {
  for (const stop of open) stop()
  open.clear()
}

export async function startFaultyProxy(target: string): Promise<FaultyProxy> {
  const seen: Seen[] = []
  const coming: Fault[] = []
  const lasting: [RegExp, Fault][] = []
  const server = createServer(async (request, response) => {
    const { method = '', url: path = '', headers } = request
    const fault = lasting.find(([pattern]) => pattern.test(path))?.[1] ?? coming.shift() ?? 'pass'
    seen.push({ method, path, headers })
    if (fault === 'hang') return
    if (fault === 'refuse') return void request.socket.destroy()
    if (typeof fault === 'object') return void response.writeHead(fault.status, fault.headers).end(fault.body)
    await forward(target, request, response, fault).catch(() => request.socket.destroy())
  })
  // The runtime's timer for idle connections throws when a connection is gone before it.
  server.keepAliveTimeout = 0
  server.timeout = 0
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  open.add(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    next: (...faults) => void coming.push(...faults),
    always: (path, fault) => void lasting.push([path, fault]),
  }
}

async function forward(target: string, request: IncomingMessage, response: ServerResponse, fault: Fault): Promise<void> {
  const chunks: Uint8Array[] = []
  for await (const chunk of request) chunks.push(chunk)
  const { host, connection, ...headers } = request.headers
  const left = new AbortController()
  response.on('close', () => left.abort())
  const answer = await fetch(`${target}${request.url}`, {
    method: request.method,
    headers: headers as Record<string, string>,
    body: chunks.length ? Buffer.concat(chunks) : undefined,
    redirect: 'manual',
    signal: left.signal,
  })
  if (fault === 'lose') {
    await answer.arrayBuffer()
    return void request.socket.destroy()
  }
  response.writeHead(answer.status, Object.fromEntries(answer.headers))
  if (fault === 'cut') {
    const bytes = new Uint8Array(await answer.arrayBuffer())
    response.write(bytes.subarray(0, bytes.length / 2), () => request.socket.destroy())
    return
  }
  for await (const chunk of answer.body ?? []) response.write(chunk)
  response.end()
}
