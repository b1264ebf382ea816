import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import type { AllowedDestination } from '../../src/egress/addresses.ts'
import { decline } from '../../src/sandbox/wallet/wallet.ts'
import { verifyWebhook } from '../../src/sdk/webhook.ts'
import { endFirst, startApp, type TestApp, temporaryDir, until } from './app.ts'
import { rowsOf } from './database.ts'
import { openSession, type Party, postTo } from './exchange.ts'

export type Received = { at: number; path: string; headers: Record<string, string>; body: string }

export type Receiver = {
  port: number
  /** Under a name that the test's resolver leads here. */
  url: (path?: string, host?: string) => string
  /** Entry for VIDIMUS_EGRESS_ALLOW that permits this receiver. */
  allow: AllowedDestination
  received: Received[]
  /** How it answers from now on. */
  answer: (reply: Reply) => void
  stop: () => void
}

type Reply = (received: Received) => Response | Promise<Response>

const receivers = new Set<{ stop: () => void }>()

/** Part of `cleanUp`. */
export function stopReceiving(): void {
  for (const receiver of receivers) receiver.stop()
}
endFirst(stopReceiving)

/** A merchant's server on loopback. */
export function receive(reply: Reply = () => new Response(null, { status: 204 })): Receiver {
  const received: Received[] = []
  let answer = reply
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 60,
    async fetch(request) {
      const one = {
        at: performance.now(),
        path: new URL(request.url).pathname,
        headers: Object.fromEntries(request.headers),
        body: await request.text(),
      }
      received.push(one)
      return await answer(one)
    },
  })
  const port = server.port ?? 0
  const receiver: Receiver = {
    port,
    url: (path = '/hook', host = 'shop.example') => `http://${host}:${port}${path}`,
    allow: { address: '127.0.0.1', prefix: 32, port },
    received,
    answer: next => {
      answer = next
    },
    stop: () => {
      receivers.delete(receiver)
      void server.stop(true)
    },
  }
  receivers.add(receiver)
  return receiver
}

/** A server with a certificate that nobody vouches for. */
export function receiveWithTls(): Pick<Receiver, 'url' | 'allow' | 'stop'> {
  const dir = temporaryDir()
  const [key, cert] = [join(dir, 'key.pem'), join(dir, 'cert.pem')]
  const made = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-subj', '/CN=shop.example']
  execFileSync('openssl', [...made, '-keyout', key, '-out', cert], { stdio: 'ignore' })
  const tls = { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') }
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', tls, fetch: () => new Response('received') })
  const port = server.port ?? 0
  const receiver = {
    url: (path = '/hook', host = 'shop.example') => `https://${host}:${port}${path}`,
    allow: { address: '127.0.0.1', prefix: 32, port },
    stop: () => {
      receivers.delete(receiver)
      void server.stop(true)
    },
  }
  receivers.add(receiver)
  return receiver
}

/** One connection to a raw receiver: what came so far, and when it was over. */
export type Line = { socket: Socket; host: string; request: string; openedAt: number; closedAt?: number }

export type RawReceiver = Pick<Receiver, 'port' | 'url' | 'allow' | 'stop'> & {
  lines: Line[]
  /** Those that have asked and wait for an answer. */
  open: () => Line[]
  /** The most connections that were ever open at once: in all, or under a name. */
  mostOpen: (host?: string) => number
}

/** A server that speaks no HTTP but what the test writes, once the whole of a request's head has come. */
export async function receiveRaw(reply: (line: Line) => void = () => {}): Promise<RawReceiver> {
  const lines: Line[] = []
  const most = new Map<string, number>()
  const connected = () => lines.filter(({ closedAt, socket }) => closedAt === undefined && !socket.writableEnded)
  const open = () => connected().filter(({ host }) => host !== '')
  const note = (host: string, count: number) => most.set(host, Math.max(most.get(host) ?? 0, count))
  const server = createServer(socket => {
    const line: Line = { socket, host: '', request: '', openedAt: performance.now() }
    lines.push(line)
    note('', connected().length)
    socket.on('data', chunk => {
      line.request += chunk.toString('latin1')
      if (line.host !== '' || !line.request.includes('\r\n\r\n')) return
      line.host = /^host: ([^:\r]*)/im.exec(line.request)?.[1] ?? '?'
      note(line.host, open().filter(({ host }) => host === line.host).length)
      reply(line)
    })
    socket.on('error', () => {})
    socket.on('close', () => {
      line.closedAt = performance.now()
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  const receiver: RawReceiver = {
    port,
    url: (path = '/hook', host = 'shop.example') => `http://${host}:${port}${path}`,
    allow: { address: '127.0.0.1', prefix: 32, port },
    lines,
    open,
    mostOpen: (host = '') => most.get(host) ?? 0,
    stop: () => {
      receivers.delete(receiver)
      for (const { socket } of lines) socket.destroy()
      server.close()
    },
  }
  receivers.add(receiver)
  return receiver
}

/** A session that its wallet declined: the quickest result there is, and it owes a message. Gives its id. */
export async function declined(party: Party, webhookUrl: string, body: object = {}): Promise<string> {
  const session = await openSession(party, { webhook_url: webhookUrl, ...body })
  const { status, text } = await postTo(session, (await decline(session.request)).form)
  if (status !== 200) throw new Error(`not declined: ${status} ${text}`)
  return session.created.id
}

type AppOptions = NonNullable<Parameters<typeof startApp>[0]>

/** A service whose webhooks reach these receivers, under any name. */
export async function startAppFor(receivers: { allow: AllowedDestination }[], options: AppOptions = {}): Promise<TestApp> {
  return await startApp({
    resolve: async () => ['127.0.0.1'],
    ...options,
    config: { egressAllow: receivers.map(({ allow }) => allow), ...options.config },
  })
}

/** The service for these receivers, and a tenant of its own. */
export async function startTenantFor(...given: Parameters<typeof startAppFor>) {
  const app = await startAppFor(...given)
  return { app, ...(await app.tenant()) }
}

export type LoggedDelivery = {
  id: string
  status: string
  attempts: number
  due_at: number
  lease_until: number | null
  verification_id: string
}
type LoggedAttempt = { attempt: number; outcome: string; http_status: number | null; at: number; delivery_id: string }

/** As the database has it. */
export const logOf = (app: TestApp, verificationId: string) => {
  const deliveries = rowsOf<LoggedDelivery>(app, 'SELECT * FROM webhook_deliveries WHERE verification_id = ?', verificationId)
  const [delivery] = deliveries
  return {
    delivery,
    deliveries,
    attempts: rowsOf<LoggedAttempt>(app, 'SELECT * FROM webhook_attempts WHERE delivery_id = ? ORDER BY id', delivery?.id ?? ''),
  }
}

/** Each attempt at a verification's delivery: its number and outcome. */
export const outcomesOf = (app: TestApp, verificationId: string) =>
  logOf(app, verificationId).attempts.map(({ attempt, outcome }) => [attempt, outcome])

/** Answers 200 on a raw connection. */
export const answer200 = ({ socket }: Line) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')

/** Waits until a verification's delivery has as many ended attempts, and no other under way. */
export async function untilAttempted(app: TestApp, verificationId: string, attempts: number): Promise<void> {
  await until(async () => {
    const { delivery } = logOf(app, verificationId)
    return delivery?.attempts === attempts && delivery.lease_until === null
  })
}

/** Throws when the reference verifier refuses it. */
export const verified = async ({ body, headers }: Received, secret: string, now: number) =>
  await verifyWebhook({ payload: body, header: headers['x-service-signature'], secret, now: Math.floor(now / 1000) })
