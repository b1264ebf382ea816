import { newNonce } from '../../base/ids.ts'
import { isoUtc } from '../../base/time.ts'
import type { Db } from '../../db/engine.ts'
import type { Configured, Reading } from '../../ground.ts'
import { apiError } from '../../http/errors.ts'
import { readTenants } from '../../tenants/settings.ts'
import { deleteAddresses } from '../address-store.ts'
import type { Deps } from '../deps.ts'
import { listUsersWithFactor } from '../factors/factor-store.ts'
import { takeFactors } from '../factors/factors.ts'
import { hasFactor } from '../factors/proofs.ts'
import { createPasswords } from '../log-in/passwords.ts'
import { type Role, roleOf } from '../role.ts'
import type { InviteUser, User } from '../schema.ts'
import { tenantIdOf, type Visit } from '../session.ts'
import {
  deleteSessionsOf,
  deleteUser,
  findUser,
  findUserByName,
  hasOwner,
  insertUser,
  listUsers,
  lockUser,
  setPassword,
  setRole,
  type UserRow,
} from '../store.ts'
import { draftLink, INVITATION_MS, keepLink, type OneTimeLink, passwordUrl, RESET_MS } from './links.ts'
import { presentUser } from './present.ts'
import { draftUser } from './setup.ts'

/** The link is shown once: only its hash is stored. */
export type UserWithLink = { user: User; url: string; expires_at: string }

export async function readUsers({ db }: Reading): Promise<User[]> {
  const names = new Map((await readTenants(db)).map(({ id, name }) => [id, name]))
  const withFactor = new Set(await listUsersWithFactor(db))
  return (await listUsers(db)).map(row => presentUser(row, names, withFactor.has(row.id)))
}

/** The names of owners who can log in. */
export async function ownersWithoutFactor({ db }: Reading): Promise<string[]> {
  const withFactor = new Set(await listUsersWithFactor(db))
  const owners = (await listUsers(db)).filter(({ memberOf, password }) => memberOf === null && password !== null)
  return owners.filter(({ id }) => !withFactor.has(id)).map(({ name }) => name)
}

type Invited = { name: string; memberOf: string | null; role?: UserRow['role'] }

/** What an owner asks for in the dashboard. */
export function invitedBy({ name, tenant, role = 'member' }: InviteUser): Invited {
  if (role !== 'owner' && tenant !== undefined) return { name, memberOf: tenant, role }
  if (role === 'owner' && tenant === undefined) return { name, memberOf: null }
  throw apiError('invalid_request', { message: role === 'owner' ? 'tenant: An owner has none.' : 'tenant: Name the shop.' })
}

/** A member or viewer of one tenant, or an owner when `memberOf` is null. */
export async function inviteUser(deps: Deps, { name, memberOf, role }: Invited, actor: string): Promise<UserWithLink> {
  const names = new Map((await readTenants(deps.db)).map(tenant => [tenant.id, tenant.name]))
  if (memberOf !== null && !names.has(memberOf)) throw apiError('tenant_not_found')
  const user = draftUser(deps, { name, memberOf, role, password: null })
  const link = draftLink(deps, user.id, INVITATION_MS)
  const isNew = await deps.writeSettings(async tx => {
    if (!(await insertUser(tx, user))) return false
    await keepLink(tx, link)
    await deps.audit.append(tx, { ...entryAbout(user, deps.now(), actor), action: 'user.invited', details: detailsOf(user) })
    return true
  })
  if (!isNew) throw apiError('name_taken')
  return withLink(deps, presentUser(user, names, false), link)
}

/**
 * A link to choose a new password; until it is used the old one keeps working. `takesFactors`: for somebody who lost the second
 * factor too. The old password and all sessions end with the factors: the password alone must open nothing that needed both.
 */
export async function resetUser(deps: Deps, id: string, actor: string, { takesFactors = false } = {}): Promise<UserWithLink> {
  const user = await findUser(deps.db, id)
  if (!user) throw apiError('user_not_found')
  const names = new Map((await readTenants(deps.db)).map(tenant => [tenant.id, tenant.name]))
  const link = draftLink(deps, user.id, user.password === null ? INVITATION_MS : RESET_MS)
  const unknown = takesFactors ? await createPasswords().hash(newNonce(deps.random)) : ''
  const isThere = await deps.writeSettings(async tx => {
    const current = await lockUser(tx, id)
    if (!current) return false
    await keepLink(tx, link)
    if (takesFactors) {
      await takeFactors(tx, id)
      await deleteSessionsOf(tx, id)
      // A user who was invited has none yet, and joins with the link.
      if (current.password !== null) await setPassword(tx, id, unknown)
    }
    const details = { name: user.name, second_factors: takesFactors ? 'removed' : 'kept' }
    await deps.audit.append(tx, { ...entryAbout(user, deps.now(), actor), action: 'user.reset', details })
    return true
  })
  if (!isThere) throw apiError('user_not_found')
  return withLink(deps, presentUser(user, names, !takesFactors && (await hasFactor(deps.db, user))), link)
}

/** Makes an owner, or gives a role in the user's tenant. Only the command line unmakes owners. */
export async function changeRole(deps: Deps, id: string, role: Role, actor: string): Promise<User> {
  if (role === 'owner') return await assignRole(deps, id, { role }, actor)
  const names = new Map((await readTenants(deps.db)).map(tenant => [tenant.id, tenant.name]))
  const changed = await deps.writeSettings(async tx => {
    const user = await lockUser(tx, id)
    if (!user) throw apiError('user_not_found')
    if (user.memberOf === null) throw apiError('invalid_request', { message: 'An owner has no role in a tenant.' })
    return await keepRole(deps, tx, { ...user, role }, actor)
  })
  return presentUser(changed, names, await hasFactor(deps.db, changed))
}

/** Any role. The last owner who can log in stays one. */
export async function assignRole(deps: Deps, id: string, { role, memberOf }: Assigned, actor: string): Promise<User> {
  const names = new Map((await readTenants(deps.db)).map(tenant => [tenant.id, tenant.name]))
  const changed = await deps.writeSettings(async tx => {
    const user = await lockUser(tx, id)
    if (!user) throw apiError('user_not_found')
    const tenantId = role === 'owner' ? null : (memberOf ?? user.memberOf)
    if (role !== 'owner' && tenantId === null) throw apiError('invalid_request', { message: 'Name the tenant of the user.' })
    if (tenantId !== null && !names.has(tenantId)) throw apiError('tenant_not_found')
    const next = { ...user, memberOf: tenantId, role: role === 'owner' ? ('member' as const) : role }
    await keepRole(deps, tx, next, actor)
    if (role !== 'owner' && !(await hasOwner(tx))) throw apiError('last_owner')
    return next
  })
  return presentUser(changed, names, await hasFactor(deps.db, changed))
}

type Assigned = { role: Role; memberOf?: string }

async function keepRole(deps: Deps, tx: Db, user: UserRow, actor: string): Promise<UserRow> {
  await setRole(tx, user)
  // Mail is for owners.
  if (user.memberOf !== null) await deleteAddresses(tx, user.id)
  await deps.audit.append(tx, { ...entryAbout(user, deps.now(), actor), action: 'user.role_changed', details: detailsOf(user) })
  return user
}

export const findUserId = async ({ db }: Reading, name: string): Promise<string | undefined> =>
  (await findUserByName(db, name))?.id

/** One owner who can log in remains: users cannot remove themselves, nor two owners each other at once. */
export async function removeUser(deps: Deps, { user: own }: Visit, id: string, actor: string): Promise<void> {
  if (id === own.id) throw apiError('own_user')
  const removed = await deps.writeSettings(async tx => {
    const user = await lockUser(tx, id)
    if (!user) return false
    await takeFactors(tx, id)
    await deleteUser(tx, id)
    if (user.memberOf === null && !(await hasOwner(tx))) throw apiError('last_owner')
    await deps.audit.append(tx, { ...entryAbout(user, deps.now(), actor), action: 'user.removed' })
    return true
  })
  if (!removed) throw apiError('user_not_found')
}

const entryAbout = (user: UserRow, at: number, actor: string) => ({
  at,
  tenantId: tenantIdOf(user),
  actor,
  subjectId: user.id,
  details: { name: user.name },
})

const detailsOf = (user: UserRow) => ({ name: user.name, role: roleOf(user) })

const withLink = ({ config }: Configured, user: User, link: OneTimeLink): UserWithLink => ({
  user,
  url: passwordUrl(config.publicUrl, link),
  expires_at: isoUtc(link.row.expiresAt),
})
