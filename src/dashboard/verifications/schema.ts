// The overview, and verifications.
import { Type } from '@sinclair/typebox'
import { Text, Timestamp } from '../../http/schema.ts'
import { Environment, Exactly, Limit, Nullable, OneOf } from '../../http/wire.ts'
import { Numbers, Usage } from '../../usage/schema.ts'
import { CreateVerification, Finding, Status, Verification } from '../../verifications/schema.ts'
import { DELIVERY_STATUSES, OUTCOMES } from '../../webhooks/schema.ts'

const OfList = { id: Type.String(), label: Type.String(), environment: Environment }

/** A notice: a code that the page has a sentence for, with the sentence's values. */
export const Attention = Type.Union([
  Exactly({ code: Type.Literal('no_trust_anchors') }),
  Exactly({ code: Type.Literal('trust_anchor_expires'), id: Type.String(), label: Type.String(), not_after: Timestamp }),
  Exactly({ code: Type.Literal('trust_list_stale'), ...OfList, until: Timestamp }),
  Exactly({ code: Type.Literal('trust_list_ended'), ...OfList }),
  /** No new issue since then: refused, or unreachable for a day. */
  Exactly({ code: Type.Literal('trust_list_refused'), ...OfList, since: Timestamp }),
  Exactly({ code: Type.Literal('trust_signer_changed'), ...OfList }),
  Exactly({ code: Type.Literal('certificate_self_made') }),
  Exactly({ code: Type.Literal('certificate_expires'), not_after: Timestamp, days_left: Type.Integer() }),
  Exactly({ code: Type.Literal('registration_ends'), id: Type.String(), label: Type.String(), not_after: Timestamp }),
  Exactly({ code: Type.Literal('quota_nearly_used'), used: Type.Integer(), daily_quota: Type.Integer() }),
  Exactly({ code: Type.Literal('public_url_not_https'), public_url: Type.String() }),
  Exactly({ code: Type.Literal('public_url_local'), public_url: Type.String() }),
  Exactly({ code: Type.Literal('token_copied'), device_id: Type.String(), name: Type.String(), revoked_at: Timestamp }),
  Exactly({ code: Type.Literal('pairing_lapsed'), device_id: Type.String(), name: Type.String(), lapsed_at: Timestamp }),
  /** One per receiver: deliveries that failed lately, and those that wait for their next attempt. */
  Exactly({
    code: Type.Literal('webhook_failing'),
    origin: Type.String(),
    failed: Type.Integer(),
    waiting: Type.Integer(),
    newest_id: Type.String(),
  }),
])
export type Attention = typeof Attention.static

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

/** Steps of a new shop, each derived from stored facts: nobody ticks them by hand. */
export const FirstSteps = Exactly({
  /** A test verification was completed. */
  tried: Type.Boolean(),
  /** True with a key or a paired till. */
  connected: Type.Boolean(),
  /** A receiver took a webhook. */
  received: Type.Boolean(),
})
export type FirstSteps = typeof FirstSteps.static

export const Overview = Exactly({
  usage: Usage,
  recent: Type.Array(VerificationSummary),
  attention: Type.Array(Attention),
  numbers: Numbers,
  /** Null once a live verification was completed. */
  first_steps: Nullable(FirstSteps),
})
export type Overview = typeof Overview.static

const Instant = Type.Optional(Type.String({ format: 'date-time' }))

export const VerificationExport = Exactly({
  environment: Environment,
  /** The id of a session or of a delivery, or a whole metadata value. */
  search: Type.Optional(Text({ minLength: 1, maxLength: 500 })),
  status: Type.Optional(Status),
  template: Type.Optional(Text({ minLength: 1, maxLength: 64 })),
  device: Type.Optional(Text({ minLength: 1, maxLength: 64 })),
  key: Type.Optional(Text({ minLength: 1, maxLength: 64 })),
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
})

/** Present on an answer that a page brought. */
const BROWSER_CHANNEL = {
  channel: Type.Optional(Type.Literal('dc_api')),
  protocol: Type.Optional(Type.String()),
  origin: Type.Optional(Type.String()),
}

/** The events of a session, oldest first. */
export const Moment = Type.Union([
  /** `actor`: a key's prefix, a device's name, a dashboard user. */
  Exactly({ at: Timestamp, event: Type.Literal('created'), ...ACTOR }),
  Exactly({ at: Timestamp, event: Type.Literal('qr_shown') }),
  Exactly({ at: Timestamp, event: Type.Literal('request_fetched') }),
  Exactly({ at: Timestamp, event: Type.Literal('response_unreadable'), reason: Type.String() }),
  Exactly({
    at: Timestamp,
    event: Type.Literal('response_posted'),
    status: Type.Union([Type.Literal('completed'), Type.Literal('failed')]),
    error: Type.Optional(Type.String()),
    credentials: Type.Array(CheckedCredential),
    ...BROWSER_CHANNEL,
  }),
  /** A page of this origin asked through the browser. */
  Exactly({ at: Timestamp, event: Type.Literal('dc_requested'), origin: Type.String(), protocols: Type.Array(Type.String()) }),
  Exactly({ at: Timestamp, event: Type.Literal('dc_error'), protocol: Type.String(), code: Type.String() }),
  /** A good response is held, and not shown before its response code is redeemed, or its photo is compared. */
  Exactly({ at: Timestamp, event: Type.Literal('response_held'), awaits: OneOf('redemption', 'comparison') }),
  Exactly({ at: Timestamp, event: OneOf('redirect_not_followed', 'not_compared') }),
  Exactly({ at: Timestamp, event: Type.Literal('expired') }),
  /** `actor`: as of `created`. */
  Exactly({ at: Timestamp, event: Type.Literal('cancelled'), ...ACTOR }),
  Exactly({ at: Timestamp, event: Type.Literal('redeemed') }),
  /** Somebody looked at what the holder presented. */
  Exactly({ at: Timestamp, event: Type.Literal('claims_read'), ...ACTOR }),
  /** The person at a till compared the photo with the customer. */
  Exactly({ at: Timestamp, event: Type.Literal('photo_compared'), ...ACTOR, same_person: Type.Boolean() }),
])
export type Moment = typeof Moment.static

export const AttemptSummary = Exactly({
  /** Counted from 1 again after a replay. */
  attempt: Type.Integer({ minimum: 1 }),
  at: Timestamp,
  outcome: OneOf('under_way', ...OUTCOMES),
  http_status: Nullable(Type.Integer()),
})
export type AttemptSummary = typeof AttemptSummary.static

export const DeliveryStatus = OneOf(...DELIVERY_STATUSES)

export const DeliverySummary = Exactly({
  id: Type.String(),
  verification_id: Type.String(),
  type: OneOf('verification.completed', 'verification.failed'),
  status: DeliveryStatus,
  /** Attempts begun, replays included. */
  attempts: Type.Integer({ minimum: 0 }),
  last_attempt: Type.Optional(AttemptSummary),
  created_at: Timestamp,
  /** Present while it is pending. */
  next_attempt_at: Type.Optional(Timestamp),
  /** The HTTP request that made it due, as in the log: the wallet's response, or a replay. */
  request_id: Type.Optional(Type.String()),
})
export type DeliverySummary = typeof DeliverySummary.static

export const LoggedDelivery = Exactly({ ...DeliverySummary.properties, log: Type.Array(AttemptSummary) })
export type LoggedDelivery = typeof LoggedDelivery.static

export const VerificationDetail = Exactly({
  /** The body of GET /v1/verifications/{id}. */
  verification: Verification,
  environment: Environment,
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
})
export type TryVerification = typeof TryVerification.static
