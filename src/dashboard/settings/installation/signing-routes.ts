import { Elysia } from 'elysia'
import { errorResponses } from '../../../http/schema.ts'
import { ItemPath, Nothing } from '../../../http/wire.ts'
import { guard } from '../../../people/guard.ts'
import { actorOf } from '../../../people/session.ts'
import type { Deps } from '../../deps.ts'
import { dropRegistration, listRegistrations, storeRegistration } from './registrations.ts'
import {
  cancelSigning,
  importSigning,
  makeSigningKey,
  readSigning,
  readSigningRequest,
  readTenantSigning,
  removeSigning,
} from './signing.ts'
import {
  AddedRegistration,
  AddRegistration,
  ImportedSigning,
  ImportSigning,
  InstallationSigning,
  NewSigningKey,
  Refused,
  RegistrationList,
  RemoveSigning,
  Signing,
  SigningList,
  SigningOwner,
  SigningRequest,
} from './signing-schema.ts'

const READ = { 400: Refused, ...errorResponses(401, 403, 404, 429, 500) }
const CHANGED = { 400: Refused, ...errorResponses(401, 403, 404, 409, 413, 429, 500) }
const OWNER = { user: { who: 'owner' as const } }
const FRESH = { user: { who: 'owner' as const, fresh: true as const } }

/** The certificates that wallets see, their keys, and registration certificates. */
export const signingRoutes = (deps: Deps) =>
  new Elysia()
    .use(guard(deps))
    .get('/signing', () => readSigning(deps), { ...OWNER, response: { 200: InstallationSigning, ...READ } })
    .get('/signing/tenants', () => readTenantSigning(deps), { ...OWNER, response: { 200: SigningList, ...READ } })
    .get('/signing/csr', ({ query }) => readSigningRequest(deps, query.tenant), {
      ...OWNER,
      query: SigningOwner,
      response: { 200: SigningRequest, ...READ },
    })
    .post('/signing/csr', ({ visit, body }) => makeSigningKey(deps, body, actorOf(visit.user)), {
      ...FRESH,
      body: NewSigningKey,
      response: { 200: SigningRequest, ...CHANGED },
    })
    .post('/signing', ({ visit, body }) => importSigning(deps, body, actorOf(visit.user)), {
      ...FRESH,
      body: ImportSigning,
      response: { 200: ImportedSigning, ...CHANGED },
    })
    .delete('/signing', ({ visit, body }) => removeSigning(deps, body.tenant, actorOf(visit.user)), {
      ...FRESH,
      body: RemoveSigning,
      response: { 200: Signing, ...CHANGED },
    })
    .delete('/signing/next', ({ visit, body }) => cancelSigning(deps, body.tenant, actorOf(visit.user)), {
      ...FRESH,
      body: SigningOwner,
      response: { 200: Signing, ...CHANGED },
    })
    .get('/registrations', () => listRegistrations(deps), { ...OWNER, response: { 200: RegistrationList, ...READ } })
    .post(
      '/registrations',
      async ({ visit, body, status }) => status(201, await storeRegistration(deps, body, actorOf(visit.user))),
      { ...FRESH, body: AddRegistration, response: { 201: AddedRegistration, ...CHANGED } },
    )
    .delete(
      '/registrations/:id',
      async ({ visit, params }) => {
        await dropRegistration(deps, params.id, actorOf(visit.user))
        return {}
      },
      { ...FRESH, params: ItemPath, body: Nothing, response: { 200: Nothing, ...CHANGED } },
    )
