import { Elysia } from 'elysia'
import { errorResponses } from '../http/schema.ts'
import { Nothing } from '../http/wire.ts'
import type { Deps } from './deps.ts'
import {
  addPasskey,
  changeRule,
  draftCodes,
  readSecurity,
  removeCodes,
  removePasskey,
  renewRecoveryCodes,
  startCodes,
} from './factors/factors.ts'
import { askNewPasskey } from './factors/passkeys.ts'
import { guard } from './guard.ts'
import { readSignIns } from './log-in/sign-ins.ts'
import {
  AddPasskey,
  CodeSecret,
  FactorRule,
  OneTimeCode,
  PasskeyCreation,
  PasskeyPath,
  Security,
  SignInFilter,
  SignInPage,
  WithRecoveryCodes,
} from './security-schema.ts'

const READ = errorResponses(400, 401, 403, 429, 500)
const CHANGED = errorResponses(400, 401, 403, 404, 409, 413, 429, 500)
const OWN = { user: { who: 'anyone' as const, own: true as const } }
const OWN_FRESH = { user: { who: 'anyone' as const, own: true as const, fresh: true as const } }
const LIMIT_DEFAULT = 20

/** The caller's second factors, and sign-ins. */
export const securityRoutes = (deps: Deps) =>
  new Elysia()
    .use(guard(deps))
    .get('/security', ({ visit }) => readSecurity(deps, visit), { ...OWN, response: { 200: Security, ...READ } })
    .post('/security/codes', ({ visit }) => draftCodes(deps, visit), {
      ...OWN_FRESH,
      body: Nothing,
      response: { 200: CodeSecret, ...CHANGED },
    })
    .post('/security/codes/start', ({ visit, body }) => startCodes(deps, visit, body.code), {
      ...OWN_FRESH,
      body: OneTimeCode,
      response: { 200: WithRecoveryCodes, ...CHANGED },
    })
    .delete('/security/codes', ({ visit }) => removeCodes(deps, visit), {
      ...OWN_FRESH,
      body: Nothing,
      response: { 200: Security, ...CHANGED },
    })
    .post(
      '/security/passkeys/challenge',
      ({ visit, request }) => askNewPasskey(deps, visit.user, request.headers.get('origin')),
      {
        ...OWN_FRESH,
        body: Nothing,
        response: { 200: PasskeyCreation, ...CHANGED },
      },
    )
    .post('/security/passkeys', async ({ visit, body, status }) => status(201, await addPasskey(deps, visit, body)), {
      ...OWN_FRESH,
      body: AddPasskey,
      response: { 201: WithRecoveryCodes, ...CHANGED },
    })
    .delete('/security/passkeys/:id', ({ visit, params }) => removePasskey(deps, visit, params.id), {
      ...OWN_FRESH,
      params: PasskeyPath,
      body: Nothing,
      response: { 200: Security, ...CHANGED },
    })
    .post('/security/recovery-codes', ({ visit }) => renewRecoveryCodes(deps, visit), {
      ...OWN_FRESH,
      body: Nothing,
      response: { 200: WithRecoveryCodes, ...CHANGED },
    })
    .put('/security/rule', ({ visit, body }) => changeRule(deps, visit, body.is_required), {
      user: { who: 'owner', fresh: true },
      body: FactorRule,
      response: { 200: Security, ...CHANGED },
    })
    .get('/security/sign-ins', ({ visit, query }) => readSignIns(deps, { userId: visit.user.id, ...pageOf(query) }), {
      ...OWN,
      query: SignInFilter,
      response: { 200: SignInPage, ...READ },
    })
    .get('/sign-ins', ({ query }) => readSignIns(deps, pageOf(query)), {
      user: { who: 'owner' },
      query: SignInFilter,
      response: { 200: SignInPage, ...READ },
    })

const pageOf = ({ before, limit = LIMIT_DEFAULT }: typeof SignInFilter.static) => ({
  before: before === undefined ? undefined : Number(before),
  limit,
})
