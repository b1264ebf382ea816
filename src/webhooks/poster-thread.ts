// The thread that posts. It has neither keys nor database and gets the address to call: a receiver
// that breaks this thread reaches nothing but its own answer.
import { callAt, type EgressAnswer, type EgressCall } from '../egress/client.ts'

declare const self: Worker

export type Order =
  | { kind: 'post'; id: string; address: string; call: EgressCall }
  | { kind: 'cancel'; id: string }
  | { kind: 'ping' }
export type Report = { kind: 'answer'; id: string; answer: EgressAnswer } | { kind: 'pong' }

const underWay = new Map<string, AbortController>()

self.onmessage = async ({ data: order }: MessageEvent<Order>) => {
  if (order.kind === 'ping') return self.postMessage({ kind: 'pong' } satisfies Report)
  if (order.kind === 'cancel') return underWay.get(order.id)?.abort()
  const { id, address, call } = order
  const controller = new AbortController()
  underWay.set(id, controller)
  const answer = await callAt(address, call, controller.signal)
  underWay.delete(id)
  self.postMessage({ kind: 'answer', id, answer } satisfies Report)
}
