// The first browser that opens the hosted page owns it, and alone gets the response code of an
// answer through the page's QR code. The page's script claims it with a POST once the page is
// visible: link previews, prefetches, prerenders and HEAD requests run no script.

import { equalConstantTime, sha256Hex } from '../../base/hash.ts'
import { newNonce } from '../../base/ids.ts'
import type { Config } from '../../config.ts'
import { apiError } from '../../http/errors.ts'
import type { Deps } from '../deps.ts'
import { claimPage, replaceResponseCode } from '../end/answer-store.ts'
import { openSecrets } from '../present.ts'
import { requireSession } from '../read.ts'
import { withResponseCode } from '../redirect-url.ts'
import { newResponseCode, redeemableUntil, storedResponseCode } from '../response-code.ts'
import type { PageOwner, PageReturn } from '../schema.ts'
import { statusAt } from '../status.ts'
import type { VerificationRow } from '../store.ts'

/** One statement decides between two browsers. After the answer nobody can become the owner. */
export async function ownPage(deps: Deps, id: string, request: Request): Promise<{ owner: PageOwner; cookie?: string }> {
  refuseForeign(deps.config, request)
  const session = await requireSession(deps, id)
  if (isOwner(deps.config, session, request)) return { owner: { owner: true } }
  if (session.pageOwnerHash !== null) return { owner: { owner: false } }
  const secret = newNonce(deps.random)
  const at = deps.now()
  const owner = await deps.write(tx => claimPage(tx, session, sha256Hex(secret), at))
  return { owner: { owner }, ...(owner && { cookie: cookieFor(deps.config, session, secret, at) }) }
}

/** The URL back to the shop, for the owner. Each call makes a new response code, which replaces the last one. */
export async function returnFromPage(deps: Deps, id: string, request: Request): Promise<PageReturn> {
  refuseForeign(deps.config, request)
  const session = await requireSession(deps, id)
  if (!isOwner(deps.config, session, request)) return {}
  const { redirect_url } = await openSecrets(deps, deps.db, session)
  const at = deps.now()
  const { pageOwnerHash, respondedAt } = session
  const isUnanswered = statusAt(session, at) === 'pending' && respondedAt === null
  if (redirect_url === undefined || isUnanswered) return {}
  if (respondedAt !== null && pageOwnerHash !== null && returnsCode(session, at)) {
    const code = newResponseCode(deps.random)
    const stored = storedResponseCode(code, respondedAt)
    if (await deps.write(tx => replaceResponseCode(tx, session, pageOwnerHash, stored)))
      return { return_url: withResponseCode(redirect_url, code) }
  }
  return { return_url: redirect_url }
}

/** True while an answer that came through the QR code waits for its redemption. */
export const returnsCode = ({ answeredFrom, respondedAt, redeemedAt }: VerificationRow, at: number): boolean =>
  answeredFrom === 'qr' && respondedAt !== null && redeemedAt === null && redeemableUntil(respondedAt) > at

export function isOwner(config: Config, { pageOwnerHash }: VerificationRow, { headers }: Request): boolean {
  const secret = new RegExp(`(?:^|; *)${nameOf(config)}=([A-Za-z0-9_-]{43})(?:;|$)`).exec(headers.get('cookie') ?? '')?.[1]
  return secret !== undefined && pageOwnerHash !== null && equalConstantTime(sha256Hex(secret), pageOwnerHash)
}

/** False for a log-in in another browser than the one that began it: a link to it would log in its sender. */
export const mayShow = (config: Config, session: VerificationRow, request: Request): boolean =>
  session.loginClientId === null || isOwner(config, session, request)

export const isHttps = ({ publicUrl }: Config): boolean => publicUrl.startsWith('https:')

/** Browsers refuse cookies with the prefix `__Secure-` over plain http. */
const nameOf = (config: Config): string => (isHttps(config) ? '__Secure-page' : 'vidimus-page')

/** Lasts while a response code can be redeemed, so that a restarted browser owns its page. */
function cookieFor(config: Config, { id, expiresAt }: VerificationRow, secret: string, at: number): string {
  const seconds = Math.ceil((redeemableUntil(expiresAt) - at) / 1000)
  return cookie(config, { name: nameOf(config), secret, path: `/v/${id}`, seconds })
}

/** The cookie of the browser that began a log-in: for its page, and for the calls of its browser's wallet. */
export const cookiesOfLogin = (config: Config, id: string, secret: string, seconds: number): string[] =>
  [`/v/${id}`, `/wallet/dc/request/${id}`, `/wallet/dc/response/${id}`].map(path =>
    cookie(config, { name: nameOf(config), secret, path, seconds }),
  )

type Cookie = { name: string; secret: string; path: string; seconds: number }

/** `path`: from the root of the service. */
export function cookie(config: Config, { name, secret, path, seconds }: Cookie): string {
  const root = new URL(config.publicUrl).pathname.replace(/\/$/, '')
  return `${name}=${secret}; Path=${root}${path}; Max-Age=${seconds}; HttpOnly; SameSite=Lax${isHttps(config) ? '; Secure' : ''}`
}

/** Browsers send Sec-Fetch-Site; over plain http to another machine only Origin. */
export function refuseForeign({ publicUrl }: Config, { headers }: Request): void {
  const site = headers.get('sec-fetch-site')
  const own = [new URL(publicUrl).origin, `http://${headers.get('host')}`]
  const isOwn = site === null ? own.includes(headers.get('origin') ?? '') : site === 'same-origin'
  if (!isOwn) throw apiError('csrf_refused', { message: 'This request did not come from the page itself; reload the page.' })
}
