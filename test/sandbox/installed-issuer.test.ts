// The issuer of one installation.
import { afterAll, expect, test } from 'bun:test'
import { createDeps } from '../../src/deps.ts'
import { realWorld } from '../../src/ground.ts'
import { findSandbox, saveSandbox } from '../../src/sandbox/store.ts'
import { cleanUp, startApp } from '../helpers/app.ts'

afterAll(cleanUp)

test('a server and a command that make the sandbox issuer at once have the same one', async () => {
  const app = await startApp()
  const command = await createDeps(app.deps.config, { ...realWorld(), now: app.clock.now }, 'command')
  const [ours, theirs] = await Promise.all([app.deps.sandbox(), command.sandbox()])
  expect(Buffer.from(theirs.anchor.certificate)).toEqual(Buffer.from(ours.anchor.certificate))
  await command.close()
})

test('a stored sandbox issuer that cannot be read is read again at the next call, and not replaced', async () => {
  const app = await startApp()
  const { deps } = app
  const stored = (await findSandbox(deps.db))!
  const damaged = Buffer.from(stored.map((byte, i) => (i === stored.length - 1 ? byte ^ 1 : byte)))
  await deps.write(tx => saveSandbox(tx, damaged, stored))
  const shown = () => app.call('GET', '/sandbox/crl')
  expect((await shown()).status).toBe(500)
  expect(await findSandbox(deps.db)).toEqual(damaged)
  await deps.write(tx => saveSandbox(tx, stored, damaged))
  expect((await shown()).status).toBe(200)
})
