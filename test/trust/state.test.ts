import { expect, test } from 'bun:test'
import { endOf, sourceState } from '../../src/trust/state.ts'

const DAY_MS = 86_400_000
const issuedAt = Date.parse('2026-11-01T00:00:00Z')
const nextUpdate = issuedAt + 30 * DAY_MS

test('a list is fresh until its next update, stale for the grace after it, and ended from its last millisecond on', () => {
  const source = { issuedAt, nextUpdate, graceMs: 7 * DAY_MS }
  expect(endOf(source)).toBe(nextUpdate + 7 * DAY_MS)
  expect([nextUpdate - 1, nextUpdate, endOf(source) - 1, endOf(source)].map(now => sourceState(source, now))).toEqual([
    'fresh',
    'stale',
    'stale',
    'ended',
  ])
})

test('a list without grace ends at its next update', () => {
  const source = { issuedAt, nextUpdate, graceMs: 0 }
  expect([nextUpdate - 1, nextUpdate].map(now => sourceState(source, now))).toEqual(['fresh', 'ended'])
})

test('a list that names no next update is due 90 days after its issue', () => {
  const source = { issuedAt, nextUpdate: null, graceMs: 30 * DAY_MS }
  expect(sourceState(source, issuedAt + 90 * DAY_MS - 1)).toBe('fresh')
  expect(sourceState(source, issuedAt + 90 * DAY_MS)).toBe('stale')
  expect(endOf(source)).toBe(issuedAt + 120 * DAY_MS)
})
