// The first run: there is no default account. While there is no user, each start of the service prints a link that makes the first one.
import type { Deps } from '../deps.ts'
import { sha256Hex } from '../hash.ts'
import { apiError } from '../http/errors.ts'
import { base62, type Random } from '../ids.ts'
import { draftLink, keepLink } from './links.ts'
import { type Browser, beginSession } from './login.ts'
import { refuseWeakPassword } from './password-rules.ts'
import type { Passwords } from './passwords.ts'
import { actorOf, type Visit } from './session.ts'
import { countUsers, findLink, insertUser, takeLink, type UserRow } from './store.ts'

const SETUP_MS = 3_600_000

export const needsSetup = async ({ db }: Pick<Deps, 'db'>): Promise<boolean> => (await countUsers(db)) === 0

/** A fresh link, which voids the one before; null once there is a user. */
export async function openSetup(deps: Pick<Deps, 'db' | 'write' | 'now' | 'random' | 'config'>): Promise<string | null> {
  const link = draftLink(deps, null, SETUP_MS)
  const isOpen = await deps.write(async tx => {
    if ((await countUsers(tx)) > 0) return false
    await keepLink(tx, link)
    return true
  })
  return isOpen ? `${deps.config.publicUrl}/dashboard#setup=${link.token}` : null
}

type FirstUser = { token: string; name: string; password: string }

/** The first user owns the installation. Of many at once one wins: the link is taken, and the user made, in one transaction. */
export async function setUp(
  deps: Deps,
  passwords: Passwords,
  { token, name, password }: FirstUser,
  browser: Browser,
): Promise<Visit> {
  const hash = sha256Hex(token)
  const link = await findLink(deps.db, hash, deps.now())
  if (!link || !(await needsSetup(deps))) throw apiError('setup_unavailable')
  refuseWeakPassword(password, name)
  const user = draftUser(deps, { name, memberOf: null, password: await passwords.hash(password) })
  const isFirst = await deps.write(async tx => {
    if ((await countUsers(tx)) > 0 || !(await takeLink(tx, hash, deps.now()))) return false
    await insertUser(tx, user)
    await deps.audit.append(tx, {
      at: user.createdAt,
      tenantId: '',
      actor: actorOf(user),
      action: 'user.created',
      subjectId: user.id,
      details: { name },
    })
    return true
  })
  const visit = isFirst ? await beginSession(deps, user, browser) : undefined
  if (!visit) throw apiError('setup_unavailable')
  return visit
}

export const draftUser = (
  { now, random }: { now: () => number; random: Random },
  { name, memberOf, password }: Pick<UserRow, 'name' | 'memberOf' | 'password'>,
): UserRow => ({ id: `usr_${base62(random, 16)}`, name, memberOf, password, createdAt: now(), lastLoginAt: null })
