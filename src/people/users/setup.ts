// The first run. There is no default account: until an owner exists, each start of the service
// prints a link that creates one. Users of a tenant may exist before that.

import { sha256Hex } from '../../base/hash.ts'
import { base62 } from '../../base/ids.ts'
import type { Making, Reading } from '../../ground.ts'
import { apiError } from '../../http/errors.ts'
import type { Deps } from '../deps.ts'
import { type Browser, beginSession } from '../log-in/login.ts'
import { refuseWeakPassword } from '../log-in/password-rules.ts'
import type { Passwords } from '../log-in/passwords.ts'
import { actorOf, type Visit } from '../session.ts'
import { canAnyoneLogIn, findLink, findUserByName, hasOwner, insertUser, takeLink, type UserRow } from '../store.ts'
import { draftLink, keepLink } from './links.ts'

const SETUP_MS = 3_600_000

/** False as soon as anybody can log in, so that they see the log-in form. */
export const needsSetup = async ({ db }: Reading): Promise<boolean> => !(await canAnyoneLogIn(db))

/** A new link, which replaces the previous one; null once there is an owner. */
export async function openSetup(deps: Deps): Promise<string | null> {
  const link = draftLink(deps, null, SETUP_MS)
  const isOpen = await deps.writeSettings(async tx => {
    if (await hasOwner(tx)) return false
    await keepLink(tx, link)
    return true
  })
  return isOpen ? `${deps.config.publicUrl}/dashboard#setup=${link.token}` : null
}

type FirstUser = { token: string; name: string; password: string }

/** One of many simultaneous calls wins: link and user change in one transaction. */
export async function setUp(
  deps: Deps,
  passwords: Passwords,
  { token, name, password }: FirstUser,
  browser: Browser,
): Promise<Visit> {
  const hash = sha256Hex(token)
  const link = await findLink(deps.db, hash, deps.now())
  if (!link || link.userId !== null || (await hasOwner(deps.db))) throw apiError('setup_unavailable')
  await refuseWeakPassword(password, name)
  const user = draftUser(deps, { name, memberOf: null, password: await passwords.hash(password) })
  const refusal = await deps.writeSettings(async tx => {
    if (await hasOwner(tx)) return 'setup_unavailable'
    // The link stays valid, for a try with another name.
    if (await findUserByName(tx, name)) return 'name_taken'
    if (!(await takeLink(tx, hash, deps.now()))) return 'setup_unavailable'
    await insertUser(tx, user)
    await deps.audit.append(tx, {
      at: user.createdAt,
      tenantId: '',
      actor: actorOf(user),
      action: 'user.created',
      subjectId: user.id,
      details: { name },
    })
    return undefined
  })
  if (refusal) throw apiError(refusal)
  const visit = await beginSession(deps, user, browser, { method: 'setup' })
  if (!visit) throw apiError('setup_unavailable')
  return visit
}

type Draft = { name: string; memberOf: string | null; password: string | null; role?: UserRow['role'] }

export const draftUser = ({ now, random }: Making, { name, memberOf, password, role = 'member' }: Draft): UserRow => ({
  id: `usr_${base62(random, 16)}`,
  name,
  memberOf,
  password,
  createdAt: now(),
  lastLoginAt: null,
  role,
  totpSalt: null,
  totpSealed: null,
  totpSince: null,
  totpStep: null,
})
