import { afterAll, describe, expect, test } from 'bun:test'
import { startPeriodic } from '../src/service/periodic.ts'
import { cleanUp, NOON, startApp, type TestApp } from './helpers/app.ts'
import { editRows, isOnPostgres } from './helpers/database.ts'

afterAll(cleanUp)

test('jobs on shared rows run on one node only, jobs on memory and heartbeat on each', async () => {
  const { deps } = await startApp()
  const led: string[] = []
  const whenLeader: typeof deps.whenLeader = job => {
    led.push(job.name)
    return job
  }
  await startPeriodic({ ...deps, whenLeader })()
  expect(led).toContain('sweep')
  expect(led).toContain('checkpoint')
  expect(led).toContain('held answers')
  expect(led).not.toContain('budgets')
  expect(led).not.toContain('heartbeat')
})

test('every job comes within an hour of a start, as shops switch their machine off at night', async () => {
  const { deps } = await startApp()
  const late: string[] = []
  const whenLeader: typeof deps.whenLeader = job => {
    if (job.everyMs > 3_600_000) late.push(job.name)
    return job
  }
  await startPeriodic({ ...deps, whenLeader })()
  // Every start warns of a certificate that ends.
  expect(late).toEqual(['certificate'])
})

test('a stop waits for a job under way, and logs no error', async () => {
  const { deps, logs } = await startApp()
  const begun = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  const steps: string[] = []
  const slow = async () => {
    begun.resolve()
    await released.promise
    await deps.write(() => {})
    steps.push('job ended')
  }
  const whenLeader: typeof deps.whenLeader = job => (job.name === 'sweep' ? { ...job, everyMs: 1, run: slow } : job)
  const stop = startPeriodic({ ...deps, whenLeader })
  await begun.promise
  const stopped = stop().then(() => steps.push('stopped'))
  released.resolve()
  await stopped
  expect(steps).toEqual(['job ended', 'stopped'])
  expect(logs.filter(line => line.includes('"job.'))).toEqual([])
})

test('a job that is cut off by a stop is no error', async () => {
  const { deps, logs } = await startApp()
  const begun = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  const cutOff = async () => {
    begun.resolve()
    await released.promise
  }
  const whenLeader: typeof deps.whenLeader = job => (job.name === 'sweep' ? { ...job, everyMs: 1, run: cutOff } : job)
  const stop = startPeriodic({ ...deps, whenLeader })
  await begun.promise
  const stopped = stop()
  released.reject(new Error('the storage is closed'))
  await stopped
  expect(logs.filter(line => line.includes('"job.')).map(line => JSON.parse(line))).toMatchObject([
    { level: 'info', event: 'job.cut_off', detail: 'sweep' },
  ])
})

describe('the wrapping key', () => {
  const DAY_MS = 86_400_000
  const NEVER_MS = 2 ** 31 - 1
  const turned = async ({ deps }: TestApp) => (await deps.sessionKeys.look(deps.db)).map(({ activeAt }) => activeAt !== null)
  /** Nodes that start at once share a look: by the clock of the database, the last one was a minute ago. */
  const forgetLook = ({ home }: TestApp) =>
    isOnPostgres ? editRows(home, "UPDATE job_runs SET begun_at = begun_at - interval '1 minute'") : undefined

  test('the wrapping key is looked at when a service starts: one that is restarted every twenty minutes turns it', async () => {
    const first = await startApp()
    await first.stop()
    let at = NOON + DAY_MS
    const seen: boolean[][] = []
    for (let restart = 0; restart < 2; restart++) {
      forgetLook(first)
      const app = await startApp({ dir: first.dir, now: at })
      seen.push(await turned(app))
      await app.stop()
      at += 20 * 60_000
    }
    expect(seen).toEqual([
      [true, false],
      [true, true],
    ])
  })

  test('the wrapping key is looked at when the clock enters another hour, however long the service has run, and once in each', async () => {
    const { deps, clock } = await startApp({ now: NOON + 50 * 60_000 })
    const looked: string[] = []
    let polled = Promise.withResolvers<void>()
    const now = () => {
      polled.resolve()
      return clock.now()
    }
    const whenLeader: typeof deps.whenLeader = job => ({
      ...job,
      everyMs: job.isOnTheHour ? 1 : NEVER_MS,
      run: async () => void looked.push(new Date(clock.now()).toISOString().slice(11, 16)),
    })
    const stop = startPeriodic({ ...deps, now, whenLeader })
    for (const minutes of [5, 5, 1, 58, 1, 120]) {
      clock.advance(minutes * 60_000)
      for (let polls = 0; polls < 3; polls++) {
        polled = Promise.withResolvers()
        await polled.promise
      }
    }
    await stop()
    expect(looked).toEqual(['12:50', '13:00', '14:00', '16:00'])
  })
})
