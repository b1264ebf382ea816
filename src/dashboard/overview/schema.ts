import { Type } from '@sinclair/typebox'
import { Timestamp } from '../../http/schema.ts'
import { Environment, Exactly, Nullable, OneOf } from '../../http/wire.ts'
import { Numbers, Usage } from '../../usage/schema.ts'
import { VerificationSummary } from '../verifications/schema.ts'

export const OverviewQuery = Exactly({ environment: Environment, days: Type.Optional(OneOf('7', '30', '90')) })
export type OverviewQuery = typeof OverviewQuery.static

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

/** Steps of a new shop, each derived from stored facts: nobody ticks them by hand. */
export const FirstSteps = Exactly({
  /** A test verification was completed. */
  tried: Type.Boolean(),
  /** A till is paired. */
  paired: Type.Boolean(),
  /** A key was used, other than the one that a first start makes for developers. */
  called: Type.Boolean(),
  /** A receiver took a webhook. */
  received: Type.Boolean(),
})
export type FirstSteps = typeof FirstSteps.static

export const Overview = Exactly({
  usage: Usage,
  recent: Type.Array(VerificationSummary),
  attention: Type.Array(Attention),
  numbers: Numbers,
  /** Null once a live verification was completed, or there are numbers to look at. */
  first_steps: Nullable(FirstSteps),
})
export type Overview = typeof Overview.static
