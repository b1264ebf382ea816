import { Elysia } from 'elysia'
import { errorResponses } from '../http/schema.ts'
import { ItemPath, Nothing } from '../http/wire.ts'
import { guard } from '../people/guard.ts'
import { OneTimeLink } from '../people/schema.ts'
import { confirmAddress, removeAddress } from '../people/users/addresses.ts'
import type { Deps } from './deps.ts'
import { askToConfirm, mailLink, readMailSettings, sendTest } from './mail.ts'
import { MailAddress, MailLink, MailSent, MailSettings } from './schema.ts'

const READ = errorResponses(401, 403, 429, 500)
const CHANGED = errorResponses(400, 401, 403, 404, 409, 413, 429, 500)

/** Where owners get mail, and mail that they send by hand. */
export const mailRoutes = (deps: Deps) =>
  new Elysia()
    .use(guard(deps))
    .get('/mail', ({ visit }) => readMailSettings(deps, visit), {
      user: { who: 'owner' },
      response: { 200: MailSettings, ...READ },
    })
    .put('/mail/address', ({ visit, body }) => askToConfirm(deps, visit, body), {
      user: { who: 'owner', fresh: true },
      body: MailAddress,
      response: { 200: MailSent, ...CHANGED },
    })
    .delete(
      '/mail/address',
      async ({ visit }) => {
        await removeAddress(deps, visit)
        return {}
      },
      { user: { who: 'owner', fresh: true }, body: Nothing, response: { 200: Nothing, ...CHANGED } },
    )
    .post('/mail/test', ({ visit }) => sendTest(deps, visit), {
      user: { who: 'owner' },
      body: Nothing,
      response: { 200: MailSent, ...CHANGED },
    })
    .post(
      '/mail/confirm',
      async ({ body }) => {
        await confirmAddress(deps, body.token)
        return {}
      },
      { stranger: true, body: OneTimeLink, response: { 200: Nothing, ...CHANGED } },
    )
    .post('/users/:id/mail-link', ({ visit, params, body }) => mailLink(deps, visit, params.id, body), {
      user: { who: 'owner', fresh: true },
      params: ItemPath,
      body: MailLink,
      response: { 200: MailSent, ...CHANGED },
    })
