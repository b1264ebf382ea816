import { DAY, type Delivery, type Environment, HOUR, MINUTE, type Model, type Receiver, SECOND, type Session } from './model.ts'

/** Before each attempt, counted from the end of the one before. */
export const DELAYS_MS = [0, 5 * SECOND, MINUTE, 10 * MINUTE, 2 * HOUR, 22 * HOUR]
const JITTER = 0.2
const FLAKY_ATTEMPTS = 2
const BUSY_RETRY_SECONDS = 90

export const dueNow = ({ sessions, now }: Model): Session[] =>
  sessions.filter(({ delivery }) => delivery?.status === 'pending' && delivery.dueAt <= now)

/** The receiver answers; nothing where nobody listens. */
export function replyOf(receiver: Receiver, attempt: number): { status: number; headers?: Record<string, string> } | undefined {
  switch (receiver) {
    case 'ok':
      return { status: 204 }
    case 'error':
      return { status: 500 }
    case 'gone':
      return { status: 410 }
    case 'redirect':
      return { status: 307, headers: { location: '/followed' } }
    case 'busy':
      return { status: attempt <= FLAKY_ATTEMPTS ? 503 : 200, headers: { 'retry-after': String(BUSY_RETRY_SECONDS) } }
    case 'flaky':
      return { status: attempt <= FLAKY_ATTEMPTS ? 500 : 200 }
    case 'dead':
      return undefined
  }
}

/** When the next attempt may be due: chance decides within these bounds. */
type Bounds = { least: number; most: number }

/** An attempt came to its end. */
export function attempted(model: Model, delivery: Delivery, receiver: Receiver): Bounds | undefined {
  const reply = replyOf(receiver, ++delivery.attempts)
  delivery.logged++
  if (reply && reply.status < 300) delivery.status = 'delivered'
  else if (reply?.status === 410 || delivery.attempts === DELAYS_MS.length) delivery.status = 'failed'
  if (delivery.status !== 'pending') return undefined
  const delay = DELAYS_MS[delivery.attempts]!
  if (receiver === 'busy') {
    const asked = Math.min(Math.max(BUSY_RETRY_SECONDS * SECOND, delay), 2 * delay)
    return { least: model.now + asked, most: model.now + asked }
  }
  return { least: model.now + Math.floor(delay * (1 - JITTER)), most: model.now + Math.ceil(delay * (1 + JITTER)) }
}

export function replay(model: Model, delivery: Delivery): void {
  Object.assign(delivery, { status: 'pending', attempts: 0, dueAt: model.now })
  model.audited++
}

/** The new one first; the one before goes on for a day, an older one is gone at once. */
export function rotate(model: Model, environment: Environment, secret: string): void {
  const [current] = model.webhookSecrets[environment]
  const previous = current ? [{ ...current, validUntil: model.now + DAY }] : []
  model.webhookSecrets[environment] = [{ secret, createdAt: model.now, validUntil: null }, ...previous]
  model.audited++
}

export const signingSecrets = ({ webhookSecrets, now }: Model, environment: Environment): string[] =>
  webhookSecrets[environment].filter(({ validUntil }) => validUntil === null || validUntil > now).map(({ secret }) => secret)
