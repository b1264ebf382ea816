import { afterEach, expect, spyOn, test } from 'bun:test'
import { createResolver } from '../src/egress/resolve.ts'
import { startApp } from './helpers/app.ts'
import { setUpOwner } from './helpers/dashboard.ts'
import { startNameServer } from './helpers/name-server.ts'

type Timer = ReturnType<typeof setTimeout>

let restore = () => {}
afterEach(() => restore())

/** Counts timers of this length that were set and not cleared. */
function watchTimers(ms: number) {
  const left = new Set<Timer>()
  let set = 0
  const [setTimer, clearTimer] = [globalThis.setTimeout, globalThis.clearTimeout]
  const setting = spyOn(globalThis, 'setTimeout').mockImplementation(((work: () => void, after?: number) => {
    const timer = setTimer(work, after)
    if (after === ms) set = left.add(timer).size
    return timer
  }) as never)
  const clearing = spyOn(globalThis, 'clearTimeout').mockImplementation(((timer?: Timer) => {
    if (timer) left.delete(timer)
    clearTimer(timer)
  }) as never)
  restore = () => [setting, clearing].forEach(spy => void spy.mockRestore())
  return () => ({ set, left: left.size })
}

test('/readyz that answers in time leaves no timer', async () => {
  const app = await startApp()
  const timers = watchTimers(5000)
  expect((await app.call('GET', '/readyz')).status).toBe(200)
  expect(timers()).toEqual({ set: 1, left: 0 })
})

test('a verification of the audit chain that ends in time leaves no timer', async () => {
  const app = await startApp()
  const boss = await setUpOwner(app)
  const timers = watchTimers(2000)
  expect((await boss.post<object>('/audit/verification')).body).toMatchObject({ state: 'done' })
  expect(timers()).toEqual({ set: 1, left: 0 })
})

test('a name resolved in time leaves no timer', async () => {
  const { servers, stop } = await startNameServer(({ type }) => ({ records: type === 'A' ? [{ a: '93.184.215.14' }] : [] }))
  const timers = watchTimers(1400)
  expect(await createResolver({ servers })('shop.example')).toEqual(['93.184.215.14'])
  expect(timers()).toEqual({ set: 1, left: 0 })
  stop()
})
