import { Type } from '@sinclair/typebox'
import { Text, Timestamp } from '../../http/schema.ts'
import { Environment, Exactly, Limit, Nullable, OneOf } from '../../http/wire.ts'
import { WALLET_NOTES } from '../../verifications/exchange/wallet-metadata.ts'
import { CreateVerification, Finding, Status, Verification } from '../../verifications/schema.ts'
import { LoggedDelivery } from '../developers/webhooks/schema.ts'

/** Claims are left out: reading them leaves an audit record. */
export const VerificationSummary = Type.Composite(
  [
    Type.Omit(Verification, ['claims', 'credentials', 'wallet_uri', 'request_uri', 'redirect_url']),
    Type.Object({
      /** False for a query of its own, and where an age is asked for that no rule judges: then completed is not a yes. */
      is_judged: Type.Boolean(),
      /** The till that created it, or the API key. */
      device: Type.Optional(Exactly({ id: Type.String(), name: Type.String() })),
      key: Type.Optional(Exactly({ id: Type.String(), label: Type.String() })),
    }),
  ],
  { additionalProperties: false },
)
export type VerificationSummary = typeof VerificationSummary.static

const Instant = Type.Optional(Type.String({ format: 'date-time' }))

export const VerificationExport = Exactly({
  environment: Environment,
  /** The id of a session or of a delivery, a whole metadata value, or the first letters of words in one. */
  search: Type.Optional(Text({ minLength: 1, maxLength: 500 })),
  status: Type.Optional(Status),
  template: Type.Optional(Text({ minLength: 1, maxLength: 64 })),
  device: Type.Optional(Text({ minLength: 1, maxLength: 64 })),
  key: Type.Optional(Text({ minLength: 1, maxLength: 64 })),
  /** Asked so, whatever it was answered by. */
  channel: Type.Optional(OneOf('dc_api', 'in_person')),
  /** Created at or after. */
  from: Instant,
  /** Created before. */
  until: Instant,
})
export type VerificationExport = typeof VerificationExport.static

export const VerificationFilter = Exactly({ ...VerificationExport.properties, before: Instant, limit: Limit })
export type VerificationFilter = typeof VerificationFilter.static

export const VerificationPage = Exactly({
  data: Type.Array(VerificationSummary),
  /** `before` of the next page; null at the end. A filter may leave a page short or empty. */
  next_before: Nullable(Timestamp),
})
export type VerificationPage = typeof VerificationPage.static

/** `is_more`: there are more than were counted. */
export const VerificationCount = Exactly({ count: Type.Integer(), is_more: Type.Boolean() })
export type VerificationCount = typeof VerificationCount.static

/** The label where the actor is an API key that has one. */
const ACTOR = { actor: Type.String(), actor_label: Type.Optional(Type.String()) }

const CheckedCredential = Exactly({
  /** The id of the credential in the query. */
  credential: Type.String(),
  /** Every check in its order, passed ones included. */
  checks: Type.Array(Type.Composite([Finding, Type.Object({ at: Timestamp })], { additionalProperties: false })),
  /** The anchor it was trusted by, and the list that named it. */
  trust: Type.Optional(
    Exactly({
      anchor: Type.String(),
      source: Type.Optional(Type.String()),
      sequence: Type.Optional(Type.Integer()),
      issued_at: Type.Optional(Timestamp),
    }),
  ),
  /** The list it was checked against, where no newer one could be fetched. */
  status: Type.Optional(Exactly({ as_of: Timestamp, from: Type.Union([Type.Literal('fetched'), Type.Literal('bundle')]) })),
})

/** Present on an answer that a page brought, or a phone in person. */
const CHANNEL = {
  channel: Type.Optional(OneOf('dc_api', 'in_person')),
  protocol: Type.Optional(Type.String()),
  origin: Type.Optional(Type.String()),
  engagement: Type.Optional(Type.Literal('qr')),
  /** Absent for a signature. */
  proof: Type.Optional(Type.Literal('mac')),
  /** Documents beyond those that count. */
  dropped: Type.Optional(Type.Integer()),
}

/** The events of a session, oldest first. */
export const Moment = Type.Union([
  /** `actor`: a key's prefix, a device's name, a dashboard user. */
  Exactly({ at: Timestamp, event: Type.Literal('created'), ...ACTOR }),
  Exactly({ at: Timestamp, event: Type.Literal('qr_shown') }),
  /** The wallet's own words: its formats, the credentials left out for them, and the parts of a request that it cannot take. */
  Exactly({
    at: Timestamp,
    event: Type.Literal('request_fetched'),
    method: Type.Optional(OneOf('get', 'post')),
    formats: Type.Optional(Type.Array(OneOf('dc+sd-jwt', 'mso_mdoc'))),
    dropped: Type.Optional(Type.Array(Type.String())),
    notes: Type.Optional(Type.Array(OneOf(...WALLET_NOTES))),
  }),
  Exactly({ at: Timestamp, event: Type.Literal('response_unreadable'), reason: Type.String() }),
  Exactly({
    at: Timestamp,
    event: Type.Literal('response_posted'),
    status: Type.Union([Type.Literal('completed'), Type.Literal('failed')]),
    error: Type.Optional(Type.String()),
    credentials: Type.Array(CheckedCredential),
    ...CHANNEL,
  }),
  /** A page of this origin asked through the browser. */
  Exactly({ at: Timestamp, event: Type.Literal('dc_requested'), origin: Type.String(), protocols: Type.Array(Type.String()) }),
  Exactly({ at: Timestamp, event: Type.Literal('dc_error'), protocol: Type.String(), code: Type.String() }),
  /** The code of a phone was scanned. */
  Exactly({
    at: Timestamp,
    event: Type.Literal('in_person_requested'),
    version: OneOf('1.0', '1.1'),
    extended: Type.Boolean(),
    offers: Type.Array(Type.String()),
    documents: Type.Integer(),
  }),
  Exactly({
    at: Timestamp,
    event: Type.Literal('in_person_refused'),
    reason: OneOf('invalid', 'curve_not_supported', 'transport_not_supported'),
    offers: Type.Array(Type.String()),
  }),
  Exactly({ at: Timestamp, event: OneOf('in_person_error', 'in_person_failed'), code: Type.String() }),
  /** A good response is held, and not shown before its response code is redeemed, or its photo is compared. */
  Exactly({ at: Timestamp, event: Type.Literal('response_held'), awaits: OneOf('redemption', 'comparison') }),
  Exactly({ at: Timestamp, event: OneOf('redirect_not_followed', 'not_compared') }),
  Exactly({ at: Timestamp, event: Type.Literal('expired') }),
  /** `actor`: as of `created`. */
  Exactly({ at: Timestamp, event: Type.Literal('cancelled'), ...ACTOR }),
  Exactly({ at: Timestamp, event: Type.Literal('redeemed') }),
  /** Somebody looked at what the holder presented. */
  Exactly({ at: Timestamp, event: Type.Literal('claims_read'), ...ACTOR }),
  /** Of a log-in. `client`: its id. */
  Exactly({
    at: Timestamp,
    event: OneOf('login_started', 'login_returned', 'login_refused', 'code_issued', 'token_issued', 'userinfo_read'),
    client: Type.Optional(Type.String()),
    reason: Type.Optional(Type.String()),
    claims: Type.Optional(Type.Array(Type.String())),
    left_out: Type.Optional(Type.Array(Type.String())),
  }),
  /** The person at a till compared the photo with the customer. */
  Exactly({ at: Timestamp, event: Type.Literal('photo_compared'), ...ACTOR, same_person: Type.Boolean() }),
])
export type Moment = typeof Moment.static

export const VerificationDetail = Exactly({
  /** The body of GET /v1/verifications/{id}. */
  verification: Verification,
  environment: Environment,
  /** Those of the query. */
  formats: Type.Array(OneOf('dc+sd-jwt', 'mso_mdoc')),
  /** The DCQL query that the wallet got. */
  query: Type.Record(Type.String(), Type.Unknown()),
  /** False for a query of its own, and where an age is asked for that no rule judges: completed is no yes then. */
  is_judged: Type.Boolean(),
  timeline: Type.Array(Moment),
  deliveries: Type.Array(LoggedDelivery),
})
export type VerificationDetail = typeof VerificationDetail.static

/** Creates a test session. Live ones need an API key. */
export const TryVerification = Exactly({
  template: Text({ minLength: 1, maxLength: 64 }),
  purpose: CreateVerification.properties.purpose,
  /** Gets a real message, to try a receiver with. */
  webhook_url: CreateVerification.properties.webhook_url,
  formats: CreateVerification.properties.formats,
})
export type TryVerification = typeof TryVerification.static

/** The first has no run yet; each names how many there are. */
export const ExampleStep = Exactly({
  run: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9]{22}$' })),
  from: Type.Integer({ minimum: 0, maximum: 49 }),
})
export type ExampleStep = typeof ExampleStep.static

export const MadeExamples = Exactly({ run: Type.String(), made: Type.Integer(), of: Type.Integer() })
export type MadeExamples = typeof MadeExamples.static

/** The word is what somebody typed. */
export const EmptyTest = Exactly({ word: Type.Literal('empty') })
export const EmptiedTest = Exactly({ erased: Type.Integer(), remaining: Type.Integer() })
export type EmptiedTest = typeof EmptiedTest.static
