import { type TSchema, Type } from '@sinclair/typebox'
import { UTC_INSTANT } from '../base/time.ts'
import { toJsonSchema } from '../http/json-schema.ts'
import { PlainText, QueryInteger, Text, Timestamp } from '../http/schema.ts'
import { CredentialSets, Credentials } from '../openid4vp/dcql/schema.ts'
import { Formats } from '../templates/schema.ts'
import { LANGUAGES, type Language } from '../words/languages.ts'

export const Status = Type.Union(
  [Type.Literal('pending'), Type.Literal('completed'), Type.Literal('failed'), Type.Literal('expired')],
  {
    description: 'completed, failed and expired are final.',
  },
)
export type Status = typeof Status.static

const Claims = Type.Record(Type.String(), Type.Unknown())

export const Finding = Type.Object(
  {
    check: Type.String({ description: 'What must hold.' }),
    status: Type.Union([Type.Literal('pass'), Type.Literal('fail'), Type.Literal('warning'), Type.Literal('skipped')]),
    detail: Type.Optional(Type.String()),
  },
  { additionalProperties: false, $id: 'Finding' },
)

export const CredentialResult = Type.Object(
  {
    format: Type.Union([Type.Literal('mso_mdoc'), Type.Literal('dc+sd-jwt')]),
    doctype_or_vct: Type.String(),
    claims: Claims,
    issuer: Type.Object(
      { common_name: Type.Optional(Type.String()), country: Type.Optional(Type.String()) },
      { additionalProperties: false },
    ),
    trusted: Type.Boolean(),
    signature_valid: Type.Boolean(),
    holder_binding_valid: Type.Boolean(),
    findings: Type.Array(Finding, { description: 'Only what did not pass.' }),
  },
  { additionalProperties: false, $id: 'CredentialResult' },
)
export type CredentialResult = typeof CredentialResult.static

const TemplateKey = (description: string) => Text({ minLength: 1, maxLength: 64, description, examples: ['age_over_18'] })
const PURPOSE = {
  minLength: 1,
  maxLength: 300,
  description: 'Why the data is requested; the wallet shows it to the holder.',
}
/** Checked in create.ts: a schema can bound the length of keys only by a pattern. */
export const METADATA_KEY_CHARS_MAX = 64
export const METADATA_KEYS_MAX = 50
/** Not a Type.Record: its pattern for names, `^(.*)$`, matches none with a line break. */
const Metadata = (description: string) =>
  Type.Unsafe<Record<string, string>>(
    Type.Object(
      {},
      {
        propertyNames: { maxLength: METADATA_KEY_CHARS_MAX },
        maxProperties: METADATA_KEYS_MAX,
        additionalProperties: Text({ maxLength: 500 }),
        description,
      },
    ),
  )

export const Verification = Type.Object(
  {
    id: Type.String({ description: 'Opaque and unguessable.', examples: ['vs_7Jb2Vd0Qm4sKXr9aTzN1hY'] }),
    status: Status,
    template: Type.Optional(TemplateKey('The template that was used.')),
    wallet_uri: Type.Optional(Type.String({ description: 'For a QR code or a link; while pending.' })),
    request_uri: Type.Optional(Type.String({ description: 'The request_uri inside wallet_uri; while pending.' })),
    claims: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { description: 'Merged verified claims.' })),
    credentials: Type.Optional(Type.Array(CredentialResult)),
    error: Type.Optional(Type.Object({ code: Type.String(), message: Type.String() }, { additionalProperties: false })),
    metadata: Type.Optional(Metadata('As given at creation.')),
    purpose: Type.Optional(Text(PURPOSE)),
    redirect_url: Type.Optional(Type.String({ description: 'Where the wallet sends the user after responding.' })),
    created_at: Timestamp,
    expires_at: Timestamp,
    responded_at: Type.Optional(Timestamp),
  },
  { additionalProperties: false, $id: 'Verification' },
)
export type Verification = typeof Verification.static

/** The body of a webhook. */
export const WebhookEvent = Type.Object(
  {
    type: Type.Union([Type.Literal('verification.completed'), Type.Literal('verification.failed')]),
    verification: Verification,
    sent_at: Timestamp,
  },
  { additionalProperties: false, $id: 'WebhookEvent' },
)

export const TTL_SECONDS = { minimum: 60, maximum: 3600 }
/** Not a `default` of the schema: the body is compared with an earlier one as it was sent. */
export const TTL_SECONDS_DEFAULT = 300

const AnyObject = Type.Record(Type.String(), Type.Unknown())
const Uri = (description: string, pattern?: string) =>
  Type.String({ format: 'uri', maxLength: 2048, description, ...(pattern && { documented: { pattern } }) })

export const CreateVerification = Type.Object(
  {
    template: Type.Optional(TemplateKey('Built-in or tenant template. Exactly one of template and query must be given.')),
    query: Type.Optional(
      Type.Object(
        {
          credentials: Type.Array(AnyObject, { minItems: 1, documented: toJsonSchema(Credentials, {}) }),
          credential_sets: Type.Optional(Type.Array(AnyObject, { documented: toJsonSchema(CredentialSets, {}) })),
        },
        {
          additionalProperties: false,
          description:
            'An explicit DCQL 1.0 query. Members that DCQL does not know are passed on; a known one must be spelt right.',
        },
      ),
    ),
    formats: Type.Optional(
      Formats(
        'Asks for the template in these forms only, for wallets that stop at a query with both; without it in all that it has. ' +
          'Only with template.',
      ),
    ),
    webhook_url: Type.Optional(
      Uri('Gets the signed result: https on a public address; with a test key http too.', '^[Hh][Tt][Tt][Pp][Ss]?://'),
    ),
    redirect_url: Type.Optional(
      Uri(
        'Where the user goes after responding: https, http on localhost and private addresses, or an app; gets #response_code.',
      ),
    ),
    release: Type.Optional(
      Type.Literal('on_redeem', {
        description:
          'A good answer completes the session only when the response code of the redirect is redeemed, within 10 minutes; ' +
          'needs redirect_url.',
      }),
    ),
    ttl_seconds: Type.Optional(
      Type.Integer({ ...TTL_SECONDS, documented: { default: TTL_SECONDS_DEFAULT }, description: 'Lifetime of the session.' }),
    ),
    metadata: Type.Optional(Metadata('Your own keys and values, echoed on results and webhooks.')),
    purpose: Type.Optional(PlainText(PURPOSE)),
  },
  {
    additionalProperties: false,
    $id: 'CreateVerification',
    // Only for the OpenAPI document; create.ts refuses with a sentence.
    oneOf: [{ required: ['template'] }, { required: ['query'] }],
    examples: [{ template: 'age_over_18', purpose: 'To sell you wine' }],
  },
)
export type CreateVerification = typeof CreateVerification.static

export const VerificationList = Type.Object(
  { data: Type.Array(Verification) },
  { additionalProperties: false, $id: 'VerificationList' },
)

export const ListQuery = Type.Object(
  {
    limit: Type.Optional(QueryInteger({ minimum: 1, maximum: 100, default: 20, description: 'How many at most.' })),
    before: Type.Optional(
      Type.String({
        format: 'date-time',
        documented: { pattern: UTC_INSTANT },
        description: 'Only sessions created before this time (UTC, Z): the created_at of the last one seen.',
      }),
    ),
  },
  { additionalProperties: false },
)

export const VerificationStatus = Type.Object(
  { id: Type.String(), status: Status },
  { additionalProperties: false, $id: 'VerificationStatus' },
)

/** One event of the stream as an object, for the OpenAPI document (OpenAPI 3.2 § 4.14.4). */
export const StatusEvent = Type.Object(
  {
    event: Type.Literal('status'),
    data: Type.String({ contentMediaType: 'application/json', contentSchema: VerificationStatus }),
  },
  {
    additionalProperties: false,
    $id: 'StatusEvent',
    mediaType: 'text/event-stream',
    description: 'One event of the stream; `data` is a VerificationStatus as JSON.',
    examples: [{ event: 'status', data: '{"id":"vs_7Jb2Vd0Qm4sKXr9aTzN1hY","status":"pending"}' }],
  },
)

const Share = Type.Object(
  {
    required: Type.Boolean(),
    alternatives: Type.Array(
      Type.Object(
        { claims: Type.Array(Type.String()), documents: Type.Array(Type.String()) },
        { additionalProperties: false, description: 'Merged names of claims; vct or doctype of the documents that have them.' },
      ),
    ),
    more: Type.Optional(
      Type.Object(
        { count: Type.Integer(), documents: Type.Array(Type.String()) },
        {
          additionalProperties: false,
          description: 'Alternatives that are too many to be listed, and their documents that are not listed elsewhere.',
        },
      ),
    ),
  },
  { additionalProperties: false },
)
export type Share = typeof Share.static

const InEveryLanguage = Type.Object(
  {
    en: Type.String(),
    de: Type.String(),
    es: Type.String(),
    fr: Type.String(),
    it: Type.String(),
    nl: Type.String(),
    pl: Type.String(),
  } satisfies Record<Language, TSchema>,
  { additionalProperties: false },
)

const Look = Type.Object(
  {
    accent: Type.Optional(Type.Object({ color: Type.String(), ink: Type.String() }, { additionalProperties: false })),
    privacy_url: Type.Optional(Type.String()),
    without_wallet: Type.Optional(Type.Partial(InEveryLanguage, { additionalProperties: false })),
    logo: Type.Optional(Type.String({ description: "Its path from the service's root." })),
  },
  { additionalProperties: false, description: "The shop's." },
)
export type HostedLook = typeof Look.static

/** The data of the hosted page. */
export const HostedVerification = Type.Object(
  {
    id: Type.String(),
    status: Status,
    environment: Type.Union([Type.Literal('test'), Type.Literal('live')]),
    asked_by: Type.String(),
    login: Type.Optional(
      Type.Object(
        {
          client: Type.String(),
          language: Type.Optional(Type.Unsafe<Language>(Type.Union(LANGUAGES.map(language => Type.Literal(language))))),
        },
        { additionalProperties: false, description: 'The OpenID client that the person logs in to.' },
      ),
    ),
    foreign: Type.Optional(Type.Literal(true, { description: 'A log-in that another browser began.' })),
    purpose: Type.Optional(Type.Union([Type.String(), InEveryLanguage])),
    shares: Type.Array(Share),
    look: Type.Optional(Look),
    wallet_uri: Type.Optional(Type.String()),
    qr_uri: Type.Optional(Type.String({ description: 'The link in the QR code: its answers return through the page.' })),
    further_uris: Type.Optional(Type.Array(Type.String(), { description: 'Links for wallets that wallet_uri does not open.' })),
    fetched: Type.Optional(Type.Boolean({ description: 'A wallet has the request.' })),
    answered: Type.Optional(Type.Literal(true, { description: 'A good answer is held.' })),
    compares: Type.Optional(Type.Literal(true, { description: 'It is held until the till has compared its photo.' })),
    unjudged: Type.Optional(
      Type.Literal(true, { description: 'Completed, but no rule judges what was shown, or an age in it.' }),
    ),
    reason: Type.Optional(
      Type.Union([
        Type.Literal('declined'),
        Type.Literal('wallet_error'),
        Type.Literal('not_accepted'),
        Type.Literal('cancelled'),
        Type.Literal('not_followed'),
        Type.Literal('not_compared'),
      ]),
    ),
    return_url: Type.Optional(Type.String()),
    returns: Type.Optional(
      Type.Literal(true, { description: 'This browser owns the page and gets a response code for the way back.' }),
    ),
    created_at: Timestamp,
    expires_at: Timestamp,
    now: Timestamp,
  },
  { additionalProperties: false },
)
export type HostedVerification = typeof HostedVerification.static

export const PageOwner = Type.Object({ owner: Type.Boolean() }, { additionalProperties: false })
export type PageOwner = typeof PageOwner.static

export const PageReturn = Type.Object({ return_url: Type.Optional(Type.String()) }, { additionalProperties: false })
export type PageReturn = typeof PageReturn.static

export const ErasureResult = Type.Object(
  {
    id: Type.String({ description: 'The erased verification.' }),
    deleted: Type.Object(
      {
        verification_sessions: Type.Integer({ minimum: 0 }),
        verification_results: Type.Integer({ minimum: 0 }),
        webhook_deliveries: Type.Integer({ minimum: 0 }),
      },
      { additionalProperties: false, description: 'Rows deleted for good, per table.' },
    ),
    erased_at: Timestamp,
  },
  { additionalProperties: false, $id: 'ErasureResult' },
)
export type ErasureResult = typeof ErasureResult.static

export const RedeemResponseCode = Type.Object(
  { response_code: Text({ minLength: 16, maxLength: 512, description: 'From the fragment of the redirect.' }) },
  { additionalProperties: false, $id: 'RedeemResponseCode' },
)

export const CancelVerification = Type.Object(
  {},
  { additionalProperties: false, $id: 'CancelVerification', description: 'Nothing: the body may be left out.' },
)

export const CompareFaces = Type.Object(
  { same_person: Type.Boolean({ description: 'Whether the customer is the person on the photo of the document.' }) },
  { additionalProperties: false, $id: 'CompareFaces', examples: [{ same_person: true }] },
)

export const Comparison = Type.Object(
  {
    portrait: Type.String({
      pattern: '^data:',
      description: 'A data URL; an empty one, `data:,`, if the document holds nothing that could be shown.',
    }),
    claims: Type.Record(Type.String(), Type.Unknown(), { description: 'Merged verified claims, without the portrait.' }),
    until: Type.String({ format: 'date-time', description: 'Without a decision the session fails at this time.' }),
  },
  { additionalProperties: false, $id: 'Comparison' },
)
export type Comparison = typeof Comparison.static

export const VerificationId = Type.Object({ id: Type.String({ minLength: 1 }) })
