import { afterAll, expect, test } from 'bun:test'
import { createDeps } from '../../src/deps.ts'
import { realWorld } from '../../src/ground.ts'
import { cleanUp, startApp } from '../helpers/app.ts'

afterAll(cleanUp)

test('a server and a command that make the sandbox issuer at once have the same one', async () => {
  const app = await startApp()
  const command = await createDeps(app.deps.config, { ...realWorld(), now: app.clock.now }, 'command')
  const [ours, theirs] = await Promise.all([app.deps.sandbox(), command.sandbox()])
  expect(Buffer.from(theirs.anchor.certificate)).toEqual(Buffer.from(ours.anchor.certificate))
  await command.close()
})
