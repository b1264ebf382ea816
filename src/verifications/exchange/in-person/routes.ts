import { type TSchema, Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { accessPlugin } from '../../../access/plugin.ts'
import { errorResponses } from '../../../http/schema.ts'
import { VerificationId } from '../../schema.ts'
import type { Deps } from '../deps.ts'
import { inPersonFailure } from './failure.ts'
import { inPersonRequest } from './request.ts'
import { inPersonRespond } from './respond.ts'
import { InPersonAnswered, InPersonRequest, PhoneMessage, ScannedCode, TransportFailure } from './schema.ts'

const SESSION = { need: { scope: 'verifications:create' }, params: VerificationId } as const

/** Only for the OpenAPI document: the verbs read their bodies themselves, after the session. */
const json = (schema: TSchema) => ({ required: true, content: { 'application/json': { schema: schema as object } } })

/** A phone is read in person (ISO/IEC 18013-5); the caller carries the messages. */
export const inPersonRoutes = (deps: Deps) =>
  new Elysia({ prefix: '/v1/verifications', tags: ['In person'] })
    .use(accessPlugin(deps))
    .post('/:id/in-person-request', ({ caller, params: { id }, request }) => inPersonRequest(deps, { caller, id, request }), {
      ...SESSION,
      response: { 200: InPersonRequest, ...errorResponses(400, 401, 403, 404, 409, 410, 413, 422, 429, 500) },
      detail: {
        operationId: 'createInPersonRequest',
        summary: 'The request for a phone whose code was scanned',
        description:
          'A repeat with the same code gets the same message; another code replaces it, twelve in all. After an error ' +
          'that the phone reported, the same code gets a new message.',
        requestBody: json(ScannedCode),
      },
    })
    .post('/:id/in-person-response', ({ caller, params: { id }, request }) => inPersonRespond(deps, { caller, id, request }), {
      ...SESSION,
      response: { 200: InPersonAnswered, ...errorResponses(400, 401, 403, 404, 409, 410, 413, 429, 500) },
      detail: {
        operationId: 'createInPersonResponse',
        summary: 'Hand in the message of the phone',
        description:
          'Send it again when the answer is lost: `session_already_responded` means that it was recorded. After ' +
          '`invalid_wallet_response` end the connection and scan a new code.',
        requestBody: json(PhoneMessage),
      },
    })
    .post(
      '/:id/in-person-failure',
      async ({ caller, params: { id }, request, set }) => {
        await inPersonFailure(deps, { caller, id, request })
        set.status = 204
      },
      {
        ...SESSION,
        response: { 204: Type.Void(), ...errorResponses(400, 401, 403, 404, 413, 429, 500) },
        detail: {
          operationId: 'reportInPersonFailure',
          summary: 'Say why the phone could not be read',
          description: 'For the timeline; it changes nothing, after the end of the session neither. At most 20 count.',
          requestBody: json(TransportFailure),
        },
      },
    )
