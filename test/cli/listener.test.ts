import { afterAll, expect, test } from 'bun:test'
import { listenRefusal } from '../../src/service/listener.ts'
import { cleanUp, startApp } from '../helpers/app.ts'

afterAll(cleanUp)

test('a port below 1024 that may not be taken is told as a lacking right, with the way to give it', () => {
  expect(listenRefusal('0.0.0.0', 443, 'EACCES')).toMatch(
    /^cannot listen on 0\.0\.0\.0:443 \(EACCES\): ports below 1024 need a permission; grant it \(.*CAP_NET_BIND_SERVICE.*\), or choose another PORT$/,
  )
  expect(listenRefusal('192.0.2.1', 443, 'EADDRNOTAVAIL')).not.toContain('right')
  expect(listenRefusal('0.0.0.0', 1024, 'EACCES')).not.toContain('right')
})

test('a service leaves no listener of the exit at its process, which would keep it in memory', async () => {
  const before = process.listenerCount('beforeExit')
  const app = await startApp()
  expect(process.listenerCount('beforeExit')).toBe(before)
  await app.stop()
})
