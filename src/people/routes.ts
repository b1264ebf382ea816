import { Elysia } from 'elysia'
import {
  ChangePassword,
  ChoosePassword,
  Entrance,
  ItemPath,
  LogIn,
  Nothing,
  OneTimeLink,
  OneTimeLinkState,
  OpenSessions,
  Reauthenticate,
  Session,
  SetUp,
} from '../dashboard/schema.ts'
import { traceOf } from '../http/plugin.ts'
import { errorResponses } from '../http/schema.ts'
import { clearedCookie, cookieFor } from './cookie.ts'
import type { Deps } from './deps.ts'
import { guard } from './guard.ts'
import { choosePassword, readLink } from './links.ts'
import { type Browser, changePassword, logIn, reauthenticate } from './login.ts'
import { acceptsPasswords } from './origin.ts'
import { createPasswords } from './passwords.ts'
import { endAllSessions, endSession, presentSession, readSessions, type Visit } from './session.ts'
import { needsSetup, setUp } from './setup.ts'

type Answer = { headers: Record<string, string | number> }

/** Coming in, and the session one has then. */
export const entranceRoutes = (deps: Deps) => {
  const { config } = deps
  const passwords = createPasswords()

  const browserOf = (request: Request): Browser => ({
    client: traceOf(request).client,
    agent: request.headers.get('user-agent'),
  })

  async function welcome(visit: Visit, set: Answer): Promise<Session> {
    set.headers['set-cookie'] = cookieFor(config, visit.cookie)
    return await presentSession(deps, visit)
  }

  function goodbye(set: Answer): Record<never, never> {
    set.headers['set-cookie'] = clearedCookie(config)
    return {}
  }

  return new Elysia()
    .use(guard(deps))
    .get(
      '/entrance',
      async ({ request }) => ({
        needs_setup: await needsSetup(deps),
        accepts_passwords: acceptsPasswords(config, request),
      }),
      { stranger: true, response: { 200: Entrance, ...errorResponses(403, 429, 500) } },
    )
    .post('/link', ({ body }) => readLink(deps, body.token), {
      stranger: true,
      body: OneTimeLink,
      response: { 200: OneTimeLinkState, ...errorResponses(400, 403, 404, 413, 429, 500) },
    })
    .post(
      '/setup',
      async ({ request, body, set, status }) =>
        status(201, await welcome(await setUp(deps, passwords, body, browserOf(request)), set)),
      { stranger: true, body: SetUp, response: { 201: Session, ...errorResponses(400, 403, 404, 409, 413, 429, 500) } },
    )
    .post(
      '/choose-password',
      async ({ request, body, set }) => welcome(await choosePassword(deps, passwords, body, browserOf(request)), set),
      { stranger: true, body: ChoosePassword, response: { 200: Session, ...errorResponses(400, 403, 404, 413, 429, 500) } },
    )
    .post('/login', async ({ request, body, set }) => welcome(await logIn(deps, passwords, body, browserOf(request)), set), {
      stranger: true,
      body: LogIn,
      response: { 200: Session, ...errorResponses(400, 401, 403, 413, 429, 500) },
    })
    .get('/session', ({ visit }) => presentSession(deps, visit), {
      user: { who: 'anyone' },
      response: { 200: Session, ...errorResponses(401, 403, 429, 500) },
    })
    .post(
      '/logout',
      async ({ visit, set }) => {
        await endSession(deps, visit, visit.session.id)
        return goodbye(set)
      },
      {
        user: { who: 'anyone' },
        body: Nothing,
        response: { 200: Nothing, ...errorResponses(400, 401, 403, 404, 413, 429, 500) },
      },
    )
    .post(
      '/reauthenticate',
      async ({ request, visit, body }) =>
        presentSession(deps, await reauthenticate(deps, passwords, visit, body.password, browserOf(request).client)),
      {
        user: { who: 'anyone' },
        body: Reauthenticate,
        response: { 200: Session, ...errorResponses(400, 401, 403, 413, 429, 500) },
      },
    )
    .post(
      '/password',
      async ({ request, visit, body, set }) =>
        welcome(await changePassword(deps, passwords, visit, body, browserOf(request)), set),
      {
        user: { who: 'anyone' },
        body: ChangePassword,
        response: { 200: Session, ...errorResponses(400, 401, 403, 413, 429, 500) },
      },
    )
    .get('/sessions', ({ visit }) => readSessions(deps, visit), {
      user: { who: 'anyone' },
      response: { 200: OpenSessions, ...errorResponses(401, 403, 429, 500) },
    })
    .delete(
      '/sessions/:id',
      async ({ visit, params }) => {
        await endSession(deps, visit, params.id)
        return {}
      },
      {
        user: { who: 'anyone' },
        params: ItemPath,
        body: Nothing,
        response: { 200: Nothing, ...errorResponses(400, 401, 403, 404, 413, 429, 500) },
      },
    )
    .delete(
      '/sessions',
      async ({ visit, set }) => {
        await endAllSessions(deps, visit)
        return goodbye(set)
      },
      { user: { who: 'anyone' }, body: Nothing, response: { 200: Nothing, ...errorResponses(400, 401, 403, 413, 429, 500) } },
    )
}
