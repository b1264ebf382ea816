// No node may run: it would seal rows under the old row key. A node that starts meanwhile waits for the lock, or finds at its first
// beat that it has the keys of before. One that stood still, and was taken for dead, can write nothing any more (key-epoch.ts).
import { createSealer, type Keyring } from '../../base/seal.ts'
import type { DatabaseSettings } from '../database-url.ts'
import { StartRefusal } from '../refusal.ts'
import { adoptNewKey, findRootKey, findWrapper, openRootKey, writeNewKey } from '../root-key.ts'
import type { Keys, Turn } from '../turn.ts'
import { looseEntries } from './audit-ids.ts'
import { holdKeys, replaceEpoch } from './key-epoch.ts'
import { awaitBeats, keepNodesOut, listLiving } from './nodes.ts'
import { inTransaction, withSession } from './open.ts'
import { drizzleOver } from './pool.ts'
import type { Session } from './session.ts'

export function rekeyServer<Turned extends { keyring: Keyring }>(
  settings: DatabaseSettings,
  keys: Keys,
  turn: Turn<Turned>,
): Promise<Turned> {
  return withSession(settings, 'job', async session => {
    await awaitBeats(session)
    const turned = await inTransaction(session, async () => {
      // Until the commit nobody reads the keys, so nobody takes the new file for a left-over.
      await holdKeys(session)
      await keepNodesOut(session)
      refuseLiving((await listLiving(session)).map(({ id }) => id))
      return await replaceKey(session, keys, turn)
    })
    adoptNewKey(keys.masterKey.file)
    return turned
  })
}

function refuseLiving(nodes: readonly string[]): void {
  if (nodes.length === 0) return
  throw new StartRefusal('directory_in_use', `these nodes run: ${nodes.join(', ')}; stop them, and run this again`)
}

async function replaceKey<Turned extends { keyring: Keyring }>(
  session: Session,
  { masterKey, random }: Keys,
  turn: Turn<Turned>,
): Promise<Turned> {
  const tx = drizzleOver(session)
  const wrapped = await findRootKey(tx)
  if (!wrapped) throw new StartRefusal('key_missing', 'the database has no keys yet; start the service once')
  const rootKey = openRootKey(findWrapper(masterKey, wrapped, random), wrapped)
  const wrapper = createSealer(writeNewKey(masterKey.file, random), random)
  const turned = await turn(tx, rootKey, wrapper, looseEntries())
  await replaceEpoch(session, turned.keyring.epoch)
  return turned
}
