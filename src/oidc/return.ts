// The way back: the browser that began the log-in brings the response code of its answer, and gets the code for the client.
import { Type } from '@sinclair/typebox'
import { equalConstantTime, sha256Hex } from '../base/hash.ts'
import { newNonce } from '../base/ids.ts'
import { SEALED } from '../db/sealed-columns.ts'
import { readBody } from '../http/body.ts'
import { ApiError, apiError } from '../http/errors.ts'
import { traceOf } from '../http/plugin.ts'
import { Text } from '../http/schema.ts'
import { Exactly } from '../http/wire.ts'
import { cancelVerification } from '../verifications/end/cancel.ts'
import { redeem } from '../verifications/end/redeem.ts'
import { refuseForeign } from '../verifications/page/page-owner.ts'
import { type OpenedSession, openOne } from '../verifications/read.ts'
import { recordEvent, recordLogin } from '../verifications/timeline.ts'
import { clientOf, cookieName } from './authorize.ts'
import { type ClientRow, type Issuer, markLoggedIn } from './client-store.ts'
import type { Deps } from './deps.ts'
import { endLogin, findLogin, type LoginRow } from './login-store.ts'
import { issuerOf } from './present.ts'
import { type LoginRequest, withAnswer } from './request.ts'
import { subjectOf } from './subject.ts'

const CODE_MS = 60_000
const LAST_LOGIN_EVERY_MS = 60_000

const ReturnBody = Exactly({ response_code: Type.Optional(Text({ minLength: 1, maxLength: 512 })) })

/** Why nobody logged in, in words for the client's log. The verdict itself is the shop's to see. */
const REASONS: Record<string, string> = {
  wallet_declined: 'declined: the customer chose not to share, or has no such document',
  wallet_error: 'wallet_error: the wallet could not answer',
  cancelled: 'cancelled: the customer went back',
  expired: 'expired: nobody answered in time',
  redirect_not_followed: 'expired: the customer did not come back in time',
}
const NOT_ACCEPTED = 'not_accepted: what was presented does not prove what was asked'

type Returning = { issuer: Issuer; client: ClientRow; login: LoginRow; opened: OpenedSession }

export async function returnToClient(deps: Deps, issuer: Issuer, id: string, request: Request): Promise<{ location: string }> {
  refuseForeign(deps.config, request)
  const { response_code: code } = await readBody(request, ReturnBody)
  const login = await findLogin(deps.db, id.slice(0, 64))
  const client = await clientOf(deps, issuer, login?.clientId)
  // A removed client ends its log-ins.
  if (!login || !client || !isBrowserOf(deps, login, request) || login.endedAt !== null) throw apiError('login_not_found')
  const opened = await openOne(deps, issuer, login.verificationId)
  if (!opened) throw apiError('login_not_found')
  const returning = { issuer, client, login, opened }
  const { status, result } = opened
  const { id: requestId } = traceOf(request)
  const actor = `client ${client.name}`
  if (status === 'failed' || status === 'expired') return await refuse(deps, returning, result.error?.code ?? status)
  try {
    if (code !== undefined) return await issueCode(deps, returning, { code, actor, requestId })
    // The customer gave up.
    const { error } = await cancelVerification(deps, issuer, login.verificationId, { actor, requestId })
    return await refuse(deps, returning, error?.code ?? 'cancelled')
  } catch (error) {
    // Answered, without the code of the answer; or a code that is wrong or spent.
    const isRefusal = error instanceof ApiError && LOST.includes(error.code)
    throw isRefusal ? apiError('login_not_found', { cause: error }) : error
  }
}

const LOST: readonly string[] = ['invalid_response_code', 'session_already_responded', 'session_expired', 'session_not_found']

function isBrowserOf(deps: Deps, { browserHash }: LoginRow, { headers }: Request): boolean {
  const secret = new RegExp(`(?:^|; *)${cookieName(deps)}=([\\w-]{43})(?:;|$)`).exec(headers.get('cookie') ?? '')?.[1]
  return secret !== undefined && equalConstantTime(sha256Hex(secret), browserHash)
}

type Redeemed = { code: string; actor: string; requestId: string }

/** Redeems the answer and makes the code in one write: after a kill in between, neither has happened. */
async function issueCode(deps: Deps, returning: Returning, { code, actor, requestId }: Redeemed): Promise<{ location: string }> {
  const { issuer, client, login, opened } = returning
  const { session, sessionKey, result } = opened
  const at = deps.now()
  const made = newNonce(deps.random)
  let isRefused = false
  await redeem(deps, issuer, login.verificationId, {
    code,
    actor,
    requestId,
    alongside: async tx => {
      const sub = await subjectOf(deps, tx, { issuer, login, session, result })
      isRefused = sub === undefined
      const sealedSub = () => deps.sealer.seal(SEALED.loginSub(login, login.salt, sessionKey), sub!)
      const issued = isRefused ? {} : { codeHash: sha256Hex(made), codeExpiresAt: at + CODE_MS, sealedSub: sealedSub() }
      if (!(await endLogin(tx, login, at, issued))) throw apiError('login_not_found')
      await recordEvent(deps, tx, session, 'login_returned', {})
      if (isRefused) return void (await recordEvent(deps, tx, session, 'login_refused', { reason: 'subject_missing' }))
      if (at - (client.lastLoginAt ?? 0) >= LAST_LOGIN_EVERY_MS) await markLoggedIn(tx, client.id, at)
      await recordEvent(deps, tx, session, 'code_issued', { client: client.id })
    },
  })
  const answer = isRefused ? DENIED(NOT_ACCEPTED) : { code: made }
  return await locationOf(deps, returning, answer, isRefused ? 'refused' : 'returned')
}

/** Tells the client that nobody logged in. */
async function refuse(deps: Deps, returning: Returning, code: string): Promise<{ location: string }> {
  const { issuer, login } = returning
  const reason = REASONS[code] ?? NOT_ACCEPTED
  const at = deps.now()
  await deps.write(async tx => {
    if (!(await endLogin(tx, login, at))) throw apiError('login_not_found')
    const session = { id: login.verificationId, ...issuer }
    await recordLogin(deps, tx, session, 'login_refused', { reason: reason.split(':', 1)[0]! })
  })
  return await locationOf(deps, returning, DENIED(reason), 'refused')
}

const DENIED = (reason: string) => ({ error: 'access_denied', error_description: reason })

async function locationOf(deps: Deps, { issuer, login, opened }: Returning, answer: Record<string, string>, outcome: string) {
  const { environment } = issuer
  deps.metrics.count('vidimus_oidc_logins_total', { environment, outcome })
  const { redirect_uri, state } = openRequest(deps, login, opened)
  return { location: withAnswer(redirect_uri, issuerOf(deps.config, issuer), { ...answer, state }) }
}

export const openRequest = ({ sealer }: Deps, login: LoginRow, { sessionKey }: OpenedSession): LoginRequest =>
  JSON.parse(sealer.open(SEALED.login(login, login.salt, sessionKey), login.sealed))
