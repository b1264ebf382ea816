// A new master key for a PostgreSQL installation, as rekey.ts makes one for a database file. No node may run: it would seal
// rows under the old row key. A node that starts meanwhile waits for the lock, or finds at its first beat that
// it has the keys of before. One that stood still, and was taken for dead, can write nothing any more (db/postgres/key-epoch.ts).
import { createAudit } from '../audit/append.ts'
import type { DatabaseSettings } from '../db/postgres/address.ts'
import { createAuditIds } from '../db/postgres/audit-ids.ts'
import { holdKeys, replaceEpoch } from '../db/postgres/key-epoch.ts'
import { awaitBeats, keepNodesOut, listLiving } from '../db/postgres/nodes.ts'
import { inTransaction, withSession } from '../db/postgres/open.ts'
import { drizzleOver } from '../db/postgres/pool.ts'
import type { Session } from '../db/postgres/session.ts'
import { StartRefusal } from '../db/refusal.ts'
import {
  adoptNewKey,
  findRootKey,
  findWrapper,
  type MasterKey,
  openRootKey,
  replaceRootKey,
  wrapRootKey,
  writeNewKey,
} from '../db/root-key.ts'
import type { Random } from '../ids.ts'
import { beginEpoch, createSealer } from '../seal.ts'
import { type BundleSigners, bundleSignersOf, layerAgain } from './rekey.ts'

type Wanted = { data: boolean; masterKey: MasterKey; now: number; random: Random; actor: string }

export function rekeyPostgres(settings: DatabaseSettings, wanted: Wanted): Promise<BundleSigners> {
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

async function replaceKey(session: Session, { data, masterKey, now, random, actor }: Wanted): Promise<BundleSigners> {
  const tx = drizzleOver(session)
  const wrapped = await findRootKey(tx)
  if (!wrapped) throw new StartRefusal('key_missing', 'the database has no keys yet; start the service once')
  const rootKey = openRootKey(findWrapper(masterKey, wrapped, random), wrapped)
  const audit = createAudit(createSealer(rootKey, random), random, createAuditIds())
  const keyring = data ? beginEpoch(rootKey, random) : rootKey
  await replaceRootKey(tx, wrapRootKey(createSealer(writeNewKey(masterKey.file, random), random), keyring))
  await replaceEpoch(session, keyring.epoch)
  if (data) await layerAgain(tx, keyring, random)
  const details = { data }
  await audit.append(tx, { at: now, tenantId: '', actor, action: 'master_key.replaced', subjectId: 'master key', details })
  return bundleSignersOf(rootKey, keyring, random)
}
