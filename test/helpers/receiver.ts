import type { AllowedDestination } from '../../src/addresses.ts'
import { verifyWebhook } from '../../src/sdk/webhook.ts'
import { startApp, type TestApp, until } from './app.ts'

export type Received = { at: number; path: string; headers: Record<string, string>; body: string }

export type Receiver = {
  port: number
  /** Under a name that the test's resolver leads here. */
  url: (path?: string, host?: string) => string
  /** What an operator writes to let webhooks come here. */
  allow: AllowedDestination
  received: Received[]
  /** How it answers from now on. */
  answer: (reply: Reply) => void
  stop: () => void
}

type Reply = (received: Received) => Response | Promise<Response>

const receivers = new Set<Receiver>()

/** For the afterAll of every file that receives. */
export function stopReceiving(): void {
  for (const receiver of receivers) receiver.stop()
}

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

type AppOptions = NonNullable<Parameters<typeof startApp>[0]>

/** A service whose webhooks reach these receivers, under any name. */
export async function startAppFor(receivers: { allow: AllowedDestination }[], options: AppOptions = {}): Promise<TestApp> {
  return await startApp({
    resolve: async () => ['127.0.0.1'],
    ...options,
    config: { egressAllow: receivers.map(({ allow }) => allow), ...options.config },
  })
}

export type LoggedDelivery = {
  id: string
  status: string
  attempts: number
  due_at: number
  lease_until: number | null
  verification_id: string
}
export type LoggedAttempt = { attempt: number; outcome: string; http_status: number | null; at: number; delivery_id: string }

/** As the database has it. */
export const logOf = (app: TestApp, verificationId: string) => {
  const deliveries = rows<LoggedDelivery>(app, 'SELECT * FROM webhook_deliveries WHERE verification_id = ?', verificationId)
  const [delivery] = deliveries
  return {
    delivery,
    deliveries,
    attempts: rows<LoggedAttempt>(app, 'SELECT * FROM webhook_attempts WHERE delivery_id = ? ORDER BY id', delivery?.id ?? ''),
  }
}

function rows<Row>(app: TestApp, sql: string, ...values: string[]): Row[] {
  const { $client } = app.deps.db as unknown as { $client: import('bun:sqlite').Database }
  return $client.query<Row, string[]>(sql).all(...values)
}

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
