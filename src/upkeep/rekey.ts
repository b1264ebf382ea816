// A new master key. Rows stay as they are: only the row keys are wrapped again; with `data` a new row key joins them, and the
// service seals all rows under it (seal-again.ts). The new master key is written beside the old one, then the database takes it,
// then it replaces the old file. After a kill in between, the next opening continues from there (db/root-key.ts).
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { createAudit } from '../audit/append.ts'
import type { Db } from '../db/engine.ts'
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
import { beginEpoch, createSealer, type Keyring } from '../seal.ts'
import { bundleSignerOf } from '../trust/bundle-form.ts'

type Wanted = { dir: string; data: boolean; masterKey: MasterKey; now: number; random: Random; actor: string }

/** Fingerprints of the key that trust bundles are signed with. */
export type BundleSigners = { before: string; after: string }

export type Rekeyed = { bundleSigners: BundleSigners; oldBackups: string[] }

/** `oldBackups`: those that only the old key opens. */
export function rekey(wanted: Wanted): Promise<Rekeyed> {
  return withDatabaseAlone(wanted.dir, async file => ({
    bundleSigners: await replaceKey(wanted, file),
    oldBackups: backupsIn(wanted.dir),
  }))
}

/** What depends on a layered key, in the transaction that stores the new keys. */
export const layerAgain = (tx: Db, keyring: Keyring, random: Random): Promise<void> =>
  layerRecoveryCodes({ sealer: createSealer(keyring, random) }, tx)

export const bundleSignersOf = (before: Keyring, after: Keyring, random: Random): BundleSigners => {
  const signerOf = (keyring: Keyring) => bundleSignerOf(createSealer(keyring, random).key('trust bundle'))
  return { before: signerOf(before), after: signerOf(after) }
}

async function replaceKey({ data, masterKey, now, random, actor }: Wanted, file: string): Promise<BundleSigners> {
  const keyFile = masterKey.file
  const reader = openReader(file)
  countApplied(reader)
  const wrapped = findRootKey(reader)
  if (!wrapped) throw damaged(file)
  const rootKey = openRootKey(findWrapper(masterKey, wrapped, random), wrapped)
  const audit = createAudit(createSealer(rootKey, random), random)
  const storage = createStorage(openWriter(file), reader)
  try {
    const keyring = data ? beginEpoch(rootKey, random) : rootKey
    const wrappedAnew = wrapRootKey(createSealer(writeNewKey(keyFile, random), random), keyring)
    const details = { data }
    await storage.write(async tx => {
      await replaceRootKey(tx, wrappedAnew)
      if (data) await layerAgain(tx, keyring, random)
      await audit.append(tx, { at: now, tenantId: '', actor, action: 'master_key.replaced', subjectId: 'master key', details })
    })
    // The log still has the value that is wrapped with the old key.
    await storage.forgetDeleted()
    adoptNewKey(keyFile)
    return bundleSignersOf(rootKey, keyring, random)
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
