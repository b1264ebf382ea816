import { heapStats } from 'bun:jsc'
import { afterAll, expect, test } from 'bun:test'
import { cleanUp, startApp } from '../helpers/app.ts'

afterAll(cleanUp)

const timers = () => heapStats().objectTypeCounts.Immediate ?? 0

test('no request has a timer of its own, which would keep it in memory', async () => {
  const app = await startApp()
  const atFirst = timers()
  for (let i = 0; i < 200; i++) setImmediate(() => {})
  expect(timers() - atFirst).toBeGreaterThanOrEqual(200)
  await app.call('GET', '/healthz')
  const before = timers()
  for (let i = 0; i < 10; i++) await Promise.all(Array.from({ length: 50 }, () => app.call('GET', '/healthz')))
  expect(timers() - before).toBeLessThan(100)
})
