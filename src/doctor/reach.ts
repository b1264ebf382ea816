// Connects to a destination under the rules for all outgoing calls: resolved, checked against the
// egress policy, TLS certificate verified. Nothing is sent.
import { connect, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { ExtraCa } from '../egress/authorities.ts'
import { locate } from '../egress/client.ts'
import type { Deps } from './deps.ts'

const RESOLVE_MS_MAX = 2000
const CONNECT_MS_MAX = 2500

/** Undefined when it can be reached; otherwise the reason, as a clause. */
export async function whyUnreachable({ egress, resolve }: Pick<Deps, 'egress' | 'resolve'>, origin: string) {
  const found = await locate(egress, resolve, origin, { resolveMs: RESOLVE_MS_MAX })
  if (!found.ok) return found.failure === 'dns_failed' ? 'its name was not found' : 'its address is not allowed'
  const url = new URL(found.url)
  return await new Promise<string | undefined>(settle => {
    const socket = open(url, found.addresses[0] ?? '', egress.extraCa)
    const finish = (why?: string) => {
      clearTimeout(timer)
      socket.destroy()
      settle(why)
    }
    const timer = setTimeout(() => finish('it does not answer'), CONNECT_MS_MAX)
    socket.once(url.protocol === 'https:' ? 'secureConnect' : 'connect', () => finish())
    socket.on('error', (error: { code?: string }) =>
      finish(
        /CERT|TLS|SSL|SIGNED|VERIFY|ALTNAME/.test(error.code ?? '')
          ? 'its certificate is not valid'
          : 'it refuses the connection',
      ),
    )
  })
}

function open(url: URL, host: string, extraCa: ExtraCa | undefined): Socket {
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80))
  if (url.protocol === 'http:') return connect({ host, port })
  const name = url.hostname.replace(/^\[|\]$/g, '')
  return connectTls({
    host,
    port,
    secureContext: extraCa?.secureContext(),
    ...(isIP(name) === 0 && { servername: name }),
    rejectUnauthorized: true,
  })
}
