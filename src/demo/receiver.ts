import type { Clock } from '../base/time.ts'
import { verifyWebhook, WebhookError } from '../sdk/webhook.ts'

const BODY_BYTES_MAX = 2 * 1024 * 1024
const KEPT_MAX = 50
const SHOWN_HEADERS = ['x-service-signature', 'webhook-id', 'content-type', 'user-agent']

/** A verified message, as received. */
export type Received = { at: number; headers: Record<string, string>; body: string }

export type Receiver = {
  url: string
  port: number
  /** Every message is refused before this call. */
  trust(secret: string): void
  /** The webhook of a verification, once received. */
  find(verificationId: string): Received | undefined
  stop(): Promise<void>
}

/** A minimal merchant's server: it trusts only what `verifyWebhook` returns. */
export function startReceiver(now: Clock): Receiver {
  const received = new Map<string, Received>()
  let secret = ''

  async function receive(request: Request): Promise<Response> {
    const body = await request.text()
    try {
      const { verification } = await verifyWebhook({ payload: body, header: request.headers.get('x-service-signature'), secret })
      received.set(verification.id, { at: now(), headers: shownHeaders(request), body })
      const [oldest] = received.keys()
      if (received.size > KEPT_MAX && oldest !== undefined) received.delete(oldest)
      return new Response(null, { status: 204 })
    } catch (error) {
      return new Response(error instanceof WebhookError ? error.code : null, { status: 400 })
    }
  }

  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, maxRequestBodySize: BODY_BYTES_MAX, fetch: receive })
  const port = server.port ?? 0
  return {
    url: `http://127.0.0.1:${port}/webhook`,
    port,
    trust(known) {
      secret = known
    },
    find: id => received.get(id),
    stop: () => server.stop(true),
  }
}

const shownHeaders = ({ headers }: Request): Record<string, string> =>
  Object.fromEntries(SHOWN_HEADERS.map(name => [name, headers.get(name) ?? '']))
