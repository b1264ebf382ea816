// A new master key for a PostgreSQL installation, as rekey.ts makes one for a database file. No node may run: it would seal
// rows under the old row key. A node that starts meanwhile waits for the lock, or finds at its first beat that
// it has the keys of before. One that stood still, and was taken for dead, can write nothing any more (db/postgres/key-epoch.ts).
import type { DatabaseSettings } from '../db/postgres/address.ts'
import { looseEntries } from '../db/postgres/audit-ids.ts'
import { holdKeys, replaceEpoch } from '../db/postgres/key-epoch.ts'
import { awaitBeats, keepNodesOut, listLiving } from '../db/postgres/nodes.ts'
import { inTransaction, withSession } from '../db/postgres/open.ts'
import { drizzleOver } from '../db/postgres/pool.ts'
import type { Session } from '../db/postgres/session.ts'
import { StartRefusal } from '../db/refusal.ts'
import { adoptNewKey, findRootKey, findWrapper, openRootKey, writeNewKey } from '../db/root-key.ts'
import { createSealer } from '../seal.ts'
import { type Signers, turnKeys, type Wanted } from './rekey.ts'

export function rekeyPostgres(settings: DatabaseSettings, wanted: Wanted): Promise<Signers> {
  return withSession(settings, 'job', async session => {
    await awaitBeats(session)
    const signers = await inTransaction(session, async () => {
      // Until the commit nobody reads the keys, so nobody takes the new file for a left-over.
      await holdKeys(session)
      await keepNodesOut(session)
      refuseLiving((await listLiving(session)).map(({ id }) => id))
      return await replaceKey(session, wanted)
    })
    adoptNewKey(wanted.masterKey.file)
    return signers
  })
}

function refuseLiving(nodes: readonly string[]): void {
  if (nodes.length === 0) return
  throw new StartRefusal('directory_in_use', `these nodes run: ${nodes.join(', ')}; stop them, and run this again`)
}

async function replaceKey(session: Session, { masterKey, ...wanted }: Wanted): Promise<Signers> {
  const { random } = wanted
  const tx = drizzleOver(session)
  const wrapped = await findRootKey(tx)
  if (!wrapped) throw new StartRefusal('key_missing', 'the database has no keys yet; start the service once')
  const rootKey = openRootKey(findWrapper(masterKey, wrapped, random), wrapped)
  const wrapper = createSealer(writeNewKey(masterKey.file, random), random)
  const { keyring, signers } = await turnKeys(tx, rootKey, { ...wanted, wrapper, looseEntries: looseEntries() })
  await replaceEpoch(session, keyring.epoch)
  return signers
}
