// The thread that posts messages. It has no keys and no database, and is given the address to call: a receiver that takes over
// this thread finds only the messages that are being sent.
import { createExtraCa, type ExtraCa } from '../../egress/authorities.ts'
import { callAt, type EgressAnswer, type EgressCall } from '../../egress/client.ts'

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
  /** The connection was opened after `until`: asks whether the message may still be sent. */
  | { kind: 'late'; id: string }

const underWay = new Map<string, AbortController>()
const late = new Map<string, (until: number | undefined) => void>()
const reports: Report[] = []
let trusted: ExtraCa | undefined

/** Orders and reports are sent as lists, because each message between threads costs as much as a small request. */
self.onmessage = ({ data: orders }: MessageEvent<Order[]>) => {
  for (const order of orders) void runOrder(order)
}

async function runOrder(order: Order): Promise<void> {
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

/** Sends all reports of one turn of the event loop in one message: answers that arrive together are recorded together. */
function report(each: Report): void {
  if (reports.push(each) === 1) setImmediate(() => self.postMessage(reports.splice(0)))
}

/** Compares with the clock instead of using a timer: the process may have been stopped for a while. */
const isBefore = (until: number | undefined): boolean => until !== undefined && Date.now() < until

async function askAgain(id: string): Promise<boolean> {
  const answered = Promise.withResolvers<number | undefined>()
  late.set(id, answered.resolve)
  report({ kind: 'late', id })
  const until = await answered.promise
  late.delete(id)
  return isBefore(until)
}
