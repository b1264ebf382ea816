// The thread that posts. It has neither keys nor database and gets the address to call: a receiver
// that breaks this thread reaches nothing but its own answer.
import { createExtraCa, type ExtraCa } from '../egress/authorities.ts'
import { callAt, type EgressAnswer, type EgressCall } from '../egress/client.ts'

declare const self: Worker

export type Order =
  | { kind: 'post'; id: string; address: string; call: EgressCall; extraCa: string | undefined }
  | { kind: 'cancel'; id: string }
  | { kind: 'ping' }
export type Report = { kind: 'answer'; id: string; answer: EgressAnswer } | { kind: 'pong' }

const underWay = new Map<string, AbortController>()
let trusted: ExtraCa | undefined

self.onmessage = async ({ data: order }: MessageEvent<Order>) => {
  if (order.kind === 'ping') return self.postMessage({ kind: 'pong' } satisfies Report)
  if (order.kind === 'cancel') return underWay.get(order.id)?.abort()
  const { id, address, call, extraCa } = order
  const controller = new AbortController()
  underWay.set(id, controller)
  if (extraCa !== undefined) trusted ??= createExtraCa(extraCa)
  const answer = await callAt(address, call, { extraCa: trusted, signal: controller.signal })
  underWay.delete(id)
  self.postMessage({ kind: 'answer', id, answer } satisfies Report)
}
