// A new master key. Rows stay as they are: only the row keys are wrapped again; with `data` a new row key joins them, and the
// service seals all rows under it (seal-again.ts). What is found by keyed names gets new ones in the same transaction, but for
// search terms, which are as many as rows and are written again with them. The new master key is written beside the old one, then the database takes it,
// then it replaces the old file. After a kill in between, the next opening continues from there (db/root-key.ts).
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { createAudit } from '../audit/append.ts'
import { checkpointSignerOf, signAgain } from '../audit/sign-head.ts'
import type { Db, LooseEntries } from '../db/engine.ts'
import { backupsFolder } from '../db/files.ts'
import {
  adoptNewKey,
  findWrapper,
  type MasterKey,
  openRootKey,
  replaceRootKey,
  wrapRootKey,
  writeNewKey,
} from '../db/root-key.ts'
import { withDatabaseAlone } from '../db/sqlite/alone.ts'
import { findRootKey } from '../db/sqlite/installation.ts'
import { countApplied } from '../db/sqlite/migrate.ts'
import { damaged } from '../db/sqlite/refusal.ts'
import { createStorage, openReader, openWriter } from '../db/sqlite/storage.ts'
import type { Random } from '../ids.ts'
import { layerRecoveryCodes } from '../people/recovery-codes.ts'
import { beginEpoch, createSealer, type Keyring, type Sealer } from '../seal.ts'
import { createSessionKeys } from '../session-keys/keys.ts'
import { bundleSignerOf } from '../trust/bundle-form.ts'
import { layerReplays } from '../verifications/seal-again.ts'

export type Wanted = { data: boolean; masterKey: MasterKey; keyDir: string; now: number; random: Random; actor: string }

/** Before and after: the fingerprint of the key that signs trust bundles, and the public key of audit checkpoints. */
export type Signers = Record<'bundle' | 'audit', { before: string; after: string }>

export type Rekeyed = { signers: Signers; oldBackups: string[] }

/** `oldBackups`: those that only the old key opens. */
export function rekey(dir: string, wanted: Wanted): Promise<Rekeyed> {
  return withDatabaseAlone(dir, async file => ({
    signers: await replaceKey(wanted, file),
    oldBackups: backupsIn(dir),
  }))
}

type Turning = Omit<Wanted, 'masterKey'> & { wrapper: Sealer; looseEntries?: LooseEntries }

/** Stores the keys, wrapped anew, and what depends on them, with the record of it. */
export async function turnKeys(tx: Db, before: Keyring, turning: Turning): Promise<{ keyring: Keyring; signers: Signers }> {
  const { data, wrapper, keyDir, now, random, actor, looseEntries } = turning
  const keyring = data ? beginEpoch(before, random) : before
  const [old, sealer] = [createSealer(before, random), createSealer(keyring, random)]
  const record = {
    at: now,
    tenantId: '',
    actor,
    action: 'master_key.replaced' as const,
    subjectId: 'master key',
    details: { data },
  }
  const entry = await createAudit(sealer, random, looseEntries).append(tx, record)
  if (data) {
    await layerRecoveryCodes({ sealer }, tx)
    await layerReplays({ sealer, sessionKeys: createSessionKeys({ keyDir, sealer, random }), now: () => now }, tx)
    await signAgain(tx, old, sealer)
  }
  await replaceRootKey(tx, wrapRootKey(wrapper, data ? { ...keyring, begun: [...keyring.begun, entry] } : keyring))
  return { keyring, signers: signersOf(old, sealer) }
}

const signersOf = (before: Sealer, after: Sealer): Signers => {
  const bundleSigner = (sealer: Sealer) => bundleSignerOf(sealer.key('trust bundle'))
  return {
    bundle: { before: bundleSigner(before), after: bundleSigner(after) },
    audit: { before: checkpointSignerOf(before), after: checkpointSignerOf(after) },
  }
}

async function replaceKey({ masterKey, ...wanted }: Wanted, file: string): Promise<Signers> {
  const { random } = wanted
  const reader = openReader(file)
  countApplied(reader)
  const wrapped = findRootKey(reader)
  if (!wrapped) throw damaged(file)
  const rootKey = openRootKey(findWrapper(masterKey, wrapped, random), wrapped)
  const storage = createStorage(openWriter(file), reader)
  try {
    const wrapper = createSealer(writeNewKey(masterKey.file, random), random)
    const { signers } = await storage.write(tx => turnKeys(tx, rootKey, { ...wanted, wrapper }))
    // The log still has the value that is wrapped with the old key.
    await storage.forgetDeleted()
    adoptNewKey(masterKey.file)
    return signers
  } finally {
    await storage.close()
  }
}

function backupsIn(dir: string): string[] {
  const folder = backupsFolder(dir)
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .filter(name => name.endsWith('.db'))
    .map(name => join(folder, name))
}
