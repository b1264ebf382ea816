import { Type } from '@sinclair/typebox'
import { Day } from '../http/schema.ts'

const Count = (description: string) => Type.Integer({ minimum: 0, description })

export const Usage = Type.Object(
  {
    day: Day,
    verifications_created: Count('Creations counted so far today.'),
    daily_quota: Count("Today's budget: the plan's, or the tenant's own."),
    remaining: Count('What is left of it.'),
    recent: Type.Array(
      Type.Object({ day: Day, verifications_created: Count('Creations on that day.') }, { additionalProperties: false }),
      {
        maxItems: 30,
        description: 'Days with any usage, newest first.',
      },
    ),
  },
  { additionalProperties: false, $id: 'Usage' },
)
export type Usage = typeof Usage.static

const Ends = {
  verified: Type.Integer(),
  /** Answered, and something did not hold. */
  refused: Type.Integer(),
  declined: Type.Integer(),
  /** Not answered, not redeemed or not compared in time. */
  expired: Type.Integer(),
}

/** Ends of one environment in the last days; sessions that the shop stopped are left out. */
export const Numbers = Type.Object(
  {
    /** Oldest first, without gaps. */
    days: Type.Array(Type.Object({ day: Day, ...Ends }, { additionalProperties: false })),
    total: Type.Object(Ends, { additionalProperties: false }),
    /** From 0 to 1; null before the first end. */
    success_rate: Type.Union([Type.Number(), Type.Null()]),
    /** From creation to answer, right to a tenth; null before the first answer. */
    median_answer_ms: Type.Union([Type.Integer(), Type.Null()]),
    /** Reasons of refusals, the most frequent first. */
    reasons: Type.Array(Type.Object({ code: Type.String(), count: Type.Integer() }, { additionalProperties: false })),
    /** The most frequent first; `template` is null for queries of their own. */
    by_template: Type.Array(
      Type.Object({ template: Type.Union([Type.String(), Type.Null()]), ...Ends }, { additionalProperties: false }),
    ),
    /** `till` is null for API keys. */
    by_till: Type.Array(
      Type.Object(
        {
          till: Type.Union([
            Type.Object({ id: Type.String(), name: Type.String() }, { additionalProperties: false }),
            Type.Null(),
          ]),
          ...Ends,
        },
        { additionalProperties: false },
      ),
    ),
  },
  { additionalProperties: false },
)
export type Numbers = typeof Numbers.static
