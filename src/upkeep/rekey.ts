// A new master key. Rows stay as they are: only the row keys are wrapped again; with `data` a new row key joins them, and the
// service seals all rows under it (seal-again.ts). What is found by keyed names gets new ones in the same transaction, but for
// search terms, which are as many as rows and are written again with them.
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { createAudit } from '../audit/append.ts'
import { checkpointSignerOf, signAgain } from '../audit/sign-head.ts'
import type { Random } from '../base/ids.ts'
import { beginEpoch, createSealer, type Keyring, type Sealer } from '../base/seal.ts'
import type { Db, LooseEntries } from '../db/engine.ts'
import { backupsFolder } from '../db/files.ts'
import { replaceRootKey, wrapRootKey } from '../db/root-key.ts'
import { replaceMasterKey } from '../db/storage/master-key.ts'
import type { Place } from '../db/storage/place.ts'
import type { Keys } from '../db/turn.ts'
import { layerRecoveryCodes } from '../people/factors/recovery-codes.ts'
import { createSessionKeys } from '../session-keys/keys.ts'
import { bundleSignerOf } from '../trust/bundle/form.ts'
import { layerReplays } from '../verifications/rekey/seal-again.ts'

type Turning = { data: boolean; keyDir: string; now: number; random: Random; actor: string }

/** Before and after: the fingerprint of the key that signs trust bundles, and the public key of audit checkpoints. */
export type Signers = Record<'bundle' | 'audit', { before: string; after: string }>

export type Rekeyed = { signers: Signers; oldBackups: string[] }

/** `oldBackups`: those in the data directory, that only the old key opens. */
export async function rekey(wanted: Place & Keys & Turning): Promise<Rekeyed> {
  const { signers } = await replaceMasterKey(wanted, (tx, before, wrapper, entries) =>
    turnKeys(tx, before, { ...wanted, wrapper, entries }),
  )
  return { signers, oldBackups: wanted.database ? [] : backupsIn(wanted.dataDir) }
}

type Wrapping = Turning & { wrapper: Sealer; entries?: LooseEntries }

/** Stores the keys, wrapped anew, and what depends on them, with the record of it. */
async function turnKeys(tx: Db, before: Keyring, wrapping: Wrapping): Promise<{ keyring: Keyring; signers: Signers }> {
  const { data, wrapper, keyDir, now, random, actor, entries } = wrapping
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
  const entry = await createAudit(sealer, random, entries).append(tx, record)
  if (data) {
    const seals = { now: () => now, sealer, sessionKeys: createSessionKeys({ keyDir, sealer, random }) }
    await layerRecoveryCodes(seals, tx)
    await layerReplays(seals, tx)
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

function backupsIn(dir: string): string[] {
  const folder = backupsFolder(dir)
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .filter(name => name.endsWith('.db'))
    .map(name => join(folder, name))
}
