// Only pages of this origin may change anything: browsers send `Origin` and `Sec-Fetch-Site`, and
// guard.ts checks the session's token. Over plain http only this machine is served, because a
// password must not cross a network in clear text.

import type { Config } from '../config.ts'
import { isLoopback } from '../egress/addresses.ts'
import { isFromLoopback } from '../http/client-address.ts'
import { apiError } from '../http/errors.ts'
import { traceOf } from '../http/plugin.ts'

/** Called for requests that change something, log-in included. */
export function refuseForeign(config: Config, { headers }: Request): void {
  const site = headers.get('sec-fetch-site')
  if (site !== null && site !== 'same-origin') throw apiError('csrf_refused')
  const origin = headers.get('origin') ?? ''
  const own = new URL(config.publicUrl).origin
  if (own.startsWith('https:') ? origin !== own : !isOwnPlain(origin, own, headers.get('host'))) throw apiError('csrf_refused')
  // A host name other than this machine's: a program between the browser and us saw the password.
  if (!origin.startsWith('https:') && !isLoopbackName(new URL(origin).hostname)) throw apiError('https_required')
}

/** The port or the host name may differ from the public address in development. */
const isOwnPlain = (origin: string, own: string, host: string | null): boolean =>
  origin === own || (origin === `http://${host}` && URL.canParse(origin))

/** Called for requests that change nothing: pages of other origins may not read either. */
export function refuseForeignLook({ headers }: Request): void {
  const site = headers.get('sec-fetch-site')
  if (site !== null && site !== 'same-origin' && site !== 'none') throw apiError('csrf_refused')
}

export function refusePlainHttp(config: Config, request: Request): void {
  if (!acceptsPasswords(config, request)) throw apiError('https_required')
}

export const acceptsPasswords = ({ publicUrl }: Config, request: Request): boolean =>
  publicUrl.startsWith('https:') || isFromLoopback(request, traceOf(request).address)

const isLoopbackName = (host: string): boolean => host === 'localhost' || isLoopback(host.replace(/^\[|\]$/g, ''))
