// The thread that posts. It has neither keys nor database and gets the address to call: a receiver
// that breaks this thread reaches nothing but its own answer.
import { createExtraCa, type ExtraCa } from '../egress/authorities.ts'
import { callAt, type EgressAnswer, type EgressCall } from '../egress/client.ts'

declare const self: Worker

export type Order =
  | { kind: 'post'; id: string; address: string; call: EgressCall; extraCa: string | undefined; until: number | undefined }
  /** The answer to `late`. */
  | { kind: 'until'; id: string; until: number | undefined }
  | { kind: 'cancel'; id: string }
  | { kind: 'ping' }
export type Report =
  | { kind: 'answer'; id: string; answer: EgressAnswer }
  | { kind: 'pong' }
  /** It is connected after `until`: may the message still be sent? */
  | { kind: 'late'; id: string }

const underWay = new Map<string, AbortController>()
const late = new Map<string, (until: number | undefined) => void>()
const reports: Report[] = []
let trusted: ExtraCa | undefined

/** Messages in both directions are lists: each costs as much as a small request. */
self.onmessage = ({ data: orders }: MessageEvent<Order[]>) => {
  for (const order of orders) void obey(order)
}

async function obey(order: Order): Promise<void> {
  if (order.kind === 'ping') return report({ kind: 'pong' })
  if (order.kind === 'cancel') return underWay.get(order.id)?.abort()
  if (order.kind === 'until') return late.get(order.id)?.(order.until)
  const { id, address, call, extraCa, until } = order
  const controller = new AbortController()
  underWay.set(id, controller)
  if (extraCa !== undefined) trusted ??= createExtraCa(extraCa)
  const maySend = () => isBefore(until) || askAgain(id)
  const answer = await callAt(address, call, { extraCa: trusted, signal: controller.signal, maySend })
  underWay.delete(id)
  report({ kind: 'answer', id, answer })
}

/** With all others of this turn of the event loop: answers that come together are recorded together. */
function report(each: Report): void {
  if (reports.push(each) === 1) setImmediate(() => self.postMessage(reports.splice(0)))
}

/** Asked of the clock and not of a timer: the process may have stood still. */
const isBefore = (until: number | undefined): boolean => until !== undefined && Date.now() < until

async function askAgain(id: string): Promise<boolean> {
  const answered = Promise.withResolvers<number | undefined>()
  late.set(id, answered.resolve)
  report({ kind: 'late', id })
  const until = await answered.promise
  late.delete(id)
  return isBefore(until)
}
