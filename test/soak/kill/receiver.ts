import type { Told } from './clients.ts'

type SoakReceiver = { port: number; url: string; seen: Set<string>; count: () => number; stop: () => void }

/** A merchant's server that takes its time, and refuses one message in ten. What arrives after its erasure was acknowledged is a violation. */
export function receiveMessages(told: Pick<Told, 'erasedAt' | 'violations'>, below: (limit: number) => number): SoakReceiver {
  const seen = new Set<string>()
  let count = 0
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const arrivedAt = Date.now()
      const { verification } = (await request.json()) as { verification: { id: string } }
      count++
      if (arrivedAt > (told.erasedAt.get(verification.id) ?? Number.POSITIVE_INFINITY))
        told.violations.push('I4 a message arrived after its session was erased')
      await Bun.sleep(below(20))
      if (below(10) === 0) return new Response(null, { status: 500 })
      seen.add(verification.id)
      return new Response(null, { status: 204 })
    },
  })
  const port = server.port ?? 0
  return { port, url: `http://127.0.0.1:${port}/hook`, seen, count: () => count, stop: () => void server.stop(true) }
}
