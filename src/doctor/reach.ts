// Connects to a destination under the rules for all outgoing calls: resolved, checked against the
// egress policy, TLS certificate verified. Nothing is sent.
import type { Socket } from 'node:net'
import { isIP } from '../base/ip.ts'
import type { ExtraCa } from '../egress/authorities.ts'
import { locate } from '../egress/client.ts'
import type { Calling } from '../ground.ts'

const RESOLVE_MS_MAX = 2000
const CONNECT_MS_MAX = 2500

/** Why a destination cannot be reached. */
export type Reason = 'unknown' | 'refused' | 'silent' | 'untrusted' | 'closed'

/** Undefined when it can be reached. */
async function whyUnreachable({ egress, resolve }: Calling, origin: string): Promise<Reason | undefined> {
  const found = await locate(egress, resolve, origin, { resolveMs: RESOLVE_MS_MAX })
  if (!found.ok) return found.failure === 'dns_failed' ? 'unknown' : 'refused'
  const url = new URL(found.url)
  return await new Promise<Reason | undefined>(settle => {
    const socket = open(url, found.addresses[0] ?? '', egress.extraCa)
    const finish = (why?: Reason) => {
      clearTimeout(timer)
      socket.destroy()
      settle(why)
    }
    const timer = setTimeout(() => finish('silent'), CONNECT_MS_MAX)
    socket.once(url.protocol === 'https:' ? 'secureConnect' : 'connect', () => finish())
    socket.on('error', (error: { code?: string }) =>
      finish(/CERT|TLS|SSL|SIGNED|VERIFY|ALTNAME/.test(error.code ?? '') ? 'untrusted' : 'closed'),
    )
  })
}

export type Missed = { origin: string; why: Reason }

/** The origins that cannot be reached, each with its reason. */
export async function missedOf(deps: Calling, origins: readonly string[]): Promise<Missed[]> {
  const looked = await Promise.all(origins.map(async origin => ({ origin, why: await whyUnreachable(deps, origin) })))
  return looked.flatMap(({ origin, why }) => (why ? [{ origin, why }] : []))
}

function open(url: URL, host: string, extraCa: ExtraCa | undefined): Socket {
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80))
  // Not imported: the start of the service would wait for them.
  if (url.protocol === 'http:') return process.getBuiltinModule('node:net').connect({ host, port })
  const name = url.hostname.replace(/^\[|\]$/g, '')
  return process.getBuiltinModule('node:tls').connect({
    host,
    port,
    secureContext: extraCa?.secureContext(),
    ...(isIP(name) === 0 && { servername: name }),
    rejectUnauthorized: true,
  })
}
