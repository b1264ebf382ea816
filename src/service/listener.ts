// The port of the service. A new certificate replaces the old one without a restart: the runtime's `reload` accepts one and
// ignores it, so the old listener closes and a new one opens in the same turn of the event loop. `reusePort` would leave no gap,
// but would let a second service use the port.
import type { createApp } from '../app.ts'
import type { TlsPair } from '../http/tls-pair.ts'
import { PortRefusal } from './refusal.ts'

/** Each route limits its body (http/body.ts). The runtime's own refusal has no error envelope, so its limit is out of reach. */
const BODY_BYTES_BACKSTOP = 2 ** 31
const IDLE_TIMEOUT_SECONDS = 15
const PRIVILEGED_BELOW = 1024
/** The second setting is needed too: with PrivateUsers the capability does not count for ports of the host. */
const RIGHT = 'for systemd: AmbientCapabilities=CAP_NET_BIND_SERVICE and PrivateUsers=no'

type App = ReturnType<typeof createApp>

export type Listener = {
  port: number
  /** Uses the pair for new connections. Requests under way are answered; idle connections are closed. */
  renew(pair: TlsPair): void
  /** Undefined without https. */
  certificateEndsAt(): number | undefined
  stop(): Promise<void>
}

export function listen(app: App, { port: wanted, host }: { port: number; host: string }, pair: TlsPair | undefined): Listener {
  const ending = new Set<Promise<void>>()
  const end = () => {
    const ended = app.server!.stop().then(() => void ending.delete(ended))
    ending.add(ended)
  }
  let isStopped = false
  let served = pair
  open(app, { port: wanted, host, pair })
  const port = app.server?.port ?? wanted

  return {
    port,
    renew(renewed) {
      // A listener opened after the stop would outlive the database.
      if (isStopped) return
      tryOut(renewed)
      end()
      open(app, { port, host, pair: renewed })
      served = renewed
    },
    certificateEndsAt: () => served?.notAfter,
    async stop() {
      isStopped = true
      end()
      await Promise.all(ending)
    },
  }
}

type Opening = { port: number; host: string; pair: TlsPair | undefined }

function open(app: App, { port, host, pair }: Opening): void {
  const before = process.listeners('beforeExit')
  try {
    app.listen({
      port,
      hostname: host,
      // Otherwise a second service would get some of the connections.
      reusePort: false,
      tls: pair && tlsOf(pair),
      maxRequestBodySize: BODY_BYTES_BACKSTOP,
      idleTimeout: IDLE_TIMEOUT_SECONDS,
      development: false,
    })
  } catch (error) {
    throw new PortRefusal(listenRefusal(host, port, (error as { code?: string }).code))
  }
  // The framework stops the service at the exit, which would keep the whole app in memory; `stop` does that here.
  for (const added of process.listeners('beforeExit')) if (!before.includes(added)) process.off('beforeExit', added)
}

/** The host as in a URL: IPv6 in brackets. */
export const shownHost = (host: string): string => (host.includes(':') ? `[${host}]` : host)

export function listenRefusal(host: string, port: number, code = 'unknown'): string {
  const place = `cannot listen on ${shownHost(host)}:${port} (${code})`
  if (code === 'EADDRINUSE') return `${place}, which another program uses; stop that one, or choose another PORT`
  if (code === 'EACCES' && port < PRIVILEGED_BELOW)
    return `${place}: ports below ${PRIVILEGED_BELOW} need a permission; grant it (${RIGHT}), or choose another PORT`
  return `${place}; choose another PORT or HOST`
}

/**
 * TLS 1.2 with forward secrecy and AEAD; by default the runtime also offers CBC and RSA key
 * exchange. All suites of TLS 1.3 are AEAD.
 */
const CIPHERS = [
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
].join(':')

const tlsOf = ({ cert, key }: TlsPair) => ({ cert, key, ciphers: CIPHERS })

/** A pair that the runtime cannot use must fail here, while the old certificate is still served. */
function tryOut(pair: TlsPair): void {
  void Bun.serve({ port: 0, hostname: '127.0.0.1', tls: tlsOf(pair), fetch: () => new Response() }).stop(true)
}
