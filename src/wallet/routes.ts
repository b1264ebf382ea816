import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { accessPlugin } from '../access/plugin.ts'
import type { Deps } from '../deps.ts'
import { readForm } from '../http/body.ts'
import { errorResponses } from '../http/schema.ts'
import { REQUEST_OBJECT_TYPE } from '../openid4vp/request-object.ts'
import { readWalletSays, requestObject } from './request.ts'
import { respond } from './respond.ts'

const SAYS_BYTES_MAX = 32 * 1024

const SessionId = Type.Object({ sessionId: Type.String({ minLength: 1 }) })
const RequestObject = Type.String({ description: `The signed request object (${REQUEST_OBJECT_TYPE})` })
const WalletAnswered = Type.Object(
  { redirect_uri: Type.Optional(Type.String({ description: 'Where the wallet sends the user next.' })) },
  { additionalProperties: false, $id: 'WalletAnswered' },
)

export const walletRoutes = (deps: Deps) =>
  new Elysia({ prefix: '/wallet', tags: ['Wallet'] })
    .use(accessPlugin(deps))
    .get(
      '/request/:sessionId',
      async ({ params, set }) => {
        set.headers['content-type'] = REQUEST_OBJECT_TYPE
        return await requestObject(deps, params.sessionId)
      },
      {
        open: { perSession: 'wallet-get' },
        params: SessionId,
        response: { 200: RequestObject, ...errorResponses(404, 409, 410, 429, 500) },
        detail: { operationId: 'getRequestObject', summary: 'The signed request object of a session, for a wallet' },
      },
    )
    .post(
      '/request/:sessionId',
      async ({ params, request, set }) => {
        const says = readWalletSays(await readForm(request, SAYS_BYTES_MAX))
        set.headers['content-type'] = REQUEST_OBJECT_TYPE
        return await requestObject(deps, params.sessionId, says)
      },
      {
        open: { perSession: 'wallet-get' },
        params: SessionId,
        response: { 200: RequestObject, ...errorResponses(400, 404, 409, 410, 413, 429, 500) },
        detail: {
          operationId: 'postRequestObject',
          summary: 'The same for a wallet that sends wallet_nonce and wallet_metadata',
        },
      },
    )
    .post('/response/:sessionId', ({ params, request }) => respond(deps, params.sessionId, request), {
      open: { perSession: 'wallet-post' },
      params: SessionId,
      response: { 200: WalletAnswered, ...errorResponses(400, 404, 409, 410, 413, 429, 500) },
      detail: { operationId: 'postWalletResponse', summary: "Take a wallet's answer" },
    })
