import { sha256Hex } from '../../base/hash.ts'
import { newNonce } from '../../base/ids.ts'
import { isoUtc } from '../../base/time.ts'
import type { Db } from '../../db/engine.ts'
import { apiError } from '../../http/errors.ts'
import { readBrowser } from '../cookie.ts'
import type { Deps } from '../deps.ts'
import {
  deleteChallenge,
  deleteTicketsOf,
  findPasskey,
  insertChallenge,
  isFactorRequired,
  takeAttempt,
} from '../factors/factor-store.ts'
import { askPasskey, checkPasskey } from '../factors/passkeys.ts'
import { findProof, type Given, hasFactor, type Proof } from '../factors/proofs.ts'
import type { HalfLogin, PasskeyAnswer, PasskeyRequest } from '../security-schema.ts'
import { actorOf, draftSession, keepSession, tenantIdOf, type Visit } from '../session.ts'
import {
  deleteLinksOf,
  deleteSessionsOf,
  findUser,
  findUserByName,
  lockUser,
  markAuthenticated,
  markLoggedIn,
  setPassword,
  type UserRow,
} from '../store.ts'
import { refuseWeakPassword } from './password-rules.ts'
import type { Passwords } from './passwords.ts'
import { type Browser, type Failure, type Method, recordFailure, recordSignIn } from './sign-ins.ts'
import { admitAttempt, rememberNetwork, UNCOUNTED } from './throttle.ts'

export type { Browser }

const TICKET_MS = 300_000
const ATTEMPTS_PER_TICKET_MAX = 5

/** A session, or the question for a second factor. */
export type LogIn = { visit: Visit } | { half: HalfLogin }

/** Unknown name, wrong password, none chosen yet: the same work and the same response. */
export async function logIn(
  deps: Deps,
  passwords: Passwords,
  { name, password }: { name: string; password: string },
  browser: Browser,
): Promise<LogIn> {
  const account = name.trim().toLowerCase()
  const user = await findUserByName(deps.db, account)
  await provePassword(deps, passwords, { account, user, password, browser, known: knownBrowser(deps, user, browser) })
  return (user && (await finish(deps, user, browser, 'password'))) ?? refuse()
}

/** A browser that the user logged in with before has a budget of its own. */
function knownBrowser(deps: Deps, user: UserRow | undefined, { cookies }: Browser): readonly string[] | undefined {
  const id = readBrowser(deps, cookies, user)
  return id === undefined || user === undefined ? undefined : [`browser ${id} ${user.id}`]
}

/** An open session has one too, and shares another with the user's other sessions. */
const openSession = ({ user, session }: Visit): readonly string[] => [`session ${session.id}`, `user ${user.id}`]

/** Ends a log-in after the first proof, or asks for the second factor of a user who has one. */
export async function finish(
  deps: Deps,
  user: UserRow,
  browser: Browser,
  method: Method,
  also?: (tx: Db) => Promise<boolean>,
): Promise<LogIn | undefined> {
  if (!(await hasFactor(deps.db, user))) {
    const visit = await beginSession(deps, user, browser, { method, also })
    return visit && { visit }
  }
  const half = await askSecondFactor(deps, user, browser, also)
  return half && { half }
}

/** Undefined when the password was changed meanwhile. */
async function askSecondFactor(
  deps: Deps,
  user: UserRow,
  { origin }: Browser,
  also: (tx: Db) => Promise<boolean> = async () => true,
): Promise<HalfLogin | undefined> {
  const ticket = newNonce(deps.random)
  const expiresAt = deps.now() + TICKET_MS
  const row = {
    hash: sha256Hex(ticket),
    purpose: 'second_factor' as const,
    userId: user.id,
    challenge: '',
    failures: 0,
    expiresAt,
  }
  const isAsked = await deps.write(async tx => {
    if (!(await isUnchanged(tx, user)) || !(await also(tx))) return false
    await insertChallenge(tx, row)
    return true
  })
  if (!isAsked) return undefined
  const passkey = await askPasskey(deps, { purpose: 'second_factor', user }, origin)
  return { ticket, expires_at: isoUtc(expiresAt), has_codes: user.totpSince !== null, passkey: passkey ?? null }
}

/** The second step. Attempts are counted per ticket, and per user like wrong passwords. */
export async function completeLogIn(
  deps: Deps,
  { ticket, ...given }: { ticket: string } & Given,
  browser: Browser,
): Promise<Visit> {
  const hash = sha256Hex(ticket)
  const limits = { now: deps.now(), attemptsMax: ATTEMPTS_PER_TICKET_MAX }
  const challenge = await deps.write(tx => takeAttempt(tx, hash, limits))
  const user = challenge && (await findUser(deps.db, challenge.userId ?? ''))
  if (!user) throw apiError('login_expired')
  const proof = await findProof(deps, user, given, 'second_factor')
  const admission = await admitProof(deps, user, proof, browser.client, knownBrowser(deps, user, browser))
  const also = async (tx: Db) => (await proof!.spend(tx)) && (await deleteChallenge(tx, hash))
  const visit = proof && (await beginSession(deps, user, browser, { method: `password+${proof.method}`, also }))
  if (!visit) return await fail(deps, { name: user.name, user, outcome: 'wrong_second_factor', method: 'second factor', browser })
  await admission.giveBack()
  await admission.forget()
  return visit
}

/**
 * Second factors have their own waits: a right password, which somebody else may know, resets only those of the password.
 * A right passkey waits for nothing, because nobody guesses one.
 */
async function admitProof(deps: Deps, user: UserRow, proof: Proof | undefined, client: string, known?: readonly string[]) {
  if (proof?.method === 'passkey') return UNCOUNTED
  const admission = await admitAttempt(deps, { account: `${user.name}\0second factor`, user, client, known })
  try {
    await admission.count()
  } catch (error) {
    await admission.giveBack()
    throw error
  }
  return admission
}

export async function askPasskeyLogIn(deps: Deps, { origin }: Browser): Promise<PasskeyRequest> {
  const request = await askPasskey(deps, { purpose: 'passkey_sign_in' }, origin)
  if (!request) throw apiError('passkey_unavailable')
  return request
}

/** A passkey alone: it proves both the device and its user. */
export async function logInByPasskey(deps: Deps, answer: PasskeyAnswer, browser: Browser): Promise<Visit> {
  const row = await findPasskey(deps.db, answer.id)
  const user = row && (await findUser(deps.db, row.userId))
  const proven = row && (await checkPasskey(deps, { purpose: 'passkey_sign_in', userId: '' }, row, answer))
  // Strangers' wrong answers must not keep a right one out.
  const admission = proven ? UNCOUNTED : await admitAttempt(deps, { account: '', user, client: browser.client })
  const isActive = user !== undefined && user.password !== null
  const visit = proven && isActive && (await beginSession(deps, user, browser, { method: 'passkey', also: proven.spend }))
  if (!visit) return await fail(deps, { name: user?.name ?? '', user, outcome: 'wrong_passkey', method: 'passkey', browser })
  await admission.giveBack()
  return visit
}

function refuse(): never {
  throw apiError('login_failed')
}

async function fail(deps: Deps, refused: Parameters<typeof recordFailure>[1]): Promise<never> {
  await recordFailure(deps, refused)
  throw apiError(CODES[refused.outcome])
}

const CODES = {
  unknown_name: 'login_failed',
  wrong_password: 'login_failed',
  wrong_second_factor: 'second_factor_failed',
  wrong_passkey: 'passkey_failed',
} as const satisfies Record<Failure, string>

/** Proves the identity again within a session, for acts that need a fresh proof. */
export async function reauthenticate(
  deps: Deps,
  passwords: Passwords,
  visit: Visit,
  { password, ...given }: { password?: string } & Given,
  browser: Browser,
): Promise<Visit> {
  const { user, session } = visit
  const at = deps.now()
  if (password !== undefined) {
    await provePassword(deps, passwords, { account: user.name, user, password, browser, known: openSession(visit) })
    await deps.write(tx => markAuthenticated(tx, session.hash, at))
  } else await confirmByFactor(deps, visit, given, browser)
  return { ...visit, session: { ...session, authenticatedAt: at } }
}

async function confirmByFactor(deps: Deps, visit: Visit, given: Given, browser: Browser): Promise<void> {
  const { user, session } = visit
  const proof = await findProof(deps, user, given, 'confirm')
  const admission = await admitProof(deps, user, proof, browser.client, openSession(visit))
  // A recovery code is for somebody who lost everything else.
  const isRight =
    proof !== undefined &&
    proof.method !== 'recovery_code' &&
    (await deps.write(async tx => {
      if (!(await proof.spend(tx))) return false
      await markAuthenticated(tx, session.hash, deps.now())
      return true
    }))
  if (!isRight)
    return await fail(deps, { name: user.name, user, outcome: 'wrong_second_factor', method: 'second factor', browser })
  await admission.giveBack()
  await admission.forget()
}

type Change = { password: string; new_password: string }

/** All sessions of the user end; this browser gets a new one. */
export async function changePassword(
  deps: Deps,
  passwords: Passwords,
  visit: Visit,
  { password, new_password }: Change,
  browser: Browser,
): Promise<Visit> {
  const { user } = visit
  await refuseWeakPassword(new_password, user.name)
  await provePassword(deps, passwords, { account: user.name, user, password, browser, known: openSession(visit) })
  const kept = await passwords.hash(new_password)
  const also = async (tx: Db) => {
    await setPassword(tx, user.id, kept)
    await deleteSessionsOf(tx, user.id)
    // A link sent earlier must not undo the change, nor may a log-in with the old password go on.
    await deleteLinksOf(tx, user.id)
    await deleteTicketsOf(tx, user.id)
    await deps.audit.append(tx, {
      at: deps.now(),
      tenantId: tenantIdOf(user),
      actor: actorOf(user),
      action: 'user.password_changed',
      subjectId: user.id,
      details: { name: user.name },
    })
    return true
  }
  return (await beginSession(deps, user, browser, { method: 'password', also })) ?? refuse()
}

type Typed = { account: string; user: UserRow | undefined; password: string; browser: Browser; known?: readonly string[] }

async function provePassword(
  deps: Deps,
  passwords: Passwords,
  { account, user, password, browser, known }: Typed,
): Promise<void> {
  const admission = await admitAttempt(deps, { account, user, client: browser.client, known })
  let isRight: boolean
  try {
    isRight = await passwords.verify(password, user?.password ?? null, admission.count)
  } catch (error) {
    await admission.giveBack()
    throw error
  }
  const outcome = user ? 'wrong_password' : 'unknown_name'
  if (!isRight) return await fail(deps, { name: account, user, outcome, method: 'password', browser })
  await admission.giveBack()
  await admission.forget()
}

type Beginning = { method: Method; also?: (tx: Db) => Promise<boolean> }

/**
 * Starts the session of a user who proved their identity. `also` runs in the same transaction. No
 * session when it returns false, or when the user was removed or got another password meanwhile.
 */
export async function beginSession(
  deps: Deps,
  user: UserRow,
  browser: Browser,
  { method, also = async () => true }: Beginning,
): Promise<Visit | undefined> {
  const isFactorMissing = (await isFactorRequired(deps.db)) && !(await hasFactor(deps.db, user))
  const visit = { ...draftSession(deps, user, browser.agent), isFactorMissing }
  return await deps.write(async tx => {
    if (!(await isUnchanged(tx, user)) || !(await also(tx))) return undefined
    await keepSession(tx, visit)
    await markLoggedIn(tx, user.id, deps.now())
    await rememberNetwork(deps, tx, user, browser.client)
    await recordSignIn(deps, tx, user, method, browser)
    // `also` may have set another password.
    return { ...visit, user: (await lockUser(tx, user.id)) ?? user }
  })
}

/** Locks the user's row. */
const isUnchanged = async (tx: Db, { id, password }: UserRow): Promise<boolean> => {
  const current = await lockUser(tx, id)
  return current !== undefined && current.password === password
}
