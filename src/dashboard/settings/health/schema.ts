import { Type } from '@sinclair/typebox'
import { CHECKS } from '../../../doctor/check.ts'
import type { Found } from '../../../doctor/examine.ts'
import { Timestamp } from '../../../http/schema.ts'
import { Exactly, OneOf } from '../../../http/wire.ts'
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
