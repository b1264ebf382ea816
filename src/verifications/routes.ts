import { Elysia } from 'elysia'
import { accessPlugin } from '../access/plugin.ts'
import { traceOf } from '../http/plugin.ts'
import { errorResponses } from '../http/schema.ts'
import { addDailyBudget } from '../usage/quota.ts'
import { decideComparison, readComparison } from './comparison/compare.ts'
import { createVerification } from './create/create.ts'
import type { Deps as CreateDeps } from './create/deps.ts'
import { cancelVerification } from './end/cancel.ts'
import { redeemResponseCode } from './end/redeem.ts'
import type { Deps as EraseDeps } from './erasure/deps.ts'
import { eraseVerification } from './erasure/erase.ts'
import { linksTo } from './present.ts'
import { readList, readOne, readStatus } from './read.ts'
import {
  CancelVerification,
  CompareFaces,
  Comparison,
  CreateVerification,
  ErasureResult,
  ListQuery,
  RedeemResponseCode,
  StatusEvent,
  Verification,
  VerificationId,
  VerificationList,
  VerificationStatus,
} from './schema.ts'
import { watchVerification } from './watch.ts'

export const verificationRoutes = (deps: CreateDeps & EraseDeps) =>
  new Elysia({ prefix: '/v1', tags: ['Verifications'] })
    .use(accessPlugin(deps))
    .post(
      '/verifications',
      async ({ caller, body, request, set, status }) => {
        const idempotencyKey = request.headers.get('idempotency-key') ?? undefined
        const creation = await createVerification(deps, { caller, body, idempotencyKey })
        Object.assign(set.headers, linksTo(deps.config.publicUrl, creation.verification.id))
        if (creation.replayed) set.headers['idempotent-replayed'] = 'true'
        else addDailyBudget(set.headers, creation.charge)
        return status(201, creation.verification)
      },
      {
        need: { scope: 'verifications:create', budget: 'create', idempotent: true, body: 'json' },
        body: CreateVerification,
        response: { 201: Verification, ...errorResponses(400, 401, 403, 409, 413, 422, 429, 500) },
        detail: {
          operationId: 'createVerification',
          summary: 'Create a verification session',
          description: 'Consumes one unit of the daily quota. Give exactly one of template and query.',
        },
      },
    )
    .get('/verifications', ({ caller, query }) => readList(deps, caller, query), {
      need: { scope: 'verifications:read', list: true },
      query: ListQuery,
      response: { 200: VerificationList, ...errorResponses(400, 401, 403, 429, 500) },
      detail: { operationId: 'listVerifications', summary: 'List sessions, newest first' },
    })
    .get('/verifications/:id', ({ caller, params }) => readOne(deps, caller, params.id), {
      need: { scope: 'verifications:read' },
      params: VerificationId,
      response: { 200: Verification, ...errorResponses(401, 403, 404, 429, 500) },
      detail: { operationId: 'getVerification', summary: 'Fetch one session' },
    })
    .delete('/verifications/:id', ({ caller, params }) => eraseVerification(deps, caller, caller.name, params.id), {
      need: { scope: 'verifications:delete' },
      params: VerificationId,
      response: { 200: ErasureResult, ...errorResponses(401, 403, 404, 429, 500) },
      detail: {
        operationId: 'eraseVerification',
        summary: 'Erase a session for good',
        description: 'Deletes the session, its result and its webhook delivery log. It cannot be undone.',
      },
    })
    .post(
      '/verifications/:id/cancel',
      ({ caller, params, request }) =>
        cancelVerification(deps, caller, params.id, { actor: caller.name, requestId: traceOf(request).id }),
      {
        need: { scope: 'verifications:create', body: 'optional' },
        params: VerificationId,
        body: CancelVerification,
        response: { 200: Verification, ...errorResponses(400, 401, 403, 404, 409, 410, 413, 429, 500) },
        detail: {
          operationId: 'cancelVerification',
          summary: 'Cancel a pending session',
          description:
            'It becomes failed with the error `cancelled`. Cancelling it again changes nothing and gives the same answer.',
        },
      },
    )
    .get('/verifications/:id/comparison', ({ caller, params }) => readComparison(deps, caller, params.id), {
      need: { scope: 'verifications:read' },
      params: VerificationId,
      response: { 200: Comparison, ...errorResponses(401, 403, 404, 409, 429, 500) },
      detail: {
        operationId: 'getComparison',
        summary: 'Fetch the photo that a device has to compare',
        description:
          'For the device that created the session. A good answer with a portrait is held until the device says whether the ' +
          'customer is the person on the photo: 404 before the answer, 409 once the session has ended.',
      },
    })
    .post(
      '/verifications/:id/comparison',
      ({ caller, params, body, request }) =>
        decideComparison(deps, caller, params.id, { isSame: body.same_person, requestId: traceOf(request).id }),
      {
        need: { scope: 'verifications:create', body: 'json' },
        params: VerificationId,
        body: CompareFaces,
        response: { 200: Verification, ...errorResponses(400, 401, 403, 404, 409, 413, 429, 500) },
        detail: {
          operationId: 'decideComparison',
          summary: 'Say whether the customer is the person on the photo',
          description:
            'For the device that created the session. It ends the session: `completed`, or `failed` with the error ' +
            '`not_same_person`. Without a decision it fails 120 seconds after the answer, with `not_compared`. The first ' +
            'decision counts; another one, or a late one, gets 409.',
        },
      },
    )
    .post(
      '/verifications/:id/redeem',
      ({ caller, params, body, request }) =>
        redeemResponseCode(deps, caller, params.id, {
          code: body.response_code,
          actor: caller.name,
          requestId: traceOf(request).id,
        }),
      {
        need: { scope: 'verifications:read', body: 'json' },
        params: VerificationId,
        body: RedeemResponseCode,
        response: { 200: Verification, ...errorResponses(400, 401, 403, 404, 413, 429, 500) },
        detail: {
          operationId: 'redeemResponseCode',
          summary: 'Redeem the one-time code of a redirect',
          description: 'Completes a session that was created with release `on_redeem`.',
        },
      },
    )
    .get('/verifications/:id/status', ({ params }) => readStatus(deps, params.id), {
      open: { perSession: 'status' },
      params: VerificationId,
      response: { 200: VerificationStatus, ...errorResponses(404, 429, 500) },
      detail: {
        operationId: 'getVerificationStatus',
        summary: 'Poll the status, without a key',
        description: 'Claims are never returned here.',
      },
    })
    .get('/verifications/:id/events', ({ params, request }) => watchVerification(deps, params.id, traceOf(request).client), {
      open: { perSession: 'status' },
      params: VerificationId,
      response: { 200: StatusEvent, ...errorResponses(404, 429, 500) },
      detail: {
        operationId: 'watchVerification',
        summary: 'Follow the status, without a key',
        description:
          'Server-sent events with what the status poll tells, and nothing more: at once, whenever something happens, and for ' +
          'the last time when the status is final; then the stream ends. At most 8 streams per session and 1,000 in all; while ' +
          'more than half of them are open, at most 250 per tenant and 50 per address. Beyond that 429: keep polling as a ' +
          'fallback, also because some proxies hold streams back.',
      },
    })
