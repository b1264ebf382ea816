import type { Socket } from 'bun'

type Balancer = {
  url: string
  /** Ports of the nodes that take connections. */
  nodes: Set<number>
  stop(): void
}

type Piped = { other: Socket<Piped> | undefined; early: Uint8Array[] }

/** Gives each connection to some node; a node that refuses it is passed over. */
export function startBalancer(below: (limit: number) => number): Balancer {
  const nodes = new Set<number>()
  const pipe = {
    data: ({ data: { other } }: Socket<Piped>, chunk: Uint8Array) => void other?.write(chunk),
    close: ({ data: { other } }: Socket<Piped>) => void other?.terminate(),
    error() {},
  }
  const server = Bun.listen<Piped>({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      async open(client) {
        client.data = { other: undefined, early: [] }
        const ports = [...nodes].sort(() => below(3) - 1)
        for (const port of ports) {
          try {
            const data = { other: client, early: [] }
            const node = await Bun.connect<Piped>({ hostname: '127.0.0.1', port, socket: pipe, data })
            client.data.other = node
            for (const chunk of client.data.early.splice(0)) node.write(chunk)
            return
          } catch {
            // Refused: the next one.
          }
        }
        client.terminate()
      },
      data(client, chunk) {
        if (client.data.other) client.data.other.write(chunk)
        else client.data.early.push(Uint8Array.from(chunk))
      },
      close: pipe.close,
      error() {},
    },
  })
  return { url: `http://127.0.0.1:${server.port}`, nodes, stop: () => server.stop(true) }
}
