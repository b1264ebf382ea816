import type { Db } from '../db/engine.ts'
import { apiError } from '../http/errors.ts'
import type { Deps } from './deps.ts'
import { refuseWeakPassword } from './password-rules.ts'
import type { Passwords } from './passwords.ts'
import { actorOf, draftSession, keepSession, tenantIdOf, type Visit } from './session.ts'
import {
  deleteLinksOf,
  deleteSessionsOf,
  findUserByName,
  lockUser,
  markAuthenticated,
  markLoggedIn,
  setPassword,
  type UserRow,
} from './store.ts'
import { admitAttempt, rememberNetwork } from './throttle.ts'

/** `client`: the network, as budgets count it. `agent`: the User-Agent header. */
export type Browser = { client: string; agent: string | null }

/** Unknown name, wrong password, none chosen yet: the same work and the same response. */
export async function logIn(
  deps: Deps,
  passwords: Passwords,
  { name, password }: { name: string; password: string },
  browser: Browser,
): Promise<Visit> {
  const account = name.trim().toLowerCase()
  const user = await findUserByName(deps.db, account)
  await provePassword(deps, passwords, { account, user, password, client: browser.client })
  return (user && (await beginSession(deps, user, browser))) ?? refuse()
}

function refuse(): never {
  throw apiError('login_failed')
}

/** Proves the password again within a session, for changes that need a fresh one. */
export async function reauthenticate(
  deps: Deps,
  passwords: Passwords,
  visit: Visit,
  password: string,
  client: string,
): Promise<Visit> {
  const { user, session } = visit
  await provePassword(deps, passwords, { account: user.name, user, password, client })
  const at = deps.now()
  await deps.write(tx => markAuthenticated(tx, session.hash, at))
  return { ...visit, session: { ...session, authenticatedAt: at } }
}

type Change = { password: string; new_password: string }

/** All sessions of the user end; this browser gets a new one. */
export async function changePassword(
  deps: Deps,
  passwords: Passwords,
  { user }: Visit,
  { password, new_password }: Change,
  browser: Browser,
): Promise<Visit> {
  refuseWeakPassword(new_password, user.name)
  await provePassword(deps, passwords, { account: user.name, user, password, client: browser.client })
  const kept = await passwords.hash(new_password)
  const visit = await beginSession(deps, user, browser, async tx => {
    await setPassword(tx, user.id, kept)
    await deleteSessionsOf(tx, user.id)
    // A link sent earlier must not undo the change.
    await deleteLinksOf(tx, user.id)
    await deps.audit.append(tx, {
      at: deps.now(),
      tenantId: tenantIdOf(user),
      actor: actorOf(user),
      action: 'user.password_changed',
      subjectId: user.id,
      details: { name: user.name },
    })
    return true
  })
  return visit ?? refuse()
}

type Proof = { account: string; user: UserRow | undefined; password: string; client: string }

async function provePassword(deps: Deps, passwords: Passwords, { password, user, ...attempt }: Proof): Promise<void> {
  const admission = await admitAttempt(deps, { ...attempt, user })
  let isRight: boolean
  try {
    isRight = await passwords.verify(password, user?.password ?? null, admission.count)
  } catch (error) {
    await admission.giveBack()
    throw error
  }
  if (!isRight) refuse()
  await admission.giveBack()
  await admission.forget()
}

/**
 * Starts the session of a user who proved their identity. `also` runs in the same transaction. No
 * session when it returns false, or when the user was removed or got another password meanwhile.
 */
export async function beginSession(
  deps: Deps,
  user: UserRow,
  { client, agent }: Browser,
  also: (tx: Db) => Promise<boolean> = async () => true,
): Promise<Visit | undefined> {
  const visit = draftSession(deps, user, agent)
  const at = deps.now()
  const isBegun = await deps.write(async tx => {
    const current = await lockUser(tx, user.id)
    if (!current || current.password !== user.password || !(await also(tx))) return false
    await keepSession(tx, visit)
    await markLoggedIn(tx, user.id, at)
    await rememberNetwork(deps, tx, user, client)
    await deps.audit.append(tx, {
      at,
      tenantId: tenantIdOf(user),
      actor: actorOf(user),
      action: 'user.logged_in',
      subjectId: user.id,
      details: { name: user.name },
    })
    return true
  })
  if (!isBegun) return undefined
  deps.networks.note(client)
  return visit
}
