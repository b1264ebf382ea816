// Replaces the database with a backup. All work is done on a copy, which is checked again before it
// gets the name of the database. People erased since the backup are erased again first, so that no
// restore brings anybody back.
import { dirname } from 'node:path'
import { createAudit } from '../audit/append.ts'
import { readHead } from '../audit/browse.ts'
import { readErasures } from '../audit/erasures.ts'
import type { Random } from '../base/ids.ts'
import { createSealer, type Keyring, NO_RANDOM } from '../base/seal.ts'
import { isoUtc } from '../base/time.ts'
import { databaseFile, sizeOf } from '../db/database-file.ts'
import type { Db } from '../db/engine.ts'
import { backupsFolder, makeBackupsFolder } from '../db/files.ts'
import { StartRefusal } from '../db/refusal.ts'
import { copiedAt, isSound, readFile, refuseUnsound, rootKeyOf } from '../db/storage/copies.ts'
import { prepareCopy, preparedFile, replaceDatabase, whileRestoring } from '../db/storage/restore.ts'
import { createSessionKeys, refuseMissingKeys, type SessionKeys } from '../session-keys/keys.ts'
import { eraseAgain } from '../verifications/erasure/erase-again.ts'
import {
  type ErasureLog,
  erasureLogIn,
  installationOf,
  readErasureLog,
  writeErasureLog,
} from '../verifications/erasure/erasures.ts'
import { type BackupReport, checkBackup, type KeyPlaces } from './backup.ts'

export type Restoration = BackupReport & {
  erasedAgain: number
  /** Migrations that were applied to the copy. */
  upgraded: string[]
  /** Where the former database is kept. */
  replaced: string | undefined
}

/** Thrown when it is unknown who was erased since the backup was made. */
export class ErasuresUnknown extends Error {
  override name = 'ErasuresUnknown'
}

type RestoreOptions = {
  dir: string
  keys: KeyPlaces
  file: string
  now: number
  random: Random
  withoutErasures: boolean
  actor: string
}

export const restoreBackup = (wanted: RestoreOptions): Promise<Restoration> =>
  whileRestoring(wanted.dir, wanted.file, () => replaceBy(wanted))

async function replaceBy({ dir, keys, file, now, random, withoutErasures, actor }: RestoreOptions): Promise<Restoration> {
  refuseUnsound(file)
  const rootKey = rootKeyOf(file, keys.masterKey)
  const takenAt = copiedAt(file) ?? (await readFile(file, readHead))?.at ?? 0
  const erasures = await erasuresSince({ dir, keys, file, rootKey })
  if (erasures.since > takenAt && !withoutErasures) throw new ErasuresUnknown()
  const since = Math.min(erasures.since, now)
  const { erasedAgain, upgraded } = await prepare({ dir, keys, file, takenAt, rootKey, erasures, now, random, actor })
  const report = await checkBackup(preparedFile(dir), keys)
  writeErasureLog(erasureLogIn(makeBackupsFolder(dir)), { ...erasures, since })
  return { ...report, takenAt, erasedAgain, upgraded, replaced: replaceDatabase(dir) }
}

type Sources = Pick<RestoreOptions, 'dir' | 'keys' | 'file'> & { rootKey: Keyring }

/**
 * From the log here, the log beside the backup, and the audit chain that will be replaced: each may
 * have erasures that the others lack. The log of another installation does not say since when all
 * are known: a service that was started on a new machine before the restore has written one.
 */
async function erasuresSince({ dir, keys, file, rootKey }: Sources): Promise<ErasureLog> {
  const installation = installationOf(createAudit(createSealer(rootKey, NO_RANDOM), NO_RANDOM))
  const known = [
    readErasureLog(erasureLogIn(backupsFolder(dir))),
    readErasureLog(erasureLogIn(dirname(file))),
    await erasuresOnChain({ dir, keys, rootKey, installation }),
  ].filter(log => log !== undefined)
  const own = known.filter(log => log.installation === installation)
  return {
    since: Math.min(...own.map(({ since }) => since)),
    installation,
    subjects: new Map(known.flatMap(({ subjects }) => [...subjects])),
  }
}

/** The chain has every erasure, if it is of the same installation and can still be read. */
async function erasuresOnChain({
  dir,
  keys,
  rootKey,
  installation,
}: Omit<Sources, 'file'> & { installation: string }): Promise<ErasureLog | undefined> {
  if (sizeOf(databaseFile(dir)) === 0) return undefined
  try {
    if (!isSound(databaseFile(dir)) || !isSameInstallation(rootKeyOf(databaseFile(dir), keys.masterKey), rootKey))
      return undefined
    return { since: 0, installation, subjects: await readFile(databaseFile(dir), readErasures) }
  } catch {
    // The chain is damaged or of another key, which may be the reason for this restore.
    return undefined
  }
}

/** Two chains of one installation name their subjects alike. */
const isSameInstallation = (one: Keyring, other: Keyring): boolean => subjectKey(one).equals(subjectKey(other))

const subjectKey = (rootKey: Keyring): Buffer => createSealer(rootKey, NO_RANDOM).key('audit subject')

/** Wrapping keys are in no backup. Those of a backup that is older than the window are destroyed. */
async function refuseUnreadable(file: string, { keyDir }: KeyPlaces, sessionKeys: SessionKeys, db: Db): Promise<void> {
  try {
    await refuseMissingKeys(keyDir, sessionKeys, db)
  } catch (error) {
    if (!(error instanceof StartRefusal) || error.reason !== 'key_missing') throw error
    const wanted = `${file} needs a wrapping key that is not in ${keyDir}; put your safe copy of the wrapping keys there`
    throw new StartRefusal('key_missing', `${wanted} (a backup older than the key window cannot be read any more)`, error)
  }
}

type Preparation = Omit<RestoreOptions, 'withoutErasures'> & { takenAt: number; rootKey: Keyring; erasures: ErasureLog }

async function prepare({ dir, keys, file, takenAt, rootKey, erasures, now, random, actor }: Preparation) {
  const { result: erasedAgain, upgraded } = await prepareCopy({ dir, file, takenAt, now }, async copy => {
    const sealer = createSealer(rootKey, random)
    await refuseUnreadable(file, keys, createSessionKeys({ keyDir: keys.keyDir, sealer, random }), copy.db)
    const audit = createAudit(sealer, random)
    const erasedAgain = await eraseAgain({ ...copy, audit }, { subjects: erasures.subjects, actor, at: now })
    const details = { taken_at: isoUtc(takenAt), erased_again: erasedAgain }
    const record = { at: now, tenantId: '', actor, action: 'backup.restored' as const, subjectId: 'backup', details }
    await copy.write(tx => audit.append(tx, record))
    return erasedAgain
  })
  return { erasedAgain, upgraded }
}
