// A new master key. Rows stay as they are: only the row keys are wrapped again; with `data` a new row key joins them, and the
// service seals all rows under it (seal-again.ts). The new master key is written beside the old one, then the database takes it,
// then it replaces the old file. After a kill in between, the next opening continues from there (db/root-key.ts).
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { createAudit } from '../audit/append.ts'
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
import { beginEpoch, createSealer } from '../seal.ts'

type Wanted = { dir: string; data: boolean; masterKey: MasterKey; now: number; random: Random; actor: string }

/** Returns the backups that only the old key opens. */
export function rekey(wanted: Wanted): Promise<string[]> {
  return withDatabaseAlone(wanted.dir, async file => {
    await replaceKey(wanted, file)
    return backupsIn(wanted.dir)
  })
}

async function replaceKey({ data, masterKey, now, random, actor }: Wanted, file: string): Promise<void> {
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
      await audit.append(tx, { at: now, tenantId: '', actor, action: 'master_key.replaced', subjectId: 'master key', details })
    })
    // The log still has the value that is wrapped with the old key.
    await storage.forgetDeleted()
    adoptNewKey(keyFile)
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
