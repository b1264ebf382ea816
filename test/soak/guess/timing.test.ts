import { expect, test } from 'bun:test'
import { judgeTimes } from './timing.ts'

const steady = (us: number): number[] => Array.from({ length: 400 }, (_, i) => us + (i % 7))
const firstHalf = (us: number, later: number): number[] => [...steady(us).slice(0, 200), ...steady(later).slice(200)]
const judge = (foreignUs: number[], neverUs: number[]) => judgeTimes(new Map([['one', { foreignUs, neverUs }]]))

test('a foreign id that is always slower than none is told', () => {
  expect(judge(steady(252), steady(193))).toEqual([expect.stringContaining('for a foreign id')])
})

test('a foreign id that is always faster than none is told', () => {
  expect(judge(steady(193), steady(252))).toHaveLength(1)
})

test('a difference in one half of the samples is not told', () => {
  expect(judge(firstHalf(400, 193), steady(193))).toEqual([])
})

test('differences that change their side are not told', () => {
  expect(judge(firstHalf(400, 193), firstHalf(193, 400))).toEqual([])
})

test('a difference that most answers have, but not the fast ones, is not told', () => {
  const disturbed = steady(193).map((us, i) => (i % 8 === 0 ? us : us * 3))
  expect(judge(disturbed, steady(193))).toEqual([])
})

test('a difference among the fast answers that most pairs do not have is not told', () => {
  const busy = (fastUs: number) => steady(400).map((us, i) => (i % 8 === 0 ? fastUs : us))
  expect(judge(busy(233), busy(160))).toEqual([])
})

test('a difference that pairs have while the machine is busy in turn is told', () => {
  const inTurns = (us: number) => steady(us).map((each, i) => (Math.floor(i / 20) % 2 ? each * 4 : each))
  expect(judge(inTurns(260), inTurns(193))).toHaveLength(1)
})

test('a difference of 50 microseconds, or of a fifth, is not told', () => {
  expect(judge(steady(150), steady(100))).toEqual([])
  expect(judge(steady(500), steady(400))).toEqual([])
})
