// A backup is a whole database in one file, copied while others write, and checked before it gets its name. It contains
// everything but the master key, without which nothing sealed in it can be read.
import { rmSync } from 'node:fs'
import { createAudit } from '../audit/append.ts'
import { countRecords, isOnChain, readHead } from '../audit/browse.ts'
import type { Head } from '../audit/chain.ts'
import { verifyChain } from '../audit/verify.ts'
import type { Random } from '../base/ids.ts'
import { createSealer, NO_RANDOM } from '../base/seal.ts'
import { databaseFile, sizeOf } from '../db/database-file.ts'
import { damagedBackup } from '../db/file-refusal.ts'
import { publish } from '../db/files.ts'
import { holdPart } from '../db/part-file.ts'
import { StartRefusal } from '../db/refusal.ts'
import type { MasterKey } from '../db/root-key.ts'
import { copiedAt, readFile, refuseUnsound, rootKeyOf, writeSnapshot } from '../db/storage/copies.ts'
import { createSessionKeys, refuseMissingKeys } from '../session-keys/keys.ts'
import { countAll } from '../verifications/browse/figures.ts'

export type BackupReport = { takenAt: number; bytes: number; verifications: number; auditRecords: number; head: string }

export type KeyPlaces = { keyDir: string; masterKey: MasterKey }
export type Places = KeyPlaces & { dataDir: string }

/** Writes a part file and renames it once it is checked. */
export async function makeBackup(
  { dataDir: dir, ...keys }: Places,
  target: string,
  { takenAt, random, mayReplace }: { takenAt: number; random: Random; mayReplace: boolean },
): Promise<BackupReport> {
  const { part, release } = holdPart(target, random)
  try {
    const before = await readFile(databaseFile(dir), readHead)
    writeSnapshot(databaseFile(dir), part, takenAt)
    const report = await checkBackup(part, keys)
    await refuseOlder(part, before)
    publish(part, target, { mayReplace })
    return report
  } catch (error) {
    rmSync(part, { force: true })
    throw error instanceof StartRefusal && error.reason === 'database_damaged' ? unsound(dir, error) : error
  } finally {
    release()
  }
}

function unsound(dir: string, { cause }: StartRefusal): StartRefusal {
  const found = cause instanceof Error ? ` (${cause.message})` : ''
  return new StartRefusal(
    'database_damaged',
    `the copy of ${databaseFile(dir)} is not sound${found}, and was not kept; see "vidimus audit verify", or restore an older backup`,
    cause,
  )
}

/**
 * Checks every page, index and reference, the whole audit chain with its signatures, and that the
 * number of sessions is the one on the chain.
 */
export async function checkBackup(file: string, { keyDir, masterKey }: KeyPlaces): Promise<BackupReport> {
  refuseUnsound(file)
  const sealer = createSealer(rootKeyOf(file, masterKey), NO_RANDOM)
  return await readFile(file, async db => {
    const sessionKeys = createSessionKeys({ keyDir, sealer, random: NO_RANDOM })
    const { problem, count, head } = await verifyChain({ db, sealer, sessionKeys, audit: createAudit(sealer, NO_RANDOM) })
    if (problem) {
      // A record whose wrapping key is missing looks changed.
      await refuseMissingKeys(keyDir, sessionKeys, db)
      throw damagedBackup(file, new Error(`record ${problem.seq}: ${problem.problem}`))
    }
    const verifications = await countAll(db)
    const created = await countRecords(db, 'verification.created')
    const erased = await countRecords(db, 'verification.erased')
    if (created - erased !== verifications)
      throw damagedBackup(file, new Error(`${created} created, ${erased} erased, ${verifications} there`))
    return { takenAt: copiedAt(file) ?? 0, bytes: sizeOf(file), verifications, auditRecords: count, head }
  })
}

/** The copy must contain the head that the chain had when the copy began. */
async function refuseOlder(part: string, before: Head | undefined): Promise<void> {
  if (before && !(await readFile(part, db => isOnChain(db, before)))) throw damagedBackup(part)
}
