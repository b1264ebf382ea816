// The server of a list's operator: https on loopback, under an authority of its own that the service is told of.
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { makeLocalTls } from '../../src/cli/tls/local-tls.ts'
import { endFirst, startApp, temporaryDir } from './app.ts'
import { NOW } from './certificates.ts'

const LIST_HOST = 'lists.operator.example'

type Reply = (request: Request) => Response | Promise<Response>

export type ListHost = Awaited<ReturnType<typeof hostLists>>

/** Answers every request with the bytes, or with what `answer` sets. */
export async function hostLists(bytes: Uint8Array = new Uint8Array()) {
  const random = (count: number) => new Uint8Array(randomBytes(count))
  const tls = await makeLocalTls({
    folder: temporaryDir(),
    hosts: [LIST_HOST, 'localhost'],
    hostsDefault: [],
    at: Date.now(),
    random,
  })
  const requests: { path: string; headers: Record<string, string> }[] = []
  const listOf =
    (body: Uint8Array): Reply =>
    () =>
      new Response(Buffer.from(body))
  let reply = listOf(bytes)
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    tls: { cert: readFileSync(tls.certFile, 'utf8'), key: readFileSync(tls.keyFile, 'utf8') },
    async fetch(request) {
      requests.push({ path: new URL(request.url).pathname, headers: Object.fromEntries(request.headers) })
      return await reply(request)
    },
  })
  const port = server.port ?? 0
  const stop = () => void server.stop(true)
  endFirst(stop)
  return {
    port,
    url: (path = '/list', name = LIST_HOST) => `https://${name}:${port}${path}`,
    /** For a command, which looks names up for itself. */
    env: { VIDIMUS_EGRESS_ALLOW: `127.0.0.1:${port},[::1]:${port}`, VIDIMUS_EXTRA_CA: tls.caFile },
    caFile: tls.caFile,
    allow: { address: '127.0.0.1', prefix: 32, port },
    requests,
    list: (next: Uint8Array) => {
      reply = listOf(next)
    },
    answer: (next: Reply) => {
      reply = next
    },
    stop,
  }
}

/** A service that reaches the host, at the time of the lists that tests make. */
export const startFor = (host: ListHost, options: Parameters<typeof startApp>[0] = {}) =>
  startApp({
    now: NOW,
    resolve: async () => ['127.0.0.1'],
    ...options,
    config: { egressAllow: [host.allow], extraCaFile: host.caFile, ...options.config },
  })
