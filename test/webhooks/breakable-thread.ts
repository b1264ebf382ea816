// The thread that sends, as it really is, but some paths break it.
import '../../src/webhooks/delivery/poster-thread.ts'
import type { Order } from '../../src/webhooks/delivery/poster-thread.ts'

declare const self: Worker

const receiveOrders = self.onmessage
const obey = (order: Order) => receiveOrders?.call(self, { data: [order] } as MessageEvent<Order[]>)
const BUSY_MS: Record<string, number> = { '/busy': 300, '/starved': 1800 }
const LATE_MS = 300
const deaf = new Set<string>()
const late = new Set<string>()

self.onmessage = ({ data: orders }: MessageEvent<Order[]>) => {
  for (const order of orders) obeyOrBreak(order)
}

function obeyOrBreak(order: Order): void {
  if (order.kind === 'post') breakOn(order.call)
  if (order.kind === 'post' && order.call.url.endsWith('/forgotten')) return
  if (order.kind === 'post' && order.call.url.endsWith('/deaf')) deaf.add(order.id)
  if (order.kind === 'post' && order.call.url.endsWith('/late')) late.add(order.id)
  if (order.kind === 'cancel' && deaf.has(order.id)) return
  if (order.kind === 'cancel' && late.has(order.id)) return void setTimeout(() => obey(order), LATE_MS)
  obey(order)
}

function breakOn({ url, headers }: { url: string; headers: Record<string, string> }): void {
  const { pathname } = new URL(url)
  if (pathname === '/throw' || pathname === `/throw-at-${headers['x-service-attempt']}`) throw new Error('broken')
  if (pathname === '/reject') void Promise.reject(new Error('broken'))
  if (pathname === '/exit') process.exit(1)
  // A thread that sleeps is as deaf as a busy one, and leaves the processor to other tests.
  if (pathname === '/loop') for (;;) Bun.sleepSync(1)
  Bun.sleepSync(BUSY_MS[pathname] ?? 0)
}
