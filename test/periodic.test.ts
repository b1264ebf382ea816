import { afterAll, expect, test } from 'bun:test'
import { startPeriodic } from '../src/service/periodic.ts'
import { cleanUp, startApp } from './helpers/app.ts'

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
