import { startTcpProxy } from '../../helpers/tcp-proxy.ts'

type Balancer = {
  url: string
  /** Ports of the nodes that take connections. */
  nodes: Set<number>
  stop(): void
}

/** Gives each connection to some node; a node that refuses it is passed over. */
export function startBalancer(below: (limit: number) => number): Balancer {
  const nodes = new Set<number>()
  const { port, stop } = startTcpProxy(() =>
    [...nodes].sort(() => below(3) - 1).map(each => ({ hostname: '127.0.0.1', port: each })),
  )
  return { url: `http://127.0.0.1:${port}`, nodes, stop }
}
