// Access to a session through the browser: for a page by its Origin header, or for a server with a key that names the origin.
import { apiError } from '../../http/errors.ts'
import { isApp, mayAsk } from '../../tenants/origins.ts'
import { mayShow } from '../page/page-owner.ts'
import { type OpenSession, readOpenSession, readOwnOpenSession } from '../read.ts'
import type { Deps } from './deps.ts'

/** `owner` is a caller with a key; a page has none. */
export type Door = { id: string; request: Request; owner?: Parameters<typeof readOwnOpenSession>[1] }

export async function openSessionOf(deps: Deps, { id, owner, request }: Door): Promise<OpenSession> {
  if (owner) return await readOwnOpenSession(deps, owner, id)
  const session = await readOpenSession(deps, id)
  if (!mayShow(deps.config, session, request))
    throw apiError('origin_not_allowed', { message: 'This log-in was begun in another browser.' })
  return session
}

/** Browsers send it with every POST; a frame without an origin of its own sends `null`. */
export function originOf({ headers }: Request): string {
  const origin = headers.get('origin')
  if (origin === null || origin === 'null' || isApp(origin))
    throw apiError('origin_not_allowed', { message: 'Send the request from a page: its browser adds the Origin header.' })
  return origin
}

export async function refuseUnlisted(deps: Deps, session: OpenSession, origin: string): Promise<void> {
  if (!(await mayAsk(deps, session, origin))) throw apiError('origin_not_allowed')
}
