// Turns the wrapping key, or seals rows again, one line of output before and after each write, until it is killed:
// bun keys-child.ts DIR turn|seal [NOW]
import { loadConfig } from '../../../src/config.ts'
import { createDeps } from '../../../src/deps.ts'
import { realWorld } from '../../../src/ground.ts'
import { turnWrappingKey } from '../../../src/session-keys/turn.ts'
import { sealAgain } from '../../../src/upkeep/seal-again.ts'

const [dir = '', what, now] = process.argv.slice(2)
const clock = { ms: Number(now ?? Date.now()) }
const world = { ...realWorld(), now: () => clock.ms, wall: () => clock.ms, monotonic: undefined, writeLog: () => {} }
const { VIDIMUS_DATABASE_URL } = process.env
const deps = await createDeps(loadConfig({ VIDIMUS_DATA_DIR: dir, VIDIMUS_DATABASE_URL }), world, 'command')
await deps.sessionKeys.look(deps.db)

const tell = () => void Bun.write(Bun.stdout, '.\n')
const told =
  (write: typeof deps.write): typeof deps.write =>
  async work => {
    tell()
    await Bun.sleep(1)
    const value = await write(work)
    tell()
    await Bun.sleep(1)
    return value
  }
const slow = { ...deps, write: told(deps.write), writeSettings: told(deps.writeSettings) }

if (what === 'seal') await sealAgain(slow)
else {
  await turnWrappingKey(slow)
  clock.ms += 11 * 60_000
  await turnWrappingKey(slow)
}
await deps.close()
