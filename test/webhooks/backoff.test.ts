import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { loadConfig } from '../../src/config.ts'
import { retryAfterOf, waitBefore } from '../../src/webhooks/backoff.ts'
import { words } from '../helpers/words.ts'

const lowest = (count: number) => new Uint8Array(count)
const highest = (count: number) => new Uint8Array(count).fill(255)
const middle = () => Uint8Array.of(0x7f, 0xff, 0xff, 0xff)

const delaysOf = (text?: string) => loadConfig(text === undefined ? {} : { VIDIMUS_WEBHOOK_DELAYS: text }).webhookDelaysMs
const SIX = delaysOf()

describe('the wait before an attempt', () => {
  test('is at once, 5 s, 1 min, 10 min, 2 h and 22 h, 20 % less or more, and nothing after the sixth', () => {
    const waits = (random: typeof lowest) => [0, 1, 2, 3, 4, 5, 6, 7].map(ended => waitBefore(SIX, ended, random))
    expect(waits(lowest)).toEqual([0, 4000, 48_000, 480_000, 5_760_000, 63_360_000, undefined, undefined])
    expect(waits(highest)).toEqual([0, 6000, 72_000, 720_000, 8_640_000, 95_040_000, undefined, undefined])
    expect(waits(middle).slice(0, 3)).toEqual([0, 5000, 60_000])
  })

  test('is a whole number of milliseconds within the 20 %, for any random number, and uses the whole range', () => {
    const seen: number[] = []
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 4, maxLength: 4 }), fc.integer({ min: 1, max: 5 }), (dice, ended) => {
        const wait = waitBefore(SIX, ended, () => dice) ?? Number.NaN
        expect(Number.isInteger(wait)).toBe(true)
        seen.push(wait / SIX[ended]!)
      }),
      { numRuns: 1000 },
    )
    expect(Math.min(...seen)).toBeGreaterThanOrEqual(0.8)
    expect(Math.max(...seen)).toBeLessThanOrEqual(1.2)
    for (const part of [0.8, 0.9, 1, 1.1]) expect(seen.some(share => share >= part && share < part + 0.1)).toBe(true)
  })

  test('follows VIDIMUS_WEBHOOK_DELAYS of any length: one entry is one attempt', () => {
    expect(delaysOf('0s').map((_, ended) => waitBefore(delaysOf('0s'), ended, middle))).toEqual([0])
    expect(waitBefore(delaysOf('0s'), 1, middle)).toBeUndefined()
    const twelve = delaysOf('10s,1s,1s,1s,1s,1s,1s,1s,1s,1s,1s,3s')
    expect(waitBefore(twelve, 0, middle)).toBe(10_000)
    expect(waitBefore(twelve, 11, middle)).toBe(3000)
    expect(waitBefore(twelve, 12, middle)).toBeUndefined()
  })
})

describe('Retry-After', () => {
  test('counts from the delay to twice the delay, without dice', () => {
    const asked = (seconds: number) => waitBefore(SIX, 1, highest, seconds * 1000)
    expect([0, 4, 5, 5.001, 7, 9.999, 10, 10.001, 1e9].map(asked)).toEqual([
      5000, 5000, 5000, 5001, 7000, 9999, 10_000, 10_000, 10_000,
    ])
    expect(waitBefore(SIX, 5, lowest, 1e12)).toBe(2 * 79_200_000)
  })

  test('makes no further attempt after the last', () => {
    expect(waitBefore(SIX, 6, middle, 1000)).toBeUndefined()
  })

  test('is seconds or an HTTP date', () => {
    const now = Date.parse('2026-03-04T12:00:00.000Z')
    expect(retryAfterOf('0', now)).toBe(0)
    expect(retryAfterOf('5', now)).toBe(5000)
    expect(retryAfterOf('1000000000', now)).toBe(1e12)
    expect(retryAfterOf('Wed, 04 Mar 2026 12:00:07 GMT', now)).toBe(7000)
    expect(retryAfterOf('Wed, 04 Mar 2026 12:00:00 GMT', now)).toBe(0)
    // Long past is no wait, never a negative one.
    expect(retryAfterOf('Sun, 06 Nov 1994 08:49:37 GMT', now)).toBe(0)
  })

  test('is ignored when it is neither', () => {
    const odd = words('-1 1.5 1e3 0x10 +5 soon 2026-03-05 ٥ 5,5')
    for (const header of [undefined, '', ' ', '5 s', 'Wed, soon', '9'.repeat(400), ...odd])
      expect([header, retryAfterOf(header, 0)]).toEqual([header, undefined])
  })

  test('of any text leaves the wait between the delay less a fifth and twice the delay', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.integer().map(String),
          fc.date({ noInvalidDate: true }).map(date => date.toUTCString()),
        ),
        fc.integer({ min: 1, max: 5 }),
        fc.uint8Array({ minLength: 4, maxLength: 4 }),
        (header, ended, dice) => {
          const wait = waitBefore(SIX, ended, () => dice, retryAfterOf(header, 1_772_625_600_000)) ?? Number.NaN
          expect(wait).toBeGreaterThanOrEqual(0.8 * SIX[ended]!)
          expect(wait).toBeLessThanOrEqual(2 * SIX[ended]!)
        },
      ),
      { numRuns: 500 },
    )
  })
})
