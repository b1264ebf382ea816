// One-time links. The token is in the URL's fragment, so it reaches no server and no log; the database has its hash.

import type { Acting } from '../../audit/deps.ts'
import { sha256Hex } from '../../base/hash.ts'
import { newNonce } from '../../base/ids.ts'
import { isoUtc } from '../../base/time.ts'
import type { Db } from '../../db/engine.ts'
import type { Making, Reading } from '../../ground.ts'
import { apiError } from '../../http/errors.ts'
import type { Deps } from '../deps.ts'
import { deleteTicketsOf } from '../factors/factor-store.ts'
import { type Browser, finish, type LogIn } from '../log-in/login.ts'
import { refuseWeakPassword } from '../log-in/password-rules.ts'
import type { Passwords } from '../log-in/passwords.ts'
import { actorOf, tenantIdOf } from '../session.ts'
import {
  deleteLinksOf,
  deleteSessionsOf,
  findLink,
  findUser,
  insertLink,
  type LinkRow,
  setPassword,
  takeLink,
  type UserRow,
} from '../store.ts'

export const RESET_MS = 3_600_000
export const INVITATION_MS = 72 * 3_600_000

export type OneTimeLink = { token: string; row: LinkRow }

export function draftLink({ now, random }: Making, userId: string | null, lifeMs: number): OneTimeLink {
  const token = newNonce(random)
  return { token, row: { hash: sha256Hex(token), userId, expiresAt: now() + lifeMs } }
}

/** Replaces earlier links of the same user, or for the set-up. */
export async function keepLink(tx: Db, { row }: OneTimeLink): Promise<void> {
  await deleteLinksOf(tx, row.userId)
  await insertLink(tx, row)
}

export const passwordUrl = (publicUrl: string, { token }: Pick<OneTimeLink, 'token'>): string =>
  `${publicUrl}/dashboard#password=${token}`

/** Does not use the link up. */
export async function readLink({ db, now }: Reading, token: string) {
  const link = await findLink(db, sha256Hex(token), now())
  if (!link) throw apiError('link_unavailable')
  const expires_at = isoUtc(link.expiresAt)
  if (link.userId === null) return { kind: 'setup' as const, expires_at }
  const user = await userOf(db, link)
  return { kind: user.password === null ? ('invitation' as const) : ('reset' as const), name: user.name, expires_at }
}

/** The user that a link to choose a password was made for, which `id` must be. */
export async function readLinkOf({ db, now }: Reading, id: string, token: string): Promise<{ user: UserRow; expiresAt: number }> {
  const link = await findLink(db, sha256Hex(token), now())
  if (!link || link.userId !== id) throw apiError('link_unavailable')
  return { user: await userOf(db, link), expiresAt: link.expiresAt }
}

export const recordMailed = ({ write, audit, now }: Acting, user: UserRow, actor: string): Promise<void> =>
  write(async tx => {
    const entry = { at: now(), tenantId: tenantIdOf(user), actor, subjectId: user.id, details: { name: user.name } }
    await audit.append(tx, { ...entry, action: 'user.link_mailed' })
  })

/** A link works once. All sessions and half log-ins of the user end, and so do all other links. It spares no second factor. */
export async function choosePassword(
  deps: Deps,
  passwords: Passwords,
  { token, password }: { token: string; password: string },
  browser: Browser,
): Promise<LogIn> {
  const hash = sha256Hex(token)
  const link = await findLink(deps.db, hash, deps.now())
  if (!link || link.userId === null) throw apiError('link_unavailable')
  const user = await userOf(deps.db, link)
  await refuseWeakPassword(password, user.name)
  const kept = await passwords.hash(password)
  const begun = await finish(deps, user, browser, 'link', async tx => {
    if (!(await takeLink(tx, hash, deps.now()))) return false
    await setPassword(tx, user.id, kept)
    await deleteSessionsOf(tx, user.id)
    await deleteTicketsOf(tx, user.id)
    await deps.audit.append(tx, {
      at: deps.now(),
      tenantId: tenantIdOf(user),
      actor: actorOf(user),
      action: user.password === null ? 'user.joined' : 'user.password_changed',
      subjectId: user.id,
      details: { name: user.name },
    })
    return true
  })
  if (!begun) throw apiError('link_unavailable')
  return begun
}

/** A user who is removed takes the link along, perhaps after it was read. */
async function userOf(db: Db, { userId }: LinkRow): Promise<UserRow> {
  const user = await findUser(db, userId ?? '')
  if (!user) throw apiError('link_unavailable')
  return user
}
