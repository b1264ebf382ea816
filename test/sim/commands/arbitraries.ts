import fc from 'fast-check'
import type { CallerArgs } from '../command.ts'

const byKey: fc.Arbitrary<CallerArgs> = fc.record({ by: fc.constant('key' as const), pick: fc.nat(5) })
export const byDevice: fc.Arbitrary<CallerArgs> = fc.record({
  by: fc.constant('device' as const),
  pick: fc.nat(3),
  age: fc.nat(1),
})
const byNobody: fc.Arbitrary<CallerArgs> = fc.constant({ by: 'nobody', pick: 0 })

/** Mostly the first key, which may do everything. */
export const anyone = fc.oneof(
  { weight: 10, arbitrary: fc.constant({ by: 'key', pick: 0 } satisfies CallerArgs) as fc.Arbitrary<CallerArgs> },
  { weight: 5, arbitrary: byKey },
  { weight: 5, arbitrary: byDevice },
  { weight: 1, arbitrary: byNobody },
)

export const some = fc.nat(6)

/** Few, so that they meet again. */
export const idempotencyKey = fc.constantFrom('order-1', 'order-2', 'order-3')
