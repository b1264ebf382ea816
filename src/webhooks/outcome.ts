import type { CourierAnswer } from './courier.ts'

/** How an attempt ended. `interrupted` is also what the log says of one whose end nobody saw. */
export const OUTCOMES = [
  'delivered',
  'http_status',
  'redirect',
  'gone',
  'timeout',
  'dns_failed',
  'refused_address',
  'tls_failed',
  'connection_failed',
  'interrupted',
  'cancelled',
] as const
export type Outcome = (typeof OUTCOMES)[number]

export function outcomeOf(answer: CourierAnswer): Outcome {
  if (!answer.ok) return answer.failure === 'too_large' ? 'connection_failed' : answer.failure
  const { status } = answer
  if (status >= 200 && status < 300) return 'delivered'
  if (status >= 300 && status < 400) return 'redirect'
  return status === 410 ? 'gone' : 'http_status'
}
