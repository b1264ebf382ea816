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
