import { Type } from '@sinclair/typebox'
import { CHECKS } from '../../../doctor/check.ts'
import type { ClauseRow } from '../../../doctor/eu/examine.ts'
import type { Found } from '../../../doctor/examine.ts'
import { Timestamp } from '../../../http/schema.ts'
import { Exactly, Nullable, OneOf } from '../../../http/wire.ts'
import { FindingOf } from '../../finding-schema.ts'

/** The report of `vidimus doctor`. */
export const Health = Exactly({
  checked_at: Timestamp,
  checks: Type.Array(
    Exactly({
      name: OneOf(...CHECKS),
      /** `not_set_up`: neither in order nor wrong. */
      status: OneOf('ok', 'not_set_up', 'warning', 'problem'),
      ...FindingOf<Found>().properties,
    }),
  ),
})
export type Health = typeof Health.static

/** The report of `vidimus doctor --profile eu`. */
export const EuProfile = Exactly({
  checked_at: Timestamp,
  clauses: Type.Array(
    Exactly({
      id: Type.Unsafe<ClauseRow['id']>(Type.String()),
      level: OneOf('must', 'should'),
      status: OneOf('pass', 'fail', 'not_applicable', 'unknown'),
      subject: Nullable(Type.String()),
      found: Type.Array(Type.String()),
      sure: OneOf('read', 'second_hand'),
    }),
  ),
})
export type EuProfile = typeof EuProfile.static
