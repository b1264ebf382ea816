import { Elysia } from 'elysia'
import { errorResponses } from '../../../http/schema.ts'
import { ItemPath, Nothing } from '../../../http/wire.ts'
import { guard } from '../../../people/guard.ts'
import { actorOf } from '../../../people/session.ts'
import type { Deps } from '../../deps.ts'
import { addTrust, readTrust, removeTrust } from './anchors.ts'
import {
  addTrustSource,
  blockCertificate,
  checkTrustList,
  importTrustBundle,
  pinTrustSigner,
  readTrustBlocks,
  readTrustSource,
  readTrustSources,
  refreshTrustSource,
  removeTrustSource,
  unblockCertificate,
  unpinTrustSigner,
} from './lists.ts'
import { readRevocationLists, refreshRevocationLists } from './revocation.ts'
import {
  AddSource,
  AddTrust,
  Block,
  BUNDLE_BODY_BYTES_MAX,
  CheckedList,
  CheckList,
  ImportBundle,
  ImportedBundle,
  LIST_BODY_BYTES_MAX,
  PinSigner,
  RefreshedSource,
  RefreshSource,
  RevocationLists,
  TrustAnchorList,
  TrustBlock,
  TrustBlockList,
  TrustSource,
  TrustSourceDetail,
  TrustSources,
  Unblock,
  UnpinSigner,
} from './schema.ts'

const READ = errorResponses(401, 403, 404, 429, 500)
const CHANGED = errorResponses(400, 401, 403, 404, 409, 413, 429, 500)

const ANYONE = { user: { who: 'anyone' as const } }
const OWNER = { user: { who: 'owner' as const } }
/** The user proved their identity in the last hour; in the last five minutes where live trust is concerned. */
const FRESH = { user: { who: 'owner' as const, fresh: 'hour' as const } }

/** Trusted issuers, one by one and in lists, the signers of these lists, and blocked certificates. */
export const trustRoutes = (deps: Deps) =>
  new Elysia({ prefix: '/trust' })
    .use(guard(deps))
    .get('', () => readTrust(deps), { ...ANYONE, response: { 200: TrustAnchorList, ...READ } })
    .post('', async ({ visit, body, status }) => status(201, await addTrust(deps, visit, body)), {
      ...FRESH,
      body: AddTrust,
      response: { 201: TrustAnchorList, ...CHANGED },
    })
    .delete(
      '/:id',
      async ({ visit, params }) => {
        await removeTrust(deps, visit, params.id)
        return {}
      },
      { ...FRESH, params: ItemPath, body: Nothing, response: { 200: Nothing, ...CHANGED } },
    )
    .get('/sources', () => readTrustSources(deps), { ...ANYONE, response: { 200: TrustSources, ...READ } })
    .post('/sources', async ({ visit, body, status }) => status(201, await addTrustSource(deps, visit, body)), {
      user: { ...FRESH.user, bytesMax: LIST_BODY_BYTES_MAX },
      body: AddSource,
      response: { 201: TrustSource, ...CHANGED },
    })
    .post('/sources/check', ({ body }) => checkTrustList(deps, body), {
      user: { ...OWNER.user, bytesMax: LIST_BODY_BYTES_MAX },
      body: CheckList,
      response: { 200: CheckedList, ...CHANGED },
    })
    .get('/sources/:id', ({ params }) => readTrustSource(deps, params.id), {
      ...ANYONE,
      params: ItemPath,
      response: { 200: TrustSourceDetail, ...READ },
    })
    .delete(
      '/sources/:id',
      async ({ visit, params }) => {
        await removeTrustSource(deps, visit, params.id)
        return {}
      },
      { ...FRESH, params: ItemPath, body: Nothing, response: { 200: Nothing, ...CHANGED } },
    )
    .post(
      '/sources/:id/refresh',
      ({ visit, params, body }) => refreshTrustSource(deps, params.id, { ...body, actor: actorOf(visit.user) }),
      {
        user: { ...OWNER.user, bytesMax: LIST_BODY_BYTES_MAX },
        params: ItemPath,
        body: RefreshSource,
        response: { 200: RefreshedSource, ...CHANGED },
      },
    )
    .post('/sources/:id/pins', ({ visit, params, body }) => pinTrustSigner(deps, visit, { id: params.id, signer: body.signer }), {
      ...FRESH,
      params: ItemPath,
      body: PinSigner,
      response: { 200: TrustSource, ...CHANGED },
    })
    .delete('/sources/:id/pins', ({ visit, params, body }) => unpinTrustSigner(deps, visit, { id: params.id, ...body }), {
      ...FRESH,
      params: ItemPath,
      body: UnpinSigner,
      response: { 200: TrustSource, ...CHANGED },
    })
    .get('/revocation', () => readRevocationLists(deps), { ...ANYONE, response: { 200: RevocationLists, ...READ } })
    .post('/revocation/refresh', () => refreshRevocationLists(deps), {
      ...OWNER,
      body: Nothing,
      response: { 200: RevocationLists, ...CHANGED },
    })
    .get('/blocks', () => readTrustBlocks(deps), { ...ANYONE, response: { 200: TrustBlockList, ...READ } })
    .post('/blocks', async ({ visit, body, status }) => status(201, await blockCertificate(deps, visit, body)), {
      ...FRESH,
      body: Block,
      response: { 201: TrustBlock, ...CHANGED },
    })
    .delete('/blocks', ({ visit, body }) => unblockCertificate(deps, visit, body), {
      ...FRESH,
      body: Unblock,
      response: { 200: TrustBlock, ...CHANGED },
    })
    .post('/bundle', ({ visit, body }) => importTrustBundle(deps, body, actorOf(visit.user)), {
      user: { who: 'owner', fresh: true, bytesMax: BUNDLE_BODY_BYTES_MAX },
      body: ImportBundle,
      response: { 200: ImportedBundle, ...CHANGED },
    })
