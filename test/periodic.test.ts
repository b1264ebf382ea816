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
  startPeriodic({ ...deps, whenLeader })()
  expect(led).toContain('sweep')
  expect(led).toContain('checkpoint')
  expect(led).not.toContain('portraits')
  expect(led).not.toContain('heartbeat')
})
