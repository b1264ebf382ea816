// The way to the first live verification.

import { Type } from '@sinclair/typebox'
import type { Found } from '../../doctor/examine.ts'
import { Timestamp } from '../../http/schema.ts'
import { Exactly, Nullable, OneOf } from '../../http/wire.ts'
import { DOCUMENT_KINDS } from '../../tenants/go-live.ts'
import { FindingOf } from '../finding-schema.ts'

/** Steps in the order a shop takes them: papers of other people first, because they take days. */
export const STEPS = [
  'address',
  'identity',
  'registration',
  'issuers_test',
  'first_test',
  'issuers_live',
  'eu_profile',
  'keys',
  'first_live',
  'renewals',
  'retention',
] as const
export type StepName = (typeof STEPS)[number]

/** Each has a sentence on the page. */
const REASONS = [
  'reached',
  'address_local',
  'address_plain',
  'address_unsound',
  'identity_not_needed',
  'identity_valid',
  'identity_self_made',
  'identity_requested',
  'identity_scheduled',
  'identity_unsound',
  'registration_not_needed',
  'registered',
  'registration_missing',
  'registration_beyond',
  'registration_unsound',
  'issuers_named',
  'issuers_missing',
  'issuers_ended',
  'eu_profile_not_needed',
  'eu_profile_failing',
  'eu_profile_holds',
  'tested',
  'not_tested',
  'may_ask',
  'no_key',
  'went_live',
  'not_live',
  'renewals_later',
  'renewals_fine',
  'ends_soon',
  'has_ended',
  'list_failing',
  'kept_days',
  'kept_until_erased',
  'retention_open',
] as const
export type Reason = (typeof REASONS)[number]

const Documents = Type.Array(OneOf(...DOCUMENT_KINDS), { maxItems: DOCUMENT_KINDS.length, uniqueItems: true })

export const Step = Exactly({
  step: OneOf(...STEPS),
  /** `waiting`: for somebody else, or for another step. */
  state: OneOf('done', 'to_do', 'waiting', 'not_needed', 'problem'),
  reason: OneOf(...REASONS),
  /** The sentence names these: chosen documents, names of things, a time. */
  documents: Documents,
  names: Type.Array(Type.String()),
  at: Nullable(Timestamp),
  /** What the check behind the step found. */
  finding: Nullable(FindingOf<Found>()),
  command: Nullable(Type.String()),
  /** The list that would bring a missing issuer; null where the shop brings a certificate itself. */
  preset: Nullable(Type.String()),
})
export type Step = typeof Step.static

export const GoLive = Exactly({
  documents: Documents,
  /** Empty until documents are chosen. */
  steps: Type.Array(Step),
  /** Purposes of templates that ask EU wallets for identity data, beside the registered ones. */
  purposes: Type.Array(
    Exactly({
      template: Type.String(),
      /** Null where each creation gives its own. */
      purpose: Nullable(Exactly({ en: Type.String(), de: Type.String() })),
      registered: Type.Array(Exactly({ lang: Type.String(), value: Type.String() })),
    }),
  ),
  is_done: Type.Boolean(),
})
export type GoLive = typeof GoLive.static

export const ChoosePath = Exactly({ documents: Documents })
