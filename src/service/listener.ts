// The port of the service. A new certificate takes it over without a restart: the runtime's own `reload` accepts one and ignores it, so the old
// listener stops listening and a new one begins within the same turn. A shared port (`reusePort`) would leave no gap at all, but would let a
// second service in.
import type { createApp } from '../app.ts'
import { CommandError } from '../cli/output.ts'
import type { Config } from '../config.ts'
import type { TlsPair } from './tls-pair.ts'

const PRIVILEGED_BELOW = 1024
/** As a unit of systemd gives it; without the second, the right would not count for the ports of the machine. */
const RIGHT = 'for systemd: AmbientCapabilities=CAP_NET_BIND_SERVICE and PrivateUsers=no'

type App = ReturnType<typeof createApp>

export type Listener = {
  port: number
  /** New connections get this certificate. What is under way is answered; connections that wait for their next request are closed. */
  renew(pair: TlsPair): void
  /** When the certificate that new connections get ends; undefined without one. */
  certificateEndsAt(): number | undefined
  stop(): Promise<void>
}

export function listen(app: App, { port: wanted, host }: Pick<Config, 'port' | 'host'>, pair: TlsPair | undefined): Listener {
  const ending = new Set<Promise<void>>()
  const end = ({ server }: App) => {
    const ended = Promise.resolve(server?.stop()).then(() => void ending.delete(ended))
    ending.add(ended)
  }
  let isStopped = false
  let served = pair
  open(app, { port: wanted, host, pair })
  const port = app.server?.port ?? wanted

  return {
    port,
    renew(renewed) {
      // A listener that is opened after the last one was closed would outlive the database.
      if (isStopped) return
      tryOut(renewed)
      open(app, { port, host, pair: renewed, makeWay: () => end(app) })
      served = renewed
    },
    certificateEndsAt: () => served?.notAfter,
    async stop() {
      isStopped = true
      await Promise.all([app.stop(), ...ending])
    },
  }
}

type Opening = { port: number; host: string; pair: TlsPair | undefined; makeWay?: () => void }

function open(app: App, { port, host, pair, makeWay }: Opening): void {
  try {
    app.listen({
      port,
      hostname: host,
      // The framework would let a second service in: each would get some of the connections.
      reusePort: false,
      // Asked for once all routes are compiled, right before the port is taken: until then the old listener goes on.
      get tls() {
        makeWay?.()
        return pair && tlsOf(pair)
      },
    })
  } catch (error) {
    throw new CommandError(listenRefusal(host, port, (error as { code?: string }).code))
  }
}

export function listenRefusal(host: string, port: number, code = 'unknown'): string {
  const place = `cannot listen on ${host}:${port} (${code})`
  if (code === 'EADDRINUSE') return `${place}, which another program uses; stop that one, or choose another PORT`
  if (code === 'EACCES' && port < PRIVILEGED_BELOW)
    return `${place}: ports below ${PRIVILEGED_BELOW} need a right; give it (${RIGHT}), or choose another PORT`
  return `${place}; choose another PORT or HOST`
}

/** TLS 1.2 with forward secrecy and AEAD; the runtime would also offer CBC and key exchange by RSA. The suites of TLS 1.3 are all AEAD. */
const CIPHERS = [
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
].join(':')

const tlsOf = ({ cert, key }: TlsPair) => ({ cert, key, ciphers: CIPHERS })

/** What the runtime cannot use must fail here, while the old certificate is still being served. */
function tryOut(pair: TlsPair): void {
  void Bun.serve({ port: 0, hostname: '127.0.0.1', tls: tlsOf(pair), fetch: () => new Response() }).stop(true)
}
