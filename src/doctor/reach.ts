// Connects to a destination under the rules for all outgoing calls: resolved, checked against the
// egress policy, TLS certificate verified. Nothing is sent.
import type { Socket } from 'node:net'
import type { ExtraCa } from '../egress/authorities.ts'
import { locate } from '../egress/client.ts'
import { isIP } from '../ip.ts'
import type { Deps } from './deps.ts'

const RESOLVE_MS_MAX = 2000
const CONNECT_MS_MAX = 2500

/** Why a destination cannot be reached, as a clause. */
export type Reason = Readonly<Record<'en' | 'de', string>>

const REASONS = {
  unknown: { en: 'its name was not found', de: 'sein Name wurde nicht gefunden' },
  refused: { en: 'its address is not allowed', de: 'seine Adresse ist nicht erlaubt' },
  silent: { en: 'it does not answer', de: 'er antwortet nicht' },
  untrusted: { en: 'its certificate is not valid', de: 'sein Zertifikat gilt nicht' },
  closed: { en: 'it refuses the connection', de: 'er lehnt die Verbindung ab' },
} as const satisfies Record<string, Reason>

/** Undefined when it can be reached. */
export async function whyUnreachable({ egress, resolve }: Pick<Deps, 'egress' | 'resolve'>, origin: string) {
  const found = await locate(egress, resolve, origin, { resolveMs: RESOLVE_MS_MAX })
  if (!found.ok) return found.failure === 'dns_failed' ? REASONS.unknown : REASONS.refused
  const url = new URL(found.url)
  return await new Promise<Reason | undefined>(settle => {
    const socket = open(url, found.addresses[0] ?? '', egress.extraCa)
    const finish = (why?: Reason) => {
      clearTimeout(timer)
      socket.destroy()
      settle(why)
    }
    const timer = setTimeout(() => finish(REASONS.silent), CONNECT_MS_MAX)
    socket.once(url.protocol === 'https:' ? 'secureConnect' : 'connect', () => finish())
    socket.on('error', (error: { code?: string }) =>
      finish(/CERT|TLS|SSL|SIGNED|VERIFY|ALTNAME/.test(error.code ?? '') ? REASONS.untrusted : REASONS.closed),
    )
  })
}

/** The origins that cannot be reached, each with its reason. */
export const missedOf = (looked: readonly { origin: string; why: Reason | undefined }[]): Record<'en' | 'de', string[]> => {
  const listed = (language: 'en' | 'de') => looked.flatMap(({ origin, why }) => (why ? [`${origin} (${why[language]})`] : []))
  return { en: listed('en'), de: listed('de') }
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
