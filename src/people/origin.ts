// Who may change something: a page of this very origin. The browser says so itself, in `Origin` and `Sec-Fetch-Site`; the third proof, the
// session's token, is asked for in guard.ts. And over plain http only somebody at this machine: a password must not cross a network in clear.

import type { Config } from '../config.ts'
import { isLoopback } from '../egress/addresses.ts'
import { apiError } from '../http/errors.ts'
import { traceOf } from '../http/plugin.ts'

/** For requests that change something, the log-in included. */
export function refuseForeign(config: Config, { headers }: Request): void {
  const site = headers.get('sec-fetch-site')
  if (site !== null && site !== 'same-origin') throw apiError('csrf_refused')
  const origin = headers.get('origin') ?? ''
  const own = new URL(config.publicUrl).origin
  if (own.startsWith('https:') ? origin !== own : !isOwnPlain(origin, own, headers.get('host'))) throw apiError('csrf_refused')
  // A name other than this machine's own: some other program stands between the browser and us, and the password went through the network.
  if (!origin.startsWith('https:') && !isLoopbackName(new URL(origin).hostname)) throw apiError('https_required')
}

/** In development the port, or the spelling of this machine's name, may differ from the public address. */
const isOwnPlain = (origin: string, own: string, host: string | null): boolean =>
  origin === own || (origin === `http://${host}` && URL.canParse(origin))

/** For requests that only look: a page of another origin has no business here either. */
export function refuseForeignLook({ headers }: Request): void {
  const site = headers.get('sec-fetch-site')
  if (site !== null && site !== 'same-origin' && site !== 'none') throw apiError('csrf_refused')
}

export function refusePlainHttp(config: Config, request: Request): void {
  if (!acceptsPasswords(config, request)) throw apiError('https_required')
}

export function acceptsPasswords(config: Config, request: Request): boolean {
  if (config.publicUrl.startsWith('https:')) return true
  // A proxy that nobody told us of would make every client look like this machine.
  const isForwarded = ['x-forwarded-for', 'forwarded', 'x-real-ip'].some(name => request.headers.has(name))
  if (isForwarded && config.trustedProxies.length === 0) return false
  return isLoopback(traceOf(request).address)
}

const isLoopbackName = (host: string): boolean => host === 'localhost' || isLoopback(host.replace(/^\[|\]$/g, ''))
