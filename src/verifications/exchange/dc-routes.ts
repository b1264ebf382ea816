import { type TSchema, Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { accessPlugin } from '../../access/plugin.ts'
import { errorResponses } from '../../http/schema.ts'
import { VerificationId } from '../schema.ts'
import { dcRequests } from './dc-request.ts'
import { dcRespond } from './dc-respond.ts'
import { DcAnswered, DcRequests, PageAnswer, PageRequest, ServerAnswer, ServerRequest } from './dc-schema.ts'
import type { Deps } from './deps.ts'

const SessionId = Type.Object({ sessionId: Type.String({ minLength: 1 }) })

/** Only for the OpenAPI document: the verbs read their bodies themselves, after the session. */
const json = (schema: TSchema) => ({ required: true, content: { 'application/json': { schema: schema as object } } })

/** Headers for a JSON body from another origin. */
const PREFLIGHT = {
  'access-control-allow-methods': 'POST',
  'access-control-allow-headers': 'content-type',
  'access-control-max-age': '600',
}

const preflight = (set: { headers: Record<string, string | number>; status?: number | string }) => {
  Object.assign(set.headers, PREFLIGHT)
  set.status = 204
}

/** The wallet call of browsers (W3C Digital Credentials): for pages, and for servers in between. */
export const dcRoutes = (deps: Deps) =>
  new Elysia({ tags: ['Browser'] })
    .use(accessPlugin(deps))
    .options('/wallet/dc/request/:sessionId', ({ set }) => preflight(set), {
      open: {},
      params: SessionId,
      detail: { hide: true },
    })
    .options('/wallet/dc/response/:sessionId', ({ set }) => preflight(set), {
      open: {},
      params: SessionId,
      detail: { hide: true },
    })
    .post('/wallet/dc/request/:sessionId', ({ params, request }) => dcRequests(deps, { id: params.sessionId, request }), {
      open: { perSession: 'wallet-get' },
      params: SessionId,
      response: { 200: DcRequests, ...errorResponses(400, 403, 404, 409, 410, 413, 429, 500) },
      detail: {
        operationId: 'postDcRequest',
        summary: "A page's requests for the browser's wallet call",
        description: 'The Origin header, which browsers add, must be one of the origins that the shop has listed.',
        requestBody: json(PageRequest),
      },
    })
    .post('/wallet/dc/response/:sessionId', ({ params, request }) => dcRespond(deps, { id: params.sessionId, request }), {
      open: { perSession: 'wallet-post' },
      params: SessionId,
      response: { 200: DcAnswered, ...errorResponses(400, 403, 404, 409, 410, 413, 429, 500) },
      detail: {
        operationId: 'postDcResponse',
        summary: "Take what the browser's wallet call gave",
        description: 'The Origin header tells which request is answered: that of the page which asked.',
        requestBody: json(PageAnswer),
      },
    })
    .post(
      '/v1/verifications/:id/dc-request',
      ({ caller, params, request }) => dcRequests(deps, { id: params.id, request, owner: caller }),
      {
        need: { scope: 'verifications:create' },
        params: VerificationId,
        response: { 200: DcRequests, ...errorResponses(400, 401, 403, 404, 409, 410, 413, 429, 500) },
        detail: {
          operationId: 'createDcRequest',
          summary: 'The requests for a page or app, through your server',
          description: 'For a shop whose pages do not reach this service, and for apps.',
          requestBody: json(ServerRequest),
        },
      },
    )
    .post(
      '/v1/verifications/:id/dc-response',
      ({ caller, params, request }) => dcRespond(deps, { id: params.id, request, owner: caller }),
      {
        need: { scope: 'verifications:create' },
        params: VerificationId,
        response: { 200: DcAnswered, ...errorResponses(400, 401, 403, 404, 409, 410, 413, 429, 500) },
        detail: {
          operationId: 'createDcResponse',
          summary: 'Hand in the answer of a page or app',
          description: '`origin` tells which request is answered.',
          requestBody: json(ServerAnswer),
        },
      },
    )
