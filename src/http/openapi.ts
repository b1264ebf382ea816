// The OpenAPI document, made from the route table: it shows the same schemas that check requests and responses.
import type { TLiteral, TObject, TSchema, TUnion } from '@sinclair/typebox'
import type { DocumentDecoration } from 'elysia'
import { apiError, type ErrorCode, envelope } from './errors.ts'
import { type JsonSchema, type Schemas, toJsonSchema } from './json-schema.ts'
import { codesOf } from './operation-errors.ts'
import { errorResponses } from './schema.ts'

/** The version of the interface, not of the program. */
const API_VERSION = '0.1.0'

/** Requirements on the caller. Macros leave nothing in the route table, so the access plugin puts this into the detail. */
type Access = { scope?: string; perSession?: string; exchange?: string; budget?: string; idempotent?: true; body?: string }

declare module 'elysia/types' {
  interface DocumentDecoration {
    access?: Access
  }
}

export type Route = {
  method: string
  path: string
  hooks: {
    params?: TObject
    query?: TObject
    body?: TSchema
    response?: Record<string, TSchema>
    detail?: DocumentDecoration
  }
}

type Operation = { operationId: string; tags: string[]; responses: Record<string, object> } & Record<string, unknown>

export type OpenApi = {
  openapi: string
  info: Record<string, unknown>
  servers: { url: string }[]
  tags: { name: string; description: string }[]
  paths: Record<string, Record<string, Operation>>
  webhooks: Record<string, object>
  components: { schemas: Schemas; headers: Record<string, object>; securitySchemes: Record<string, object> }
}

/** `event` is the body of webhooks. */
export function describeRoutes(routes: readonly Route[], publicUrl: string, event: TSchema): OpenApi {
  const schemas: Schemas = {}
  const paths: OpenApi['paths'] = {}
  for (const { method, path, hooks } of routes) {
    if (hooks.detail?.hide) continue
    const template = path.replace(/:(\w+)/g, '{$1}')
    paths[template] = { ...paths[template], [method.toLowerCase()]: describeOperation(hooks, schemas) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Vidimus',
      version: API_VERSION,
      summary: 'Verified claims from digital identity wallets.',
      description: DESCRIPTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: publicUrl || '/' }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    webhooks: describeWebhooks(event, schemas),
    components: { schemas, headers: HEADERS, securitySchemes: { apiKey: API_KEY } },
  }
}

/** One webhook for each type of event. */
function describeWebhooks(event: TSchema, schemas: Schemas): OpenApi['webhooks'] {
  const [[mediaType, { schema }]] = Object.entries(contentOf(event, schemas)) as [[string, { schema: JsonSchema }]]
  const types = (event.properties.type as TUnion<TLiteral<string>[]>).anyOf.map(type => type.const)
  return Object.fromEntries(
    types.map(type => {
      const body = { allOf: [schema, { properties: { type: { const: type } } }] }
      return [type, { post: describeWebhook(type, { [mediaType]: { schema: body } }) }]
    }),
  )
}

const describeWebhook = (type: string, content: object): object => ({
  operationId: `receive${type.replace(/(?:^|\.)(\w)/g, (_, letter: string) => letter.toUpperCase())}`,
  tags: ['Verifications'],
  summary: `Sent to the webhook_url of a verification: ${type}`,
  description: WEBHOOK_DESCRIPTION,
  security: [],
  parameters: Object.entries(WEBHOOK_HEADERS).map(([name, { description, ...schema }]) => ({
    name,
    in: 'header',
    required: true,
    description,
    schema,
  })),
  requestBody: { required: true, content },
  responses: {
    '2XX': { description: 'Delivered.' },
    '410': { description: 'The receiver is gone: the message is not sent again.' },
    default: { description: 'Failed: the message is sent again later, up to six times in all.' },
  },
})

const WEBHOOK_DESCRIPTION = `The body is signed: verify it before you use it. A message may arrive more than once; \`webhook-id\` identifies it.
Redirects are not followed. Respond within 15 seconds.`

const WEBHOOK_HEADERS = {
  'X-Service-Signature': {
    type: 'string',
    pattern: '^t=[0-9]+(,v1=[0-9a-f]{64}){1,2}$',
    description:
      '`t=<unix_seconds>,v1=<hex>`: the HMAC-SHA256 of `t`, a dot and the raw body, keyed with the webhook secret; two `v1` for 24 hours after a rotation.',
  },
  'X-Service-Attempt': { type: 'integer', minimum: 1, description: 'The number of this attempt, from 1.' },
  'webhook-id': { type: 'string', minLength: 1, description: 'The id of the message; the same on every attempt.' },
  'webhook-timestamp': { type: 'string', pattern: '^[0-9]+$', description: 'The same time as `t`, for Standard Webhooks.' },
  'webhook-signature': {
    type: 'string',
    pattern: '^v1,[A-Za-z0-9+/]{43}=( v1,[A-Za-z0-9+/]{43}=)?$',
    description: 'The signature in the form of Standard Webhooks.',
  },
}

const DESCRIPTION = `Vidimus asks a holder's digital identity wallet for verified claims. Create a verification, show its
\`wallet_uri\` as a QR code or link, and get the outcome by polling the status, by
reading the session with your key, by redeeming the code of the redirect, or by a signed webhook.

**Errors** all have the same shape. Rely on \`code\`; \`message\` is for people and may change. Quote \`X-Request-Id\` when you
ask for help.

Besides the responses listed below, an unknown route is 404 \`not_found\`, and a wrong method is 405 \`method_not_allowed\` with an
\`Allow\` header. Invalid HTTP is 400, and headers above 16 KiB are 431, both without a body; a connection with an unknown
method is closed.

**JSON** bodies are UTF-8 objects of at most 64 KiB and 32 levels. A doubled name in an object, U+0000 and a lone surrogate
are 400 \`invalid_request\`; so is another \`Content-Type\`.

**Limits** count per key, tenant, address and session. \`RateLimit-Policy\` and \`RateLimit\` show the budget with
the least left; after a 429 wait for \`Retry-After\` seconds.`

const TAGS = {
  Verifications: 'Sessions: the request to a holder, and its result.',
  Templates: 'Predefined requests, by key.',
  Devices: 'Tills and tablets: registered by the merchant, paired once, then using their own tokens.',
  Wallet: "Called by the holder's wallet, which knows the session's id from the QR code or link.",
  Browser:
    "The wallet call of browsers (W3C Digital Credentials): a page, or the server behind it, fetches requests and hands in the wallet's answer.",
  'In person':
    'A till reads a phone without internet (ISO/IEC 18013-5): it scans the code, and carries the messages between phone and service.',
  Sandbox: 'Public data of the built-in issuer of test credentials.',
  Usage: 'The used part of the daily quota.',
  Service: 'For operators of the service.',
}

const API_KEY = {
  type: 'http',
  scheme: 'bearer',
  description:
    'An API key as `Authorization: Bearer <API_KEY>`. It begins `vk_test_` or `vk_live_` and reaches only that environment. ' +
    'A device sends its access token, which begins `vd_`, in the same place: it lists its own templates and creates verifications with ' +
    'them, reads those it created, and reads usage.',
}

const header = (description: string, schema: JsonSchema, required: boolean) => ({ description, required, schema })

/** Required headers are on every response that lists them; the others are optional. */
const HEADERS = {
  'X-Request-Id': header('Names this request in the log.', { type: 'string', examples: ['req_x7Qm2Kd91c'] }, true),
  'RateLimit-Policy': header(
    'Size and window of the tightest budget, and of the daily quota.',
    { type: 'string', examples: ['"create";q=100;w=4, "daily";q=10000;w=86400'] },
    false,
  ),
  RateLimit: header(
    'What is left of them, and the seconds until they are whole again.',
    { type: 'string', examples: ['"create";r=99;t=1, "daily";r=9999;t=43200'] },
    false,
  ),
  'Retry-After': header('Seconds to wait.', { type: 'integer', minimum: 1 }, true),
  'WWW-Authenticate': header('How to authenticate.', { type: 'string', examples: ['Bearer error="invalid_token"'] }, true),
  Location: header('The session.', { type: 'string', examples: ['/v1/verifications/vs_7Jb2Vd0Qm4sKXr9aTzN1hY'] }, true),
  Link: header(
    'On a new session the page to send the holder to; on an error its explanation, with `rel="help"`.',
    {
      type: 'string',
      examples: ['<https://verify.example/v/vs_7Jb2Vd0Qm4sKXr9aTzN1hY>; rel="alternate"; type="text/html"'],
    },
    true,
  ),
  'Idempotent-Replayed': header(
    'The first answer to this Idempotency-Key, given again.',
    { type: 'string', const: 'true' },
    false,
  ),
  'X-Accel-Buffering': header('Tells a proxy to pass on each event at once.', { type: 'string', const: 'no' }, true),
}

const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'Makes a repeat safe: within 24 hours the same key with the same body gives the first answer again, and nothing new is ' +
    'created or charged. Printable ASCII without spaces; a UUID is a good choice.',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]+$' },
}

const EXCHANGE_KEY = {
  ...IDEMPOTENCY_KEY,
  description:
    'Makes a lost answer harmless: within 24 hours the same secret with the same key gives the same pair again, until either ' +
    'token of that pair is used. Printable ASCII without spaces; store a UUID before you send it.',
}

function describeOperation({ params, query, body, response, detail = {} }: Route['hooks'], schemas: Schemas): Operation {
  const { operationId = '', summary, description, tags = [], requestBody, access } = detail
  const parameters = [
    ...parametersOf('path', params, schemas),
    ...parametersOf('query', query, schemas),
    ...(access?.idempotent ? [access.exchange ? EXCHANGE_KEY : IDEMPOTENCY_KEY] : []),
  ]
  // Any URL can be too long.
  const answers = Object.entries({ ...response, ...errorResponses(414) })
  return {
    operationId,
    tags,
    summary,
    description: [description, admission(access)].filter(Boolean).join('\n\n'),
    security: access?.scope ? [{ apiKey: [access.scope] }] : [],
    ...(parameters.length > 0 && { parameters }),
    // A route that reads its body itself describes it in its detail.
    ...(requestBody && 'content' in requestBody && { requestBody: describeBody(requestBody, schemas) }),
    ...(body && { requestBody: { required: access?.body !== 'optional', content: contentOf(body, schemas) } }),
    responses: Object.fromEntries(
      answers.map(([status, schema]) => [status, describeAnswer(Number(status), schema, detail, schemas)]),
    ),
  }
}

type RequestBody = Extract<DocumentDecoration['requestBody'], { content: object }>

const describeBody = ({ content, ...rest }: RequestBody, schemas: Schemas) => ({
  ...rest,
  content: Object.fromEntries(
    Object.entries(content).map(([type, { schema, ...more }]) => [
      type,
      { ...more, schema: toJsonSchema(schema as TSchema, schemas) },
    ]),
  ),
})

function admission(access: Access | undefined): string {
  if (access?.scope) return `Needs an API key with the scope \`${access.scope}\`.`
  if (access?.perSession) return 'Needs no API key: who knows the id may ask. Pages of any origin may call it.'
  if (access?.exchange) return 'Needs no API key: the secret in the body is the credential.'
  return 'Needs no API key.'
}

function parametersOf(place: 'path' | 'query', schema: TObject | undefined, schemas: Schemas): object[] {
  return Object.entries(schema?.properties ?? {}).map(([name, property]) => {
    const { description, ...rest } = toJsonSchema(property, schemas)
    const required = schema?.required?.includes(name) ?? false
    return { name, in: place, required, ...(description !== undefined && { description }), schema: rest }
  })
}

const contentOf = (schema: TSchema, schemas: Schemas, examples?: object) => ({
  [schema.mediaType ?? schema.contentMediaType ?? (schema.type === 'string' ? 'text/plain' : 'application/json')]: {
    schema: toJsonSchema(schema, schemas),
    ...(examples && { examples }),
  },
})

function describeAnswer(status: number, schema: TSchema, detail: DocumentDecoration, schemas: Schemas): object {
  const codes = codesOf(status, detail)
  const errors = codes.map(code => apiError(code))
  const examples = Object.fromEntries(errors.map(each => [each.wireCode, { value: envelope(each.wireCode, each.message) }]))
  return {
    description:
      errors.length > 0
        ? alternatives(Object.keys(examples))
        : (process.getBuiltinModule('node:http').STATUS_CODES[status] ?? ''),
    headers: Object.fromEntries(
      headersOf(status, codes, { access: detail.access, schema }).map(name => [name, { $ref: `#/components/headers/${name}` }]),
    ),
    ...(status !== 204 && { content: contentOf(schema, schemas, errors.length > 0 ? examples : undefined) }),
  }
}

const alternatives = (codes: string[]): string =>
  new Intl.ListFormat('en', { type: 'disjunction' }).format(codes.map(c => `\`${c}\``))

/** Returned before any rate limit is checked. */
const BEFORE_BUDGETS = [401, 403, 414]
/** Returned after rate limits, with a status that usually comes before them. */
const AFTER_BUDGETS: readonly ErrorCode[] = ['origin_not_allowed']
const WITH_RETRY_AFTER: ErrorCode[] = ['rate_limit_exceeded', 'quota_exceeded', 'idempotency_key_in_flight']

type Answered = { access: Access | undefined; schema: TSchema }

function headersOf(status: number, codes: ErrorCode[], { access, schema }: Answered): (keyof typeof HEADERS)[] {
  const names: (keyof typeof HEADERS)[] = ['X-Request-Id']
  const isLimited = !BEFORE_BUDGETS.includes(status) || codes.some(code => AFTER_BUDGETS.includes(code))
  if (status === 429 || (access && isLimited)) names.push('RateLimit-Policy', 'RateLimit')
  if (codes.some(code => WITH_RETRY_AFTER.includes(code))) names.push('Retry-After')
  if (status === 401) names.push('WWW-Authenticate')
  if (status >= 400) names.push('Link')
  if (status === 201 && access?.budget === 'create') names.push('Location', 'Link')
  if (status < 300 && access?.idempotent) names.push('Idempotent-Replayed')
  if (schema.mediaType === 'text/event-stream') names.push('X-Accel-Buffering')
  return names
}
