import { type TSchema, Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { accessPlugin } from '../../access/plugin.ts'
import { FORM_FIELDS_MAX, readForm } from '../../http/body.ts'
import { errorResponses } from '../../http/schema.ts'
import { REQUEST_OBJECT_TYPE } from '../../openid4vp/exchange/request-object.ts'
import { isLanguage, preferredLanguage } from '../../words/languages.ts'
import type { Deps } from './deps.ts'
import { readWalletParameters, requestObject, WALLET_NONCE_CHARS_MAX } from './request.ts'
import { respond } from './respond.ts'
import { WALLET_METADATA_CHARS_MAX } from './wallet-metadata.ts'

const PARAMETERS_BYTES_MAX = 32 * 1024

const SessionId = Type.Object({ sessionId: Type.String({ minLength: 1 }) })
const From = Type.Object(
  {
    from: Type.Optional(
      Type.String({
        description: '`qr` in the QR code of the hosted page: the answer returns through that page. Anything else is ignored.',
      }),
    ),
  },
  { additionalProperties: true },
)
const OnPage = Type.Object(
  {
    ...From.properties,
    language: Type.Optional(
      Type.String({
        description:
          'The language of the page with the link, such as `de`, for a wallet whose Accept-Language names none that we speak. Anything else is ignored.',
      }),
    ),
  },
  { additionalProperties: true },
)
const RequestObject = Type.String({ contentMediaType: REQUEST_OBJECT_TYPE, description: 'The signed request object.' })
const WalletAnswered = Type.Object(
  { redirect_uri: Type.Optional(Type.String({ description: 'Where the wallet sends the user next.' })) },
  { additionalProperties: false, $id: 'WalletAnswered' },
)

const Field = (description: string, bounds: object = {}) => Type.Optional(Type.String({ ...bounds, description }))
const JsonField = (description: string) =>
  Type.Optional(Type.Unsafe<object>({ type: 'object', additionalProperties: true, description }))
/** Only for the OpenAPI document: the routes read their forms themselves. */
const form = (fields: Record<string, TSchema>) => ({
  required: true,
  content: {
    'application/x-www-form-urlencoded': {
      schema: Type.Object(fields, {
        additionalProperties: Type.String(),
        maxProperties: FORM_FIELDS_MAX,
      }) as object,
      encoding: Object.fromEntries(
        Object.entries(fields).flatMap(([name, { type }]) =>
          type === 'object' ? [[name, { contentType: 'application/json' }]] : [],
        ),
      ),
    },
  },
})
const WalletParametersForm = form({
  wallet_nonce: Field('Comes back in the request object.', { minLength: 1, maxLength: WALLET_NONCE_CHARS_MAX }),
  wallet_metadata: JsonField(`What the wallet can do, as JSON of at most ${WALLET_METADATA_CHARS_MAX} characters.`),
})
const WalletResponseForm = form({
  response: Field('The encrypted response (direct_post.jwt).'),
  vp_token: JsonField('The presentations as JSON, where no encryption was asked for.'),
  state: Field('From the request object; in clear only without encryption or with an error.'),
  error: Field('Why the wallet does not present anything.'),
})

const fromOf = ({ from }: typeof From.static): 'qr' | undefined => (from === 'qr' ? from : undefined)

/** Of a fetch: where the link was, and what its holder reads. */
const fetchingOf = (query: typeof OnPage.static, { headers }: Request) => ({
  from: fromOf(query),
  language: preferredLanguage(headers.get('accept-language')) ?? (isLanguage(query.language) ? query.language : undefined),
})

export const walletRoutes = (deps: Deps) =>
  new Elysia({ prefix: '/wallet', tags: ['Wallet'] })
    .use(accessPlugin(deps))
    .get(
      '/request/:sessionId',
      async ({ params, query, request, set }) => {
        set.headers['content-type'] = REQUEST_OBJECT_TYPE
        return await requestObject(deps, params.sessionId, fetchingOf(query, request))
      },
      {
        open: { perSession: 'wallet-get' },
        params: SessionId,
        query: OnPage,
        response: { 200: RequestObject, ...errorResponses(404, 409, 410, 429, 500) },
        detail: { operationId: 'getRequestObject', summary: 'The signed request object of a session, for a wallet' },
      },
    )
    .post(
      '/request/:sessionId',
      async ({ params, query, request, set }) => {
        const wallet = readWalletParameters(await readForm(request, PARAMETERS_BYTES_MAX))
        set.headers['content-type'] = REQUEST_OBJECT_TYPE
        return await requestObject(deps, params.sessionId, { ...fetchingOf(query, request), wallet })
      },
      {
        open: { perSession: 'wallet-get' },
        params: SessionId,
        query: OnPage,
        response: { 200: RequestObject, ...errorResponses(400, 404, 409, 410, 413, 429, 500) },
        detail: {
          operationId: 'postRequestObject',
          summary: 'The same for a wallet that sends wallet_nonce and wallet_metadata',
          requestBody: WalletParametersForm,
        },
      },
    )
    .post(
      '/response/:sessionId',
      ({ params, query, request }) => respond(deps, params.sessionId, request, { from: fromOf(query) }),
      {
        open: { perSession: 'wallet-post' },
        params: SessionId,
        query: From,
        response: { 200: WalletAnswered, ...errorResponses(400, 404, 409, 410, 413, 429, 500) },
        detail: { operationId: 'postWalletResponse', summary: "Take a wallet's answer", requestBody: WalletResponseForm },
      },
    )
