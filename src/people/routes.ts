import { Elysia, type HTTPHeaders, status } from 'elysia'
import { traceOf } from '../http/plugin.ts'
import { errorResponses } from '../http/schema.ts'
import { ItemPath, Nothing } from '../http/wire.ts'
import { browserCookieFor, clearedCookie, cookieFor } from './cookie.ts'
import type { Deps } from './deps.ts'
import { askPasskey, passkeySite } from './factors/passkeys.ts'
import { guard } from './guard.ts'
import {
  askPasskeyLogIn,
  type Browser,
  changePassword,
  completeLogIn,
  type LogIn,
  logIn,
  logInByPasskey,
  reauthenticate,
} from './log-in/login.ts'
import { createPasswords } from './log-in/passwords.ts'
import { acceptsPasswords } from './origin.ts'
import {
  ChangePassword,
  ChangeRole,
  ChoosePassword,
  Entrance,
  InviteUser,
  LogIn as LogInBody,
  OneTimeLink,
  OneTimeLinkState,
  OpenSessions,
  Reauthenticate,
  Session,
  SetUp,
  User,
  UserLink,
  UserList,
} from './schema.ts'
import { securityRoutes } from './security-routes.ts'
import { CompleteLogin, Confirmation, HalfLogin, PasskeyLogin, PasskeyRequest } from './security-schema.ts'
import { actorOf, endAllSessions, endSession, presentSession, readSessions, type Visit } from './session.ts'
import { choosePassword, readLink } from './users/links.ts'
import { needsSetup, setUp } from './users/setup.ts'
import { changeRole, invitedBy, inviteUser, readUsers, removeUser, resetUser } from './users/users.ts'

const READ = errorResponses(401, 403, 429, 500)
const CHANGED = errorResponses(400, 401, 403, 404, 409, 413, 429, 500)

type Answer = { headers: HTTPHeaders }

/** Log-in, the caller's own sessions, and the users of the installation. */
export const peopleRoutes = (deps: Deps) => {
  const { config } = deps
  const passwords = createPasswords()

  const browserOf = (request: Request): Browser => ({
    client: traceOf(request).client,
    address: traceOf(request).address,
    agent: request.headers.get('user-agent'),
    origin: request.headers.get('origin'),
    cookies: request.headers.get('cookie'),
  })

  async function startSession(visit: Visit, set: Answer): Promise<Session> {
    set.headers['set-cookie'] = [cookieFor(config, visit.cookie), browserCookieFor(deps, visit.user)]
    return await presentSession(deps, visit)
  }

  /** 202: the second factor is missing. */
  const answer = async (begun: LogIn, set: Answer) =>
    'half' in begun ? status(202, begun.half) : await startSession(begun.visit, set)

  function clearCookie(set: Answer): Record<never, never> {
    set.headers['set-cookie'] = clearedCookie(config)
    return {}
  }

  return new Elysia()
    .use(guard(deps))
    .use(securityRoutes(deps))
    .get(
      '/entrance',
      async ({ request }) => ({
        needs_setup: await needsSetup(deps),
        accepts_passwords: acceptsPasswords(config, request),
        passkey_origin: passkeySite(config)?.origin ?? null,
      }),
      { stranger: true, response: { 200: Entrance, ...READ } },
    )
    .post('/link', ({ body }) => readLink(deps, body.token), {
      stranger: true,
      body: OneTimeLink,
      response: { 200: OneTimeLinkState, ...CHANGED },
    })
    .post(
      '/setup',
      async ({ request, body, set }) =>
        status(201, await startSession(await setUp(deps, passwords, body, browserOf(request)), set)),
      { stranger: true, body: SetUp, response: { 201: Session, ...CHANGED } },
    )
    .post(
      '/choose-password',
      async ({ request, body, set }) => answer(await choosePassword(deps, passwords, body, browserOf(request)), set),
      { stranger: true, body: ChoosePassword, response: { 200: Session, 202: HalfLogin, ...CHANGED } },
    )
    .post('/login', async ({ request, body, set }) => answer(await logIn(deps, passwords, body, browserOf(request)), set), {
      stranger: true,
      body: LogInBody,
      response: { 200: Session, 202: HalfLogin, ...CHANGED },
    })
    .post(
      '/login/second-factor',
      async ({ request, body, set }) => startSession(await completeLogIn(deps, body, browserOf(request)), set),
      { stranger: true, body: CompleteLogin, response: { 200: Session, ...CHANGED } },
    )
    .post('/login/passkey/challenge', ({ request }) => askPasskeyLogIn(deps, browserOf(request)), {
      stranger: true,
      body: Nothing,
      response: { 200: PasskeyRequest, ...CHANGED },
    })
    .post(
      '/login/passkey',
      async ({ request, body, set }) => startSession(await logInByPasskey(deps, body.passkey, browserOf(request)), set),
      { stranger: true, body: PasskeyLogin, response: { 200: Session, ...CHANGED } },
    )
    .get('/session', ({ visit }) => presentSession(deps, visit), {
      user: { who: 'anyone', own: true },
      response: { 200: Session, ...READ },
    })
    .post(
      '/logout',
      async ({ visit, set }) => {
        await endSession(deps, visit, visit.session.id)
        return clearCookie(set)
      },
      {
        user: { who: 'anyone', own: true },
        body: Nothing,
        response: { 200: Nothing, ...CHANGED },
      },
    )
    .post(
      '/reauthenticate',
      async ({ request, visit, body }) =>
        presentSession(deps, await reauthenticate(deps, passwords, visit, body, browserOf(request))),
      {
        user: { who: 'anyone', own: true },
        body: Reauthenticate,
        response: { 200: Session, ...CHANGED },
      },
    )
    .post(
      '/reauthenticate/challenge',
      async ({ request, visit }) => ({
        has_codes: visit.user.totpSince !== null,
        passkey: (await askPasskey(deps, { purpose: 'confirm', user: visit.user }, browserOf(request).origin)) ?? null,
      }),
      { user: { who: 'anyone', own: true }, body: Nothing, response: { 200: Confirmation, ...CHANGED } },
    )
    .post(
      '/password',
      async ({ request, visit, body, set }) =>
        startSession(await changePassword(deps, passwords, visit, body, browserOf(request)), set),
      {
        user: { who: 'anyone', own: true },
        body: ChangePassword,
        response: { 200: Session, ...CHANGED },
      },
    )
    .get('/sessions', ({ visit }) => readSessions(deps, visit), {
      user: { who: 'anyone', own: true },
      response: { 200: OpenSessions, ...READ },
    })
    .delete(
      '/sessions/:id',
      async ({ visit, params }) => {
        await endSession(deps, visit, params.id)
        return {}
      },
      {
        user: { who: 'anyone', own: true },
        params: ItemPath,
        body: Nothing,
        response: { 200: Nothing, ...CHANGED },
      },
    )
    .delete(
      '/sessions',
      async ({ visit, set }) => {
        await endAllSessions(deps, visit)
        return clearCookie(set)
      },
      { user: { who: 'anyone', own: true }, body: Nothing, response: { 200: Nothing, ...CHANGED } },
    )
    .get('/users', async () => ({ data: await readUsers(deps) }), {
      user: { who: 'owner' },
      response: { 200: UserList, ...READ },
    })
    .post('/users', async ({ visit, body }) => status(201, await inviteUser(deps, invitedBy(body), actorOf(visit.user))), {
      user: { who: 'owner', fresh: true },
      body: InviteUser,
      response: { 201: UserLink, ...CHANGED },
    })
    .put('/users/:id/role', ({ visit, params, body }) => changeRole(deps, params.id, body.role, actorOf(visit.user)), {
      user: { who: 'owner', fresh: true },
      params: ItemPath,
      body: ChangeRole,
      response: { 200: User, ...CHANGED },
    })
    .post('/users/:id/reset', ({ visit, params }) => resetUser(deps, params.id, actorOf(visit.user)), {
      user: { who: 'owner', fresh: true },
      params: ItemPath,
      body: Nothing,
      response: { 200: UserLink, ...CHANGED },
    })
    .delete(
      '/users/:id',
      async ({ visit, params }) => {
        await removeUser(deps, visit, params.id, actorOf(visit.user))
        return {}
      },
      { user: { who: 'owner', fresh: true }, params: ItemPath, body: Nothing, response: { 200: Nothing, ...CHANGED } },
    )
}
