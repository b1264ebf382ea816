// The part of the model about log-ins. Nothing is computed here that the service makes: codes, tokens and the name of the person
// are learned.
import {
  addSession,
  type Client,
  cancelOpen,
  expireFetched,
  forget,
  HOUR,
  type Login,
  MINUTE,
  type Model,
  Refusal,
  SECOND,
  type Session,
  spendCode,
  statusOf,
} from './model.ts'

const LOGIN_SECONDS = 600
const CODE_MS = MINUTE
const TOKEN_MS = 600 * SECOND

export type LoginSession = Session & { login: Login }

export const loginsOf = ({ sessions }: Model): LoginSession[] =>
  sessions.filter((session): session is LoginSession => session.login !== undefined)

/** The quota that is used up is no refusal with a status here: the browser goes back to the client with it. */
export function begin(model: Model, client: Client): LoginSession {
  if (client.isRemoved) throw new Refusal('unknown_client')
  const key = model.keys.find(({ environment }) => environment === client.environment)!
  const asked = { template: 'age_over_18', ttlSeconds: LOGIN_SECONDS, ...(client.isSameDevice && { release: true as const }) }
  const login = { client, hasReturned: false, code: undefined, token: undefined, sub: undefined }
  return Object.assign(addSession(model, { kind: 'key', key }, asked), { login })
}

export type Returned = 'code' | 'access_denied'

/** Back from the wallet with a response code, or without one: the customer gave up. */
export function comeBack(model: Model, session: LoginSession, code: string | undefined): Returned {
  const { login } = session
  const notFound = new Refusal('login_not_found')
  if (session.isErased || login.client.isRemoved || login.hasReturned) throw notFound
  const status = statusOf(model, session)
  if (status === 'failed' || status === 'expired') return returned(login, 'access_denied')
  if (code !== undefined) {
    if (!spendCode(model, session, code)) throw notFound
    login.code = { secret: '', expiresAt: model.now + CODE_MS, isSpent: false }
    return returned(login, 'code')
  }
  if (session.respondedAt !== undefined) throw notFound
  cancelOpen(model, session)
  return returned(login, 'access_denied')
}

function returned(login: Login, answer: Returned): Returned {
  login.hasReturned = true
  return answer
}

/** A code ends with its first use, whatever comes of it; a second one ends the token. */
export function exchange(model: Model, { login, isErased }: LoginSession, isRight: boolean): void {
  const { client, code } = login
  if (client.isRemoved) throw new Refusal('invalid_client')
  if (isErased || !code) throw new Refusal('invalid_grant')
  if (code.isSpent) {
    if (login.token) login.token.isRevoked = true
    model.audited++
    throw new Refusal('invalid_grant')
  }
  code.isSpent = true
  if (!isRight || code.expiresAt <= model.now) throw new Refusal('invalid_grant')
  login.token = { secret: '', expiresAt: model.now + TOKEN_MS, isRevoked: false }
  model.audited++
}

export function readUserinfo({ now }: Model, { login, isErased }: LoginSession): void {
  const { token, client } = login
  const isGood = token && !token.isRevoked && token.expiresAt > now
  if (isErased || client.isRemoved || !isGood) throw new Refusal('invalid_token')
}

function endOf(model: Model, session: Session): number {
  if (session.outcome) return session.endedAt!
  return statusOf(model, session) === 'expired' ? session.expiresAt : Number.POSITIVE_INFINITY
}

/** An hour after its end a log-in is erased. */
export function forgetPast(model: Model): LoginSession[] {
  if (model.keepsLogins) return []
  const past = loginsOf(model).filter(session => !session.isErased && endOf(model, session) + HOUR <= model.now)
  // The sweep before it.
  if (past.length > 0) expireFetched(model)
  for (const session of past) forget(model, session)
  return past
}
